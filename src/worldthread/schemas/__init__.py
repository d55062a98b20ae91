"""What servers exchange with their clients: arguments and results, for MCP tools and the HTTP API."""

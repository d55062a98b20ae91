"""What servers exchange with their clients: arguments and results as pydantic models, for MCP tools and the HTTP API."""

"""The tools with which MCP clients play a game."""

"""The MCP server that answers people's own coding agents."""

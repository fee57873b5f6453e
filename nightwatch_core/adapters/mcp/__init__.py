"""The MCP server of people's coding agents: its answers come from `learnings/`."""

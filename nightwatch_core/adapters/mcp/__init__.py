"""The MCP server that answers people's own coding agents.

What it answers belongs to `learnings/`; no other module imports the SDK.
"""

"""Learnings for people and their coding agents: compound, promote, search.

Lessons themselves are in `memory`; the commands and the MCP server are in `flows` and `adapters`.
"""

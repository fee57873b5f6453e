"""Learnings for people and their coding agents: compound, promote, search.

What a night learns by itself is in `memory`; who asks (terminal, MCP) is in `flows` and `adapters`.
"""

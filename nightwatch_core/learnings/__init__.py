"""What people and their coding agents call: compound, promote, answers from the memory.

What a night learns by itself is in `memory`; who asks (terminal, MCP) is in `flows` and `adapters`.
"""

"""`<future-agent-notes>`: read from any text, written, drawn from lessons, searched by an intent.

Who is told of them belongs to `analysis` and `learnings`.
"""

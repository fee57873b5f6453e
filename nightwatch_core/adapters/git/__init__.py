"""Git repositories on this machine: read commit by commit, and given branches of one commit.

Nothing here talks to another machine; what only one service needs lives in that service's room.
"""

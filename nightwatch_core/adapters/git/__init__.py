"""Git repositories on this machine: read commit by commit, and given branches."""

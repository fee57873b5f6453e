"""GitLab: the project's code in a clone, and our issues and merge requests there.

What is true of every code host is in `adapters/hosts/`.
"""

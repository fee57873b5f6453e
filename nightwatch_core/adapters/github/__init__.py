"""GitHub: the repository's code, cloned or through the API, and our issues and pull requests there.

What is true of every repository, or of every tracker, does not belong here.
"""

"""Plan issues, comments and draft pull requests, and the reasons for those that are skipped.

Two plans, because a pull request refers to its issue's number: first issues, then pull requests.
"""

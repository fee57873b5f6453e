"""What can be said of files of errors in seconds, before any night.

No Prefect, no model, nothing kept: how a night analyses is not here.
"""

"""A first look at error files: seconds, before any night.

No Prefect, no model, nothing kept: how a night analyses is not here.
"""

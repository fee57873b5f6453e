"""Runs a fix before anybody is asked to read it: on the base first, then with the fix.

What confines the programs is the port `Sandbox`; which drafts there are is decided in `publish/`.
"""

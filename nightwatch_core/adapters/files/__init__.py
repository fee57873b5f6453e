"""Errors read from files: exports of error trackers, JSON logs, plain logs, in any layout.

What stack traces say is read in the room traces; which error is which, in intake.
"""

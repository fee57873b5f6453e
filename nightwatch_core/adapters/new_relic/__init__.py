"""Errors of one application in New Relic: NRQL, NerdGraph, the Errors Inbox.

Nothing of its vocabulary leaves this folder; what an error group is belongs to `intake/`.
"""

"""Delivery without a service: issues and drafts on this machine, its clock, a dry run's outbox.

What other rooms of adapters keep on disk is in stores; what speaks to git is in git.
"""

"""Batch triage: many errors sorted cheaply, without reading code: those to analyse, and the rest.

Not here: how a service takes batches, and what the team said of an error (`models/errors.py`).
"""

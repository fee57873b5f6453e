"""First sight: many errors sorted cheaply, without reading code: those to analyse, and the rest.

Here: the question, its answer, what is asked again, what a batch may cost, what came of each error.
Not here: how a service takes batches, and what the team said of an error (`models/triage.py`).
"""

"""Before an analysis: which window is read, and errors counted, grouped, ignored, ranked, selected.

How one source is asked belongs to its adapter, stack traces to `traces/`.
"""

"""Mask secrets and personal data, and withhold secret files.

`scrubber` is the one scrubber, made of the rules beside it; `values` takes it through our values.
"""

"""Mask secrets and personal data, and withhold secret files.

`scrubber` is the one scrubber, made of `rules`; `redaction` takes it through ports and values.
"""

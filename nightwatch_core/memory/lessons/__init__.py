"""Lessons: made from analyses, written as documents, merged, kept up to date, put away.

Whether one may be used again is `reuse`; where documents lie is the stores'.
"""

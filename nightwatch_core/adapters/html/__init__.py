"""The report as an HTML page: templates and style as files, and what fills them in.

What is said, and in which order, is decided in `nightwatch_core.report`.
"""

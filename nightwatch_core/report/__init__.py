"""The report: one view of a night, built up from its results, and its terminal and Markdown.

Other renderings (HTML, Slack) stand with their adapters; the wording of issues stands in `publish`.
"""

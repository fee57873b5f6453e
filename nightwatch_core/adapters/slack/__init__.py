"""The team's Slack channel: Block Kit messages of a report, its limits, and posting each once.

What a night has to tell belongs to `report/`.
"""

"""The report: one view of a night, rendered for terminal, Markdown and HTML."""

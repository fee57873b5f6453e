"""The report as an HTML page: templates, style, and what fills them in."""

"""Text as it comes and as it goes out: words, names, templates, escaping, front matter, units.

Anything that decides about an error stands in the room that decides.
"""

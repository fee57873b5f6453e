"""Memory: lessons, recall, outcomes of proposals, notes.

From below: `limits` and `occurrences`; `recall`, `rates` and `outcomes`; `note_reader`,
`lesson_text` and `researcher`; `prior_analyses`; `lessons`. Files and databases belong to adapters;
what several lessons have in common belongs to `patterns`.
"""

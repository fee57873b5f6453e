"""Memory: lessons, recall, outcomes of proposals, notes.

From below: `limits` and `nights`; `recall` and `outcomes`; `notes`; `lessons`; `reuse`;
`prior_analyses`. Files and databases are adapters'; what several lessons have in common is
`patterns`.
"""

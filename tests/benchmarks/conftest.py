"""Programs that `run.py` starts by their path are no tests."""

collect_ignore = [
    *("adapters.py", "batches.py", "first_messages.py", "ignores.py"),
    "recall_learning.py",
]

"""Programs that `run.py` starts beside their neighbours in this folder are no tests."""

collect_ignore = [
    *("adapters.py", "batches.py", "first_messages.py", "ignores.py"),
    *("lesson_store.py", "recall.py", "recall_learning.py"),
]

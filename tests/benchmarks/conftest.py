"""Programs that run beside their neighbours in this folder, as `run.py` starts them, are no tests."""

collect_ignore = ["adapters.py", "recall.py", "recall_learning.py"]

"""A night's journal, and what is read from it: resumed turns, transcripts, requests, replays.

Not in here: where journals are stored (`adapters/stores/journal_files.py`), and which ports are
recorded (`tasks/wiring/journals.py`).
"""

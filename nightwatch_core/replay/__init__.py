"""A night as a bundle: what it was told and what it decided, to be run again and compared.

Not in here: where bundles lie and how they are packed (`adapters/stores/bundle_files.py`), and
which ports are listened to (`tasks/wiring/recording.py`).
"""

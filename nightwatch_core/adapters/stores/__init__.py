"""Stores on disk: state database, ledger, nights, knowledge, transcripts.

Exports of errors that people bring are read in files; what git keeps is read in git.
"""

"""Stores on disk: state database, ledger, nights, knowledge, transcripts."""

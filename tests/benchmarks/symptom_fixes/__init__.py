"""Pairs of versions of a file: symptom fixes, fixes, and guards that are right."""

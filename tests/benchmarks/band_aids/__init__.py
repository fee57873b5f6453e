"""Pairs of versions of a file: band-aids, fixes, and guards that are right."""

"""The bounds of this room, each with its unit."""

TRACED = 60  # groups whose newest trace is placed
RELEASES = 8  # that are looked up
SHOWN_ERRORS, SHOWN_REJECTS, SHOWN_GAPS = 10, 5, 8  # lines
ERROR, WHERE, REASON = 90, 90, 200  # characters

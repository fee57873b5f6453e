"""The sample night: an application's history and a day of its errors, as they were captured.

Nothing of the sample is known outside this room; a night reads it as it reads anything else.
"""

from importlib.resources import files

APPLICATION = "larder"
STREAM = "larder.fast-import"
ERRORS = "errors.jsonl"


def stream() -> bytes:
    """Return the application's history, as `git fast-import` reads it."""
    return (files(__name__) / STREAM).read_bytes()


def errors() -> bytes:
    """Return the errors of a day, one JSON object per line."""
    return (files(__name__) / ERRORS).read_bytes()

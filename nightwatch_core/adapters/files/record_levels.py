"""Levels of records: which say that a record is no error."""

from nightwatch_core.adapters.files.record_values import number_of

# A record without class and trace that says one of these is no error, and no broken record.
QUIET_LEVELS = frozenset(
    ("trace", "debug", "info", "information", "informational", "notice", "verbose", "warn",
     "warning", "ok", "unset", "unspecified")
)  # fmt: skip
QUIET_SEVERITY_NUMBERS = range(1, 17)  # of OpenTelemetry; pino and bunyan count from 10 to 60
QUIET_PINO_NUMBERS = range(20, 50, 10)


def is_quiet(level: object) -> bool:
    """Tell whether a level is below an error's, as a word or as a number.

    >>> is_quiet("WARN"), is_quiet(9), is_quiet("50"), is_quiet("fatal"), is_quiet(None)
    (True, True, False, False, False)
    """
    if isinstance(level, str) and not level.isdigit():
        return level.strip().lower() in QUIET_LEVELS
    number = number_of(level)
    return number in QUIET_SEVERITY_NUMBERS or number in QUIET_PINO_NUMBERS

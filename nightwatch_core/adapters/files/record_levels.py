"""Levels of records: which say that nothing failed, and which say that something did."""

from nightwatch_core.adapters.files.record_values import number_of

# A record without class and trace that says one of these is no error, and no broken record.
QUIET_LEVELS = frozenset(
    ("trace", "debug", "info", "information", "informational", "notice", "verbose", "warn",
     "warning", "ok", "unset", "unspecified")
)  # fmt: skip
LOUD_LEVELS = frozenset(
    ("error", "err", "eror", "critical", "crit", "fatal", "alert", "emergency", "emerg", "panic",
     "dpanic", "severe", "exception")
)  # fmt: skip
QUIET_SEVERITY_NUMBERS = range(1, 17)  # of OpenTelemetry; pino and bunyan count from 10 to 60
LOUD_SEVERITY_NUMBERS = range(17, 25)
QUIET_PINO_NUMBERS = range(20, 50, 10)
LOUD_PINO_NUMBERS = (50, 60)


def is_quiet(level: object) -> bool:
    """Whether a level says that nothing failed.

    >>> is_quiet("INFO"), is_quiet(30), is_quiet("error"), is_quiet(None)
    (True, True, False, False)
    """
    if isinstance(level, str) and not level.isdigit():
        return level.strip().lower() in QUIET_LEVELS
    number = number_of(level)
    return number in QUIET_SEVERITY_NUMBERS or number in QUIET_PINO_NUMBERS


def is_loud(level: object) -> bool:
    """Whether a level says that something failed.

    >>> is_loud("ERROR"), is_loud(50), is_loud("DEFAULT"), is_loud(None)
    (True, True, False, False)
    """
    if isinstance(level, str) and not level.isdigit():
        return level.strip().lower() in LOUD_LEVELS
    number = number_of(level)
    return number in LOUD_SEVERITY_NUMBERS or number in LOUD_PINO_NUMBERS


def is_answered(status: object) -> bool:
    """Whether the status of an answer says that the server did not fail.

    >>> is_answered(200), is_answered("404"), is_answered(500), is_answered(1), is_answered(None)
    (True, True, False, False, False)
    """
    number = number_of(status)
    return number is not None and 100 <= number < 500

"""What deserves tonight's attention: one score per error group, from four terms of 0 to 1.

`RecordNotFound` weighs as much as a `NoMethodError` on purpose: where it reaches production
unhandled, a person saw an error page.
"""

import re
from collections.abc import Callable
from datetime import datetime

from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.text.error_classes import ClassTable

WEIGHTS: dict[str, float] = {
    "occurrences": 0.4,
    "severity": 0.3,
    "recency": 0.2,
    "user-facing": 0.1,
}
MANY_OCCURRENCES = 100
UNKNOWN_SEVERITY = UNKNOWN_RECENCY = 0.5
SEVERITIES: dict[float, tuple[str, ...]] = {  # Ruby, Python, JavaScript; Java, C#; Go, PHP
    1.0: (
        *("SystemStackError", "NoMemoryError", "SecurityError", "SignalException", "Interrupt"),
        *("RecursionError", "MemoryError", "KeyboardInterrupt"),
        *("StackOverflowError", "OutOfMemoryError", "VirtualMachineError"),
        *("StackOverflowException", "OutOfMemoryException", "AccessViolationException"),
        *("SecurityException", "InsufficientExecutionStackException"),
    ),
    0.7: (
        *("NoMethodError", "NameError", "TypeError", "RecordNotFound", "StatementInvalid"),
        *("ActiveRecord::RecordNotFound", "ActiveRecord::StatementInvalid"),
        *("AttributeError", "UnboundLocalError", "ObjectDoesNotExist", "DoesNotExist"),
        *("ReferenceError", "NullPointerException", "NullReferenceException"),
        *("ClassCastException", "NoSuchMethodError", "NoSuchMethodException"),
        *("MissingMethodException", "InvalidCastException", "EntityNotFoundException"),
        *("SQLException", "SqlException"),
        *("runtime error", "PDOException", "QueryException", "ModelNotFoundException"),
    ),
    0.5: (
        *("ArgumentError", "KeyError", "RuntimeError", "StandardError"),
        *("ValueError", "IndexError", "RangeError", "RuntimeException"),
        *("IllegalArgumentException", "ArgumentException", "InvalidArgumentException"),
        *("KeyNotFoundException",),
    ),
    0.3: (
        *("NotAuthorizedError", "NotAuthorized", "Unauthorized", "UnauthorizedError"),
        *("AccessDenied", "AccessDeniedError", "AccessDeniedException", "ForbiddenError"),
        *("RoutingError", "ActionNotFound"),
        *("PermissionDenied", "NotAuthenticated", "AuthenticationFailed", "Http404"),
        *("UnauthorizedException", "ForbiddenException", "NotFoundHttpException"),
        *("AuthorizationException", "AuthenticationException", "MethodNotAllowedHttpException"),
        *("UnauthorizedAccessException", "NoHandlerFoundException", "NoResourceFoundException"),
    ),
}
NAMESPACE_SEVERITIES: dict[float, tuple[str, ...]] = {
    0.7: ("django.db.utils", "sqlalchemy.exc", "psycopg2", "psycopg", "java.sql", "runtime"),
    0.3: ("Pundit", "CanCan", "ActionPolicy", "Illuminate\\Auth", "werkzeug.routing"),
}


def _by_name(table: dict[float, tuple[str, ...]]) -> dict[str, float]:
    return {name: value for value, names in table.items() for name in names}


_TABLE = ClassTable(_by_name(SEVERITIES), _by_name(NAMESPACE_SEVERITIES))

ELSE_FACING = 0.6
_LONGEST = 500
_WORD = r"(?:^|[^a-z]|(?<=[a-z])(?=[A-Z]))(?i:{})(?:$|[^a-zA-Z]|(?<=[a-z])(?=[A-Z]))"
_VERB = r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)"
_ACTIONS = "index|show|new|create|edit|update|destroy"


def _pattern(expression: str) -> Callable[[str], object]:
    return re.compile(expression).search


def _word(names: str) -> Callable[[str], object]:
    return _pattern(_WORD.format(f"(?:{names})"))


FACING: tuple[tuple[str, float, Callable[[str], object]], ...] = (
    ("web transaction", 1.0, _pattern(r"^(?:Controller|WebTransaction)/")),
    ("request", 1.0, _pattern(rf"^(?:{_VERB}\s+\S|/|https?://)")),
    ("controller", 1.0, _word("controllers?")),
    ("mail", 0.5, _word("mailers?|notifiers?")),
    ("action", 1.0, _pattern(rf"^[a-z0-9_/]+[/#](?:{_ACTIONS})$")),
    ("job", 0.3, _word("jobs?|workers?|sidekiq|celery|resque|tasks?|rake|cron|consumers?|queues?")),
    ("api or view", 1.0, _word("api|apis|views?|endpoints?|routes?|routers?|graphql|resolvers?")),
)


def score(group: ErrorGroup, window: Window) -> float:
    """Weigh a group's terms, 0 to 1."""
    return round(sum(WEIGHTS[name] * value for name, value in terms(group, window).items()), 6)


def terms(group: ErrorGroup, window: Window) -> dict[str, float]:
    """Rate a group against the window that was looked at; a regression is always severe."""
    is_regression = group.triage.state == "regressed"
    return {
        "occurrences": frequency(group.occurrences),
        "severity": 1.0 if is_regression else severity(group.error_class),
        "recency": recency(group.last_seen, window),
        "user-facing": user_facing(group.transaction),
    }


def frequency(occurrences: int) -> float:
    """How often, 0 to 1: a hundred times is as bad as it gets.

    >>> frequency(25), frequency(5_000), frequency(-1)
    (0.25, 1.0, 0.0)
    """
    return max(0.0, min(occurrences / MANY_OCCURRENCES, 1.0))


def recency(last_seen: datetime | None, window: Window) -> float:
    """How lately: falls from 1 at the window's end to 0 at its start; 0.5 where unknown."""
    if last_seen is None or last_seen.tzinfo is None:
        return UNKNOWN_RECENCY
    length = (window.until - window.since).total_seconds()
    if length <= 0:
        return 1.0
    age = (window.until - last_seen).total_seconds()
    return max(0.0, min(1.0 - age / length, 1.0))


def severity(error_class: str) -> float:
    """How bad errors of this class are, 0.3 to 1.0; 0.5 for a class nobody listed.

    >>> severity("NoMethodError"), severity("Pundit::NotAuthorizedError"), severity("Acme::Oops")
    (0.7, 0.3, 0.5)
    >>> severity("java.lang.OutOfMemoryError"), severity("UsernameError")
    (1.0, 0.5)
    """
    listed = _TABLE.find(error_class)
    return UNKNOWN_SEVERITY if listed is None else listed


def user_facing(transaction: str) -> float:
    """How near a transaction is to a person: the first row of FACING that matches, else 0.6.

    >>> [user_facing(t) for t in ("Controller/jobs/show", "orders/show", "GET /api/orders")]
    [1.0, 1.0, 1.0]
    >>> [user_facing(t) for t in ("OtherTransaction/Sidekiq/ImportJob/perform", "OrderMailer", "")]
    [0.3, 0.5, 0.6]
    """
    text = transaction.strip()[:_LONGEST]
    return next((value for _, value, matches in FACING if matches(text)), ELSE_FACING)

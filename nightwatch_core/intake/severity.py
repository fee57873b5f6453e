"""How bad an error class is, and how near a transaction is to a person: two figures, 0 to 1.

Both are data. `RecordNotFound` weighs as much as a `NoMethodError` on purpose: where it reaches
production unhandled, a person saw an error page.
"""

import re
from collections.abc import Callable

from nightwatch_core.text.error_classes import ClassTable

UNKNOWN = 0.5

SEVERITIES: dict[float, tuple[str, ...]] = {
    1.0: (
        # Ruby
        *("SystemStackError", "NoMemoryError", "SecurityError", "SignalException", "Interrupt"),
        # Python
        *("RecursionError", "MemoryError", "KeyboardInterrupt"),
        # Java, C#
        *("StackOverflowError", "OutOfMemoryError", "VirtualMachineError"),
        *("StackOverflowException", "OutOfMemoryException", "AccessViolationException"),
        *("SecurityException", "InsufficientExecutionStackException"),
    ),
    0.7: (
        # Ruby
        *("NoMethodError", "NameError", "TypeError"),
        *("ActiveRecord::RecordNotFound", "ActiveRecord::StatementInvalid"),
        *("RecordNotFound", "StatementInvalid"),  # where a source drops the namespace
        # Python
        *("AttributeError", "UnboundLocalError", "ObjectDoesNotExist", "DoesNotExist"),
        # JavaScript
        *("ReferenceError",),
        # Java, C#
        *("NullPointerException", "ClassCastException", "NullReferenceException"),
        *("NoSuchMethodError", "NoSuchMethodException", "MissingMethodException"),
        *("InvalidCastException", "EntityNotFoundException", "SQLException", "SqlException"),
        # Go, PHP
        *("runtime error", "PDOException", "QueryException", "ModelNotFoundException"),
    ),
    0.5: (
        # Ruby
        *("ArgumentError", "KeyError", "RuntimeError", "StandardError"),
        # Python, JavaScript
        *("ValueError", "IndexError", "RangeError"),
        # Java, C#, PHP
        *("RuntimeException", "IllegalArgumentException", "ArgumentException"),
        *("InvalidArgumentException", "KeyNotFoundException"),
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


def severity(error_class: str) -> float:
    """How bad errors of this class are, 0.3 to 1.0; 0.5 for a class nobody listed.

    >>> severity("NoMethodError"), severity("Pundit::NotAuthorizedError"), severity("Acme::Oops")
    (0.7, 0.3, 0.5)
    >>> severity("java.lang.OutOfMemoryError"), severity("UsernameError")
    (1.0, 0.5)
    """
    found = _TABLE.find(error_class)
    return UNKNOWN if found is None else found


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


def user_facing(transaction: str) -> float:
    """How near a transaction is to a person: the first row of FACING that matches, else 0.6.

    >>> [user_facing(t) for t in ("Controller/jobs/show", "orders/show", "GET /api/orders")]
    [1.0, 1.0, 1.0]
    >>> [user_facing(t) for t in ("OtherTransaction/Sidekiq/ImportJob/perform", "OrderMailer", "")]
    [0.3, 0.5, 0.6]
    """
    text = transaction.strip()[:_LONGEST]
    return next((value for _, value, matches in FACING if matches(text)), ELSE_FACING)

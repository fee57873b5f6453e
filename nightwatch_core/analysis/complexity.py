"""How much work an error class asks for: the tier, its ceiling of model turns, its effort."""

from collections.abc import Iterable
from typing import Literal

from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.error import Case
from nightwatch_core.text.error_classes import ClassTable

Tier = Literal["simple", "auth", "database", "complex", "other"]

ITERATIONS: dict[Tier, int] = {"auth": 5, "simple": 7, "database": 10, "complex": 15, "other": 10}
EFFORTS: dict[Tier, Effort] = {
    "simple": "low",
    "auth": "medium",
    "database": "medium",
    "other": "medium",
    "complex": "high",
}

TIERS: dict[Tier, tuple[str, ...]] = {
    "simple": (
        # Ruby
        *("NoMethodError", "NameError", "ArgumentError", "TypeError", "KeyError"),
        *("FrozenError", "ZeroDivisionError", "FloatDomainError", "ParameterMissing"),
        # Python
        *("AttributeError", "UnboundLocalError", "ValueError", "IndexError", "AssertionError"),
        *("UnicodeDecodeError", "UnicodeEncodeError", "JSONDecodeError", "ValidationError"),
        # JavaScript
        *("ReferenceError", "RangeError", "SyntaxError"),
        # Java, C#
        *("NullPointerException", "NullReferenceException", "ClassCastException"),
        *("InvalidCastException", "IllegalArgumentException", "ArgumentException"),
        *("ArgumentNullException", "IndexOutOfBoundsException", "IndexOutOfRangeException"),
        *("KeyNotFoundException", "NoSuchElementException", "NumberFormatException"),
        *("FormatException", "ArithmeticException", "DivideByZeroException"),
        # Go, PHP
        *("runtime error", "InvalidArgumentException", "ErrorException", "DivisionByZeroError"),
    ),
    "auth": (
        *("NotAuthorizedError", "NotAuthorized", "Unauthorized", "UnauthorizedError"),
        *("AccessDenied", "AccessDeniedError", "AccessDeniedException", "ForbiddenError"),
        *("PermissionDenied", "NotAuthenticated", "AuthenticationFailed", "AuthenticationError"),
        *("AuthorizationError", "InvalidAuthenticityToken", "InvalidToken", "JWTError"),
        *("UnauthorizedException", "ForbiddenException", "AuthenticationException"),
        *("AuthorizationException", "UnauthorizedAccessException", "TokenMismatchException"),
    ),
    "database": (
        *("RecordNotFound", "RecordInvalid", "RecordNotUnique", "StatementInvalid"),
        *("Deadlocked", "DeadlockError", "DeadlockException", "LockWaitTimeout"),
        *("IntegrityError", "OperationalError", "ProgrammingError", "DatabaseError", "DataError"),
        *("ObjectDoesNotExist", "DoesNotExist", "SQLException", "SqlException", "PDOException"),
        *("QueryException", "ModelNotFoundException", "EntityNotFoundException"),
        *("DeadlockLoserDataAccessException", "DataIntegrityViolationException"),
        *("SequelizeDatabaseError", "PrismaClientKnownRequestError", "DbUpdateException"),
    ),
    "complex": (
        # stack and memory
        *("SystemStackError", "NoMemoryError", "RecursionError", "MemoryError"),
        *("StackOverflowError", "OutOfMemoryError"),
        *("StackOverflowException", "OutOfMemoryException"),
        # time
        *("Timeout::Error", "TimeoutError", "TimeoutException", "ReadTimeout", "OpenTimeout"),
        *("WriteTimeout", "ConnectTimeout", "RequestTimeout", "SocketTimeoutException"),
        *("DeadlineExceeded", "ETIMEDOUT", "TaskCanceledException", "CancelledError"),
        # connections
        *("ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "ConnectException"),
        *("ConnectionException", "ConnectionNotEstablished", "ConnectionFailed"),
        *("ConnectionTimeoutError", "SocketException", "SocketError", "BrokenPipeError"),
        *("ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ENOTFOUND", "EAI_AGAIN"),
        *("OpError", "HttpRequestException", "UnknownHostException", "SSLError"),
        # several at once
        *("ConcurrentModificationException", "ThreadError", "BrokenExecutor", "WorkerLostError"),
    ),
}
NAMESPACE_TIERS: dict[Tier, tuple[str, ...]] = {
    "simple": ("runtime",),  # Go's nil pointers and bounds
    "auth": ("Pundit", "CanCan", "ActionPolicy", "JWT", "Devise", "Illuminate\\Auth"),
    "database": (
        *("ActiveRecord", "PG", "Mysql2", "SQLite3", "Sequel", "Mongoid"),
        *("django.db", "sqlalchemy", "psycopg2", "psycopg", "sqlite3"),
        *("java.sql", "org.hibernate", "Doctrine\\DBAL", "Illuminate\\Database"),
    ),
    "complex": (
        *("Redis", "redis.exceptions", "Dalli", "Bunny", "kafka.errors", "Faraday", "Excon"),
        *("urllib3.exceptions", "aiohttp", "grpc", "java.net", "io.netty"),
    ),
}


def _by_name(table: dict[Tier, tuple[str, ...]]) -> dict[str, Tier]:
    return {name: tier for tier, names in table.items() for name in names}


_TABLE = ClassTable(_by_name(TIERS), _by_name(NAMESPACE_TIERS))


def is_known(error_class: str) -> bool:
    """Whether the tables place the class; all others are "other".

    >>> is_known("KeyError"), is_known("Acme::Oops")
    (True, False)
    """
    return _TABLE.find(error_class) is not None


def tier(error_class: str) -> Tier:
    """The tier of a class.

    >>> tier("NoMethodError"), tier("PG::UniqueViolation"), tier("Net::ReadTimeout"), tier("X")
    ('simple', 'database', 'complex', 'other')
    """
    return _TABLE.find(error_class) or "other"


def tier_of(case: Case) -> Tier:
    """The tier of a case: its own class's, else that of what caused it, the root cause first.

    Frameworks wrap what happened: a template's error is as hard as the error inside it.
    """
    return next((found for one in _classes(case) if (found := _TABLE.find(one))), "other")


def unplaced(cases: Iterable[Case]) -> tuple[str, ...]:
    """Classes of cases that no table places, each once, in their order."""
    unknown = (case for case in cases if not any(map(is_known, _classes(case))))
    return tuple(dict.fromkeys(case.leader.error_class for case in unknown))


def _classes(case: Case) -> tuple[str, ...]:
    links = case.trace.links if case.trace else ()
    return (case.leader.error_class, *(link.error_class for link in reversed(links)))


def iterations(error_class: str, ceiling: int) -> int:
    """How many model turns the class may take, never more than `ceiling`, never below 1.

    >>> iterations("Net::ReadTimeout", 20), iterations("Net::ReadTimeout", 8)
    (15, 8)
    """
    return max(1, min(ITERATIONS[tier(error_class)], ceiling))


def effort(error_class: str) -> Effort:
    """How hard a model shall think.

    >>> effort("KeyError"), effort("PG::Error"), effort("NoMemoryError")
    ('low', 'medium', 'high')
    """
    return EFFORTS[tier(error_class)]

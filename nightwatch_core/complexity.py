"""How much work an error class asks for: the tier, its ceiling of model turns, its effort."""

from typing import Literal

from nightwatch_core.error_classes import ClassTable
from nightwatch_core.models.conversation import Effort

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
        # Python
        *("AttributeError", "UnboundLocalError", "ValueError", "IndexError"),
        # JavaScript
        *("ReferenceError", "RangeError"),
        # Java, C#
        *("NullPointerException", "NullReferenceException", "ClassCastException"),
        *("InvalidCastException", "IllegalArgumentException", "ArgumentException"),
        *("ArgumentNullException", "IndexOutOfBoundsException", "IndexOutOfRangeException"),
        *("KeyNotFoundException", "NoSuchElementException"),
        # Go, PHP
        *("runtime error", "InvalidArgumentException", "ErrorException"),
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
        *("DeadlineExceeded", "ETIMEDOUT"),
        # connections
        *("ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "ConnectException"),
        *("ConnectionException", "ConnectionNotEstablished", "ConnectionFailed"),
        *("ConnectionTimeoutError", "SocketException", "SocketError", "BrokenPipeError"),
        *("ECONNREFUSED", "ECONNRESET", "EPIPE", "OpError", "HttpRequestException"),
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

"""How much work an error class asks for: the tier, its ceiling of model turns, its effort."""

from collections.abc import Iterable
from typing import Literal

from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.error import Case
from nightwatch_core.text.error_classes import ClassTable

Tier = Literal["simple", "auth", "database", "complex", "other"]

# Turns bound runaways; tokens, time and progress bound the work.
ITERATIONS: dict[Tier, int] = {"auth": 12, "simple": 12, "database": 15, "complex": 20, "other": 15}
EFFORTS: dict[Tier, Effort] = {
    "simple": "low",
    "auth": "medium",
    "database": "medium",
    "other": "medium",
    "complex": "high",
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TIERS: dict[Tier, tuple[str, ...]] = {  # class names, Ruby's first, then other languages'
    "simple": _names(
        "NoMethodError NameError ArgumentError TypeError KeyError FrozenError ZeroDivisionError "
        "FloatDomainError ParameterMissing AttributeError UnboundLocalError ValueError IndexError "
        "AssertionError UnicodeDecodeError UnicodeEncodeError JSONDecodeError ValidationError "
        "ReferenceError RangeError SyntaxError NullPointerException NullReferenceException "
        "ClassCastException InvalidCastException IllegalArgumentException ArgumentException "
        "ArgumentNullException IndexOutOfBoundsException IndexOutOfRangeException "
        "KeyNotFoundException NoSuchElementException NumberFormatException FormatException "
        "ArithmeticException DivideByZeroException InvalidArgumentException ErrorException "
        "DivisionByZeroError"
    )
    + ("runtime error",),
    "auth": _names(
        "NotAuthorizedError NotAuthorized Unauthorized UnauthorizedError AccessDenied "
        "AccessDeniedError AccessDeniedException ForbiddenError PermissionDenied NotAuthenticated "
        "AuthenticationFailed AuthenticationError AuthorizationError InvalidAuthenticityToken "
        "InvalidToken JWTError UnauthorizedException ForbiddenException AuthenticationException "
        "AuthorizationException UnauthorizedAccessException TokenMismatchException"
    ),
    "database": _names(
        "RecordNotFound RecordInvalid RecordNotUnique StatementInvalid Deadlocked DeadlockError "
        "DeadlockException LockWaitTimeout IntegrityError OperationalError ProgrammingError "
        "DatabaseError DataError ObjectDoesNotExist DoesNotExist SQLException SqlException "
        "PDOException QueryException ModelNotFoundException EntityNotFoundException "
        "DeadlockLoserDataAccessException DataIntegrityViolationException SequelizeDatabaseError "
        "PrismaClientKnownRequestError DbUpdateException"
    ),
    "complex": _names(
        "SystemStackError NoMemoryError RecursionError MemoryError StackOverflowError "
        "OutOfMemoryError StackOverflowException OutOfMemoryException Timeout::Error TimeoutError "
        "TimeoutException ReadTimeout OpenTimeout WriteTimeout ConnectTimeout RequestTimeout "
        "SocketTimeoutException DeadlineExceeded ETIMEDOUT TaskCanceledException CancelledError "
        "ConnectionError ConnectionRefusedError ConnectionResetError ConnectException "
        "ConnectionException ConnectionNotEstablished ConnectionFailed ConnectionTimeoutError "
        "SocketException SocketError BrokenPipeError ECONNREFUSED ECONNRESET ECONNABORTED EPIPE "
        "ENOTFOUND EAI_AGAIN OpError HttpRequestException UnknownHostException SSLError "
        "ConcurrentModificationException ThreadError BrokenExecutor WorkerLostError"
    ),
}
NAMESPACE_TIERS: dict[Tier, tuple[str, ...]] = {  # every class of these
    "simple": _names("runtime"),
    "auth": _names("Pundit CanCan ActionPolicy JWT Devise Illuminate\\Auth"),
    "database": _names(
        "ActiveRecord PG Mysql2 SQLite3 Sequel Mongoid django.db sqlalchemy psycopg2 psycopg "
        "sqlite3 java.sql org.hibernate Doctrine\\DBAL Illuminate\\Database"
    ),
    "complex": _names(
        "Redis redis.exceptions Dalli Bunny kafka.errors Faraday Excon urllib3.exceptions aiohttp "
        "grpc java.net io.netty"
    ),
}


def _by_name(table: dict[Tier, tuple[str, ...]]) -> dict[str, Tier]:
    return {name: tier for tier, names in table.items() for name in names}


_TABLE = ClassTable(_by_name(TIERS), _by_name(NAMESPACE_TIERS))


def is_known(error_class: str) -> bool:
    """Say whether the tables place the class; all others are "other".

    >>> is_known("KeyError"), is_known("Acme::Oops")
    (True, False)
    """
    return _TABLE.find(error_class) is not None


def tier(error_class: str) -> Tier:
    """Name the tier of a class.

    >>> tier("NoMethodError"), tier("PG::UniqueViolation"), tier("Net::ReadTimeout"), tier("X")
    ('simple', 'database', 'complex', 'other')
    """
    return _TABLE.find(error_class) or "other"


def tier_of(case: Case) -> Tier:
    """Name the tier of a case: its own class's, else that of what caused it, the root cause first.

    Frameworks wrap what happened: a template's error is as hard as the error inside it.
    """
    return next((found for one in _classes(case) if (found := _TABLE.find(one))), "other")


def unplaced(cases: Iterable[Case]) -> tuple[str, ...]:
    """List classes of cases that no table places, each once, in their order."""
    unknown = (case for case in cases if not any(map(is_known, _classes(case))))
    return tuple(dict.fromkeys(case.leader.error_class for case in unknown))


def _classes(case: Case) -> tuple[str, ...]:
    links = case.trace.links if case.trace else ()
    return (case.leader.error_class, *(link.error_class for link in reversed(links)))

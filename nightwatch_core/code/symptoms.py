"""Tells from an error's class and message what kind of failure it is."""

import re

from nightwatch_core.code.limits import MESSAGE
from nightwatch_core.code.symptom_wordings import NAME, NAMES_AND_DATA
from nightwatch_core.models.value import Value

NEIGHBOURS_AND_VALUES: tuple[tuple[str, str], ...] = (
    # --- neighbours and resources -------------------------------------------------------------
    (
        "lock",
        r"[Dd]eadlock|could not serialize access|SerializationFailure|database is locked"
        r"|LockWaitTimeout|Lock wait timeout|LockNotAvailable|StaleObjectError|OptimisticLock",
    ),
    (
        "race",
        r"all goroutines are asleep|concurrent map (?:writes|read)|ConcurrentModificationException"
        r"|changed size during iteration",
    ),
    (
        "constraint",
        r"violates [\w -]{1,30} constraint \"(?P<relation>[^\"]{1,100})\""
        r"|(?:UNIQUE|NOT NULL) constraint failed: (?P<columns>[\w., ]{1,100})",
    ),
    (
        "constraint",
        r"RecordNotUnique|UniqueViolation|IntegrityError|NotNullViolation|ForeignKeyViolation"
        r"|InvalidForeignKey"
        r"|Duplicate entry|duplicate key|ConstraintViolation|DbUpdateException|constraint failed",
    ),
    (
        "pool",
        r"could not obtain a (?:database )?connection|QueuePool limit|PoolTimeout"
        r"|ConnectionTimeoutError"
        r"|too many (?:clients|connections)|pool (?:is )?exhausted|Connection is not available"
        r"|[Tt]imeout.{0,40}from the pool",
    ),
    (
        "timeout",
        r"^\S{0,200}Time-?[oO]ut|timed out|execution expired|ETIMEDOUT|ESOCKETTIMEDOUT"
        r"|deadline exceeded|DeadlineExceeded"
        r"|StatementTimeout|QueryCanceled|TaskCanceledException",
    ),
    (
        "connection",
        r"ECONNREFUSED|ECONNRESET|EHOSTUNREACH|EPIPE|ENOTFOUND|EAI_AGAIN|[Cc]onnection (?:refused"
        r"|reset"
        r"|aborted|closed|error)|ConnectionError|ConnectError|ConnectException|Connection(?:Refused"
        r"|Reset|NotEstablished)|BrokenPipe|[Bb]roken pipe|SocketException|SocketError|getaddrinfo"
        r"|Name or service not known|no such host|UnknownHost|RemoteDisconnected|SSLError"
        r"|SSL_connect"
        r"|Bad Gateway|Service Unavailable|50[234] (?:Server|Bad|Service|Gateway)|fetch failed"
        r"|server has gone away|HttpRequestException",
    ),
    (
        "permission",
        r"NotAuthorized|AccessDenied|PermissionDenied|PermissionError|EACCES|EPERM|"
        r"[Pp]ermission denied"
        r"|Forbidden|Unauthorized|InvalidAuthenticityToken|AuthenticationE|AuthorizationE"
        r"|not allowed to|UnauthorizedAccess",
    ),
    (
        "stack",
        r"SystemStackError|stack level too deep|RecursionError|maximum recursion depth"
        r"|StackOverflow|Maximum call stack size|stack overflow",
    ),
    (
        "memory",
        r"NoMemoryError|MemoryError|OutOfMemory|heap out of memory|failed to allocate memory"
        r"|Allowed memory size|runtime: out of memory|oom-kill",
    ),
    ("disk", r"No space left on device|ENOSPC|Disk quota|Too many open files|EMFILE"),
    (
        "missing file",
        r"FileNotFound|ENOENT|No such file or directory|NoSuchFileException|EEXIST|FileExistsError"
        r"|File exists|cannot find the file|[Tt]emplate(?:NotFound|DoesNotExist| is missing)"
        r"|MissingTemplate|View \[[^\]]{1,100}\] not found",
    ),
    # --- values that do not fit ---------------------------------------------------------------
    (
        "parse error",
        r"JSONDecodeError|JSON::ParserError|JsonSyntax|JsonParse|JsonException|Unexpected token"
        r"|unexpected token|Unexpected end of (?:JSON )?input|invalid literal for \w{1,20}\(\)"
        r"|could not convert string|invalid value for (?:Integer|Float)|NumberFormat"
        r"|FormatException"
        r"|DateTimeParse|does not match format|Invalid isoformat|invalid date|strconv\."
        r"|ParseException"
        r"|YAMLError|Psych::|ParseError|XMLSyntax|SAXParse|cannot unmarshal|SyntaxError"
        r"|UnicodeDecodeError|invalid byte sequence|EncodingError|UnicodeEncodeError",
    ),
    (
        "division by zero",
        r"ZeroDivisionError|[Dd]ivi(?:sion|ded|de) by zero|/ by zero|DivideByZero",
    ),
    (
        "assertion",
        r"AssertionError|Assertion(?:Failed)?(?:Error|Exception)|assertion failed"
        r"|Minitest::Assertion",
    ),
    (
        "frozen",
        r"FrozenError|can't modify frozen|UnsupportedOperationException|Assignment to constant",
    ),
    (
        "wrong type",
        r"no implicit conversion of (?P<given>[\w:]{1,60}) into (?P<expected>[\w:]{1,60})"
        r"|(?P<actual>[\w.$]{1,100}) cannot be cast to (?:class )?(?P<wanted>[\w.$]{1,100})"
        r"|must be (?:of type )?(?P<type>[\w\\|?]{1,60}), (?P<got>[\w\\]{1,60}) given",
    ),
    (
        "wrong type",
        r"ClassCast|InvalidCast|unsupported operand type|interface conversion|is not (?:iterable"
        r"|callable|subscriptable)"
        r"|not supported between instances|can only concatenate|comparison of \S{1,60} with"
        r"|can't be coerced|expected string or bytes|is not JSON serializable|unhashable type"
        r"|is not a function|TypeError",
    ),
    ("wrong arguments", r"ArgumentError|IllegalArgument|InvalidArgument|ArgumentException"),
    ("undefined name", rf"'(?P<name>{NAME})' is not defined"),
)


_SAME = {  # groups that say the same thing in different wordings
    "old": "name",
    "model": "relation",
    "class": "relation",
    "columns": "relation",
    "column": "relation",
    "actual": "given",
    "got": "given",
    "wanted": "expected",
    "type": "expected",
}
WORDINGS = (*NAMES_AND_DATA, *NEIGHBOURS_AND_VALUES)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in WORDINGS)
_MEANT = re.compile(r"Did you mean: '(\w{1,100})'\?")
_HOSTS = tuple(  # how messages name the neighbour that failed
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"https?://([\w.-]{1,100})",
        r"host[=:]\s?'?\"?([\w.-]{1,100})",
        r"connection to server (?:at|on socket) \"([\w./-]{1,100})\"",
        r"(?:connect(?:ion|ing)? to|to host|at host|dial tcp:? (?:lookup )?)"
        r"\s*\"?([\w.-]{1,100}(?::\d+)?)",
        r"(?:ECONNREFUSED|ETIMEDOUT|ENOTFOUND|ECONNRESET|EAI_AGAIN)\s+([\w.:-]{1,100})",
        r"UnknownHostException: ([\w.-]{1,100})",
    )
)
_BARE_KEY = re.compile(r"'[^'\n]{1,100}'|\"[^\"\n]{1,100}\"|\d{1,20}")


class Symptom(Value):
    """A kind of failure (`unknown` where no wording fits) and what the message says about it."""

    kind: str
    name: str = ""
    receiver: str = ""
    owner: str = ""
    module: str = ""
    key: str = ""
    keyword: str = ""
    missing: str = ""
    expected: str = ""
    given: str = ""
    relation: str = ""
    use: str = ""
    meant: str = ""  # what the language suggests instead
    text: str = ""  # "class: message", bounded


def symptom_of(error_class: str, message: str) -> Symptom:
    """Find the first kind whose wording fits.

    >>> symptom_of("NoMethodError", "undefined method `total' for nil:NilClass").name
    'total'
    >>> symptom_of("KeyError", "'price'").key
    'price'
    >>> symptom_of("PaymentDeclined", "card 1").kind
    'unknown'
    """
    said = f"{error_class[:200]}: {message[:MESSAGE]}"
    for kind, pattern in _COMPILED:
        match = pattern.search(said)
        if match:
            return _symptom(kind, match, said)
    return Symptom(kind="unknown", text=said)


def neighbour(symptom: Symptom) -> str:
    """Give the host that a message names, with its port where it stands beside; empty: none.

    >>> neighbour(Symptom(kind="timeout", text="ReadTimeout: http://pay.example/v1 timed out"))
    'pay.example'
    >>> neighbour(Symptom(kind="connection", text="Error 111 connecting to redis:6379. Refused."))
    'redis:6379'
    """
    matches = (pattern.search(symptom.text) for pattern in _HOSTS)
    return next((match[1].rstrip(".:") for match in matches if match), "")


def _symptom(kind: str, match: re.Match[str], said: str) -> Symptom:
    facts = {
        _SAME.get(group, group): value.strip()
        for group, value in match.groupdict().items()
        if value
    }
    if "key" in facts:
        facts["key"] = _bare(facts["key"])
    known = {name: value for name, value in facts.items() if name in Symptom.model_fields}
    meant = _MEANT.search(said)
    return Symptom(kind=kind, text=said, meant=meant[1] if meant else "", **known)


def _bare(key: str) -> str:
    """The key without quotes, and without what the message says after it."""
    quoted = _BARE_KEY.match(key)
    return (quoted[0] if quoted else key).strip("'\" ")

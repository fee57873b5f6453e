"""Budget: the cost of a call before it is made, and the night's budget per error.

A call that explores has to leave room for the one that concludes. That one reads what is cached
and is told what this call writes and what its tools tell; as long as nothing was seen to be cached,
it is told everything anew. So the bounds hold even where every call writes as much as it may; where
less is left, the call may write less, and where that is too little to be of use, it is time to
conclude.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from math import inf
from typing import Literal, Protocol

from pydantic import ValidationError

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.tool_arguments import Refusal
from nightwatch_core.code.code_view import halves
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.conversation import Capabilities, Effort
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import (
    MAX_TURNS,
    SECONDS_PER_ERROR,
    TOKENS_PER_ERROR,
    NightOptions,
)
from nightwatch_core.models.proposals import Run
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Records
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.plain_text import digest, estimated_tokens, plural
from nightwatch_core.text.words import ClassTable

Bound = Literal["iterations", "progress", "time", "tokens", "cost", "context"]
Rooms = tuple[tuple[Bound, float], ...]  # output tokens that each bound leaves
_WRITTEN, _READ = 1.25, 0.1  # price of cached tokens, in prices of those that are not
_TOOL_TOKENS = limits.TURN_CHARACTERS // 3  # that one turn's tools tell, at most
_USEFUL_READ, _USEFUL_WRITTEN = 40_000, 5_000  # tokens: how `USEFUL_TOKENS` are priced


class Prompt(Value):
    """Tokens of the next request: those that are new to the service, and those in its cache."""

    new: int
    cached: int = 0

    @property
    def whole(self) -> int:
        """Return all of them."""
        return self.new + self.cached


class CallBudget(Value):
    """The bounds of a conversation, what it has used, and what its next request takes."""

    allowance: Allowance
    able: Capabilities
    max_tokens: int  # wanted of one reply
    fixed: int  # tokens of a request that are there before anything is said
    prompt: Prompt  # of the next request
    used: Usage = Usage()

    def after(self, usage: Usage) -> "CallBudget":
        """Return the budget after a reply that took `usage`; a summary leaves a short prompt."""
        summary = Prompt(new=self.fixed + usage.output_tokens)
        prompt = summary if usage.compactions else next_prompt(usage)
        return self.model_copy(update={"prompt": prompt, "used": self.used + usage})

    def told(self, texts: Iterable[str]) -> "CallBudget":
        """Return the budget after these texts were added to the next request."""
        new = self.prompt.new + sum(map(estimated_tokens, texts))
        return self.model_copy(update={"prompt": self.prompt.model_copy(update={"new": new})})

    def uncached(self) -> "CallBudget":
        """Return the budget after the service's cache was lost."""
        return self.model_copy(update={"prompt": Prompt(new=self.prompt.whole)})

    def bound(self, concluding: bool) -> Bound | None:
        """The bound that leaves too little for the next call to be of use; None where none does."""
        rooms = self.rooms(concluding)
        return next((name for name, room in rooms if room < self.least), None)

    def granted(self, concluding: bool) -> int:
        """Output tokens of the next call: those wanted, or what the tightest bound leaves."""
        wanted = min(self.max_tokens, self.able.max_output_tokens)
        room = min((room for _, room in self.rooms(concluding)), default=inf)
        if room >= wanted:
            return wanted
        return min(wanted, max(self.least, int(room) // limits.OUTPUT_STEP * limits.OUTPUT_STEP, 1))

    @property
    def least(self) -> int:
        """Output tokens below which a call is of no use."""
        return min(concluding_tokens(self.allowance) // 2, self.max_tokens)

    def rooms(self, concluding: bool) -> Rooms:
        """Return the output tokens each bound allows the next call; a local model costs nothing.

        One that does not conclude leaves room for one more that does.
        """
        if self.able.local:
            return ()
        return self._to_conclude() if concluding else self._to_explore()

    def _to_explore(self) -> Rooms:
        prompt, answer = self.prompt, concluding_tokens(self.allowance)
        price, fresh = _price(self.able.output_price), _price(self.able.input_price)
        written, read = fresh * _WRITTEN, fresh * _READ
        again = _TOOL_TOKENS + (0 if prompt.cached else prompt.whole)
        tokens = self.allowance.tokens - self.used.new_tokens - prompt.new - again - answer
        dollars = self._dollars() - (prompt.new + again) * written - answer * price
        dollars -= (prompt.cached + prompt.whole) * read
        return (
            ("tokens", tokens / 2),  # what it writes is told again at the end
            ("cost", _tokens_for(dollars, price + written)),
            ("context", self.able.context_tokens - prompt.whole - answer - _TOOL_TOKENS),
        )

    def _to_conclude(self) -> Rooms:
        prompt, price = self.prompt, _price(self.able.input_price)
        dollars = self._dollars() - (prompt.new * _WRITTEN + prompt.cached * _READ) * price
        return (
            ("tokens", self.allowance.tokens - self.used.new_tokens - prompt.new),
            ("cost", _tokens_for(dollars, _price(self.able.output_price))),
            ("context", self.able.context_tokens - prompt.whole),
        )

    def _dollars(self) -> float:
        """USD that are left; an unknown price counts as all that was there."""
        cap = self.allowance.cost
        if cap is None:
            return inf
        return cap - (cap if self.used.cost is None else self.used.cost)


def next_prompt(last: Usage) -> Prompt:
    """Reckon the request after one that took `last`, before anything else is said.

    >>> next_prompt(Usage(calls=1, input_tokens=5, cache_read_tokens=90, output_tokens=10))
    Prompt(new=15, cached=90)
    """
    attempts = max(last.calls, 1)  # a call that was tried again counts every attempt
    before, said = last.prompt_tokens // attempts, last.output_tokens // attempts
    cached = (last.cache_read_tokens + last.cache_write_tokens) // attempts
    return Prompt(new=before - cached + said, cached=cached)


def concluding_tokens(allowance: Allowance) -> int:
    """Tokens kept for the answer and for asking for it."""
    share = int(limits.CONCLUSION_SHARE * allowance.tokens)
    return min(limits.CONCLUSION_TOKENS, max(limits.SHORTEST_CONCLUSION, share))


def split_budget(
    options: NightOptions, errors: int, used: Usage | None = None, able: Capabilities | None = None
) -> tuple[Allowance, ...]:
    """Say what each of `errors` analyses may use, the best ranked first, when `used` is gone.

    All that get anything get the same; but where that would be too little to find anything out,
    the worst ranked get nothing, instead of all too little. `able` says what is too little in USD.
    A cost of None is no cap, which is what `cost_per_night` 0 means.

    >>> [one.tokens for one in split_budget(NightOptions(total_token_budget=100_000), 4)]
    [50000, 50000, 0, 0]
    """
    gone = used or Usage()
    tokens, dollars = max(options.total_token_budget - gone.new_tokens, 0), _dollars(options, gone)
    served = errors if able and able.local else _served(errors, tokens, limits.USEFUL_TOKENS)
    served = max(served, 1)
    if dollars is not None:
        served = min(served, _served(errors, dollars, _useful_dollars(options, able)))
    share = Allowance(
        iterations=MAX_TURNS,
        tokens=min(TOKENS_PER_ERROR, tokens // served),
        cost=None if dollars is None else min(_cap(options), dollars / served),
        seconds=SECONDS_PER_ERROR,
    )
    nothing = share.model_copy(update={"tokens": 0, "cost": None if dollars is None else 0.0})
    return (*(share,) * min(served, errors), *(nothing,) * (errors - served))


def _served(errors: int, pool: float, useful: float) -> int:
    enough = int(pool / useful) if useful > 0 else errors
    return max(1, min(errors, enough))


def _dollars(options: NightOptions, gone: Usage) -> float | None:
    if options.cost_per_night <= 0:
        return None
    return 0.0 if gone.cost is None else max(options.cost_per_night - gone.cost, 0.0)


def _cap(options: NightOptions) -> float:
    return options.cost_per_error or options.cost_per_night


def _useful_dollars(options: NightOptions, able: Capabilities | None) -> float:
    if able is None or able.local:
        return 0.0
    read = (able.input_price or 0.0) * _USEFUL_READ
    written = (able.output_price or 0.0) * _USEFUL_WRITTEN
    return min((read + written) / 1_000_000, _cap(options))


def _tokens_for(dollars: float, price: float) -> float:
    if price > 0 and dollars < inf:
        return dollars / price
    return inf if dollars >= 0 else dollars


def _price(per_million: float | None) -> float:
    return (per_million or 0.0) / 1_000_000


# What may be run for one analysis, by whom, and how much of it is left.
#
# What was run is kept, so that a night that is taken up again shows the same.

_NO_MORE = "Not run: of {runs} and {seconds:.0f} s an error nothing is left. Go on without."


class RunsCode(Protocol):
    """Runs what it is asked to, confined, in the project at one commit.

    Both raise `GiveUp`, with what to ask instead.
    """

    def run_test(self, test: str) -> Run:
        """Run a file of tests, or one test by its id."""
        ...

    def run_snippet(self, code: str) -> Run:
        """Run code in the project's language."""
        ...


class KeptRuns:
    """A `RunsCode` that runs the same once a night: what it gave is in `records`."""

    def __init__(
        self, runner: RunsCode, records: Records, prefix: str, turn: AbstractContextManager[object]
    ) -> None:
        """Keep runs below `prefix`, which names night and project; who runs holds `turn`."""
        self._runner, self._records, self._prefix = runner, records, prefix
        self._turn = turn

    def run_test(self, test: str) -> Run:
        """Run a file of tests, or one test by its id."""
        return self._kept(self._runner.run_test, "test", test)

    def run_snippet(self, code: str) -> Run:
        """Run code in the project's language."""
        return self._kept(self._runner.run_snippet, "snippet", code)

    def _kept(self, run: Callable[[str], Run], kind: str, text: str) -> Run:
        key = f"{self._prefix}/{kind}/{digest(text)}"
        with self._turn:
            try:
                return Run.model_validate(json.loads(self._records.get(key) or ""))
            except (ValidationError, ValueError):
                came = run(text)
            came = came.model_copy(update={"output": halves(came.output, limits.RUN_KEPT)})
            self._records.put(key, json.dumps(came.model_dump(mode="json")))
        return came


class RunsLeft:
    """Remaining runs of one analysis, whose calls are made one after another."""

    def __init__(self, runner: RunsCode) -> None:
        self.runner = runner
        self.runs, self.seconds = limits.RUNS, limits.RUNS_SECONDS

    def take(self, run: Callable[[str], Run], text: str) -> Run:
        """Run it, and count it; raises `Refusal` where no more may be run, or it cannot be."""
        if self.runs <= 0 or self.seconds <= limits.RUNS_SECONDS_KEPT:
            runs = plural(limits.RUNS, "run")
            raise Refusal(_NO_MORE.format(runs=runs, seconds=limits.RUNS_SECONDS))
        try:
            came = run(text)
        except GiveUp as trouble:
            raise Refusal(f"Not run: {clean(str(trouble))}.") from None
        self.runs, self.seconds = self.runs - 1, self.seconds - came.seconds
        return came


# How much work an error class asks for: the tier, its ceiling of model turns, its effort.

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
    return next(
        (found for error_class in _classes(case) if (found := _TABLE.find(error_class))), "other"
    )


def unplaced(cases: Iterable[Case]) -> tuple[str, ...]:
    """List classes of cases that no table places, each once, in their order."""
    unknown = (case for case in cases if not any(map(is_known, _classes(case))))
    return tuple(dict.fromkeys(case.leader.error_class for case in unknown))


def _classes(case: Case) -> tuple[str, ...]:
    links = case.trace.links if case.trace else ()
    return (case.leader.error_class, *(link.error_class for link in reversed(links)))

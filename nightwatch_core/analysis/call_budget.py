"""What the next call may take, reckoned before it is made: tokens, USD, room in the context.

A call that explores has to leave room for the one that concludes. That one reads what is cached
and is told what this call writes and what its tools tell; as long as nothing was seen to be cached,
it is told everything anew. So the bounds hold even where every call writes as much as it may; where
less is left, the call may write less, and where that is too little to be of use, it is time to
conclude.
"""

from math import inf

from nightwatch_core.analysis.calls import MOST_TOLD
from nightwatch_core.models.analysis import Allowance, Usage
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.value import Value

CONCLUSION = 8_000  # tokens kept for the answer at most, thinking included
_SHORT = 1_000  # and at least
CONCLUDING = 0.15  # share of the tokens, and of the time, that is kept for it at most
_WRITTEN, _READ = 1.25, 0.1  # price of cached tokens, in prices of those that are not
_TOOLS_TELL = MOST_TOLD // 3  # tokens, at most
_STEP = 500  # tokens; bounds on a call's output are multiples of it

Rooms = tuple[tuple[str, float], ...]  # output tokens that each bound leaves


class Prompt(Value):
    """Tokens of the next request: those that are new to the service, and those in its cache."""

    new: int
    cached: int = 0

    @property
    def whole(self) -> int:
        """All of them."""
        return self.new + self.cached


def next_prompt(last: Usage) -> Prompt:
    """The request after one that took `last`, before anything else is said.

    >>> next_prompt(Usage(calls=1, input_tokens=5, cache_read_tokens=90, output_tokens=10))
    Prompt(new=15, cached=90)
    """
    attempts = max(last.calls, 1)  # a call that was tried again counts every attempt
    before, said = last.prompt_tokens // attempts, last.output_tokens // attempts
    cached = (last.cache_read_tokens + last.cache_write_tokens) // attempts
    return Prompt(new=before - cached + said, cached=cached)


def is_free(able: Capabilities) -> bool:
    """Whether nothing has to be reckoned: a model of our own costs nothing."""
    return able.local


def concluding(may: Allowance) -> int:
    """Tokens kept for the answer and for asking for it."""
    return min(CONCLUSION, max(_SHORT, int(CONCLUDING * may.tokens)))


def to_explore(prompt: Prompt, used: Usage, may: Allowance, able: Capabilities) -> Rooms:
    """What the next call may write so that one more can conclude, by each bound."""
    if is_free(able):
        return ()
    answer, written = concluding(may), _price(able.input_price) * _WRITTEN
    read, price = _price(able.input_price) * _READ, _price(able.output_price)
    again = _TOOLS_TELL + (0 if prompt.cached else prompt.whole)
    tokens = may.tokens - used.new_tokens - prompt.new - again - answer
    dollars = _left(used, may) - (prompt.new + again) * written - answer * price
    dollars -= (prompt.cached + prompt.whole) * read
    return (
        ("tokens", tokens / 2),  # what it writes is told again at the end
        ("cost", _per(dollars, price + written)),
        ("context", able.context_tokens - prompt.whole - answer - _TOOLS_TELL),
    )


def to_conclude(prompt: Prompt, used: Usage, may: Allowance, able: Capabilities) -> Rooms:
    """What the last call may write, by each bound."""
    if is_free(able):
        return ()
    price = _price(able.input_price)
    dollars = _left(used, may) - (prompt.new * _WRITTEN + prompt.cached * _READ) * price
    return (
        ("tokens", may.tokens - used.new_tokens - prompt.new),
        ("cost", _per(dollars, _price(able.output_price))),
        ("context", able.context_tokens - prompt.whole),
    )


def too_small(rooms: Rooms, least: int) -> str:
    """The bound that leaves less than `least` tokens; empty where none does."""
    return next((name for name, room in rooms if room < least), "")


def granted(rooms: Rooms, wanted: int, least: int) -> int:
    """Output tokens of a call: those wanted, or what the tightest bound leaves; `least` anyway.

    >>> granted((("tokens", 7_200.0), ("cost", 90_000.0)), 32_000, 600)
    7000
    """
    room = min((room for _, room in rooms), default=inf)
    if room >= wanted:
        return wanted
    return min(wanted, max(least, int(room) // _STEP * _STEP, 1))


def _left(used: Usage, may: Allowance) -> float:
    """USD; an unknown price counts as all that was there."""
    if may.cost is None:
        return inf
    return may.cost - (may.cost if used.cost is None else used.cost)


def _per(dollars: float, price: float) -> float:
    if price > 0 and dollars < inf:
        return dollars / price
    return inf if dollars >= 0 else dollars


def _price(per_million: float | None) -> float:
    return (per_million or 0.0) / 1_000_000

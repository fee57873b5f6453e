"""Budget: the cost of a call before it is made, and the night's budget per error.

A call that explores leaves room for the call that concludes. That call reads what is cached, and
adds what this call writes and what its tools answer; as long as nothing is cached, it is sent
everything anew. So the bounds hold even if every call writes as much as it may. Where less is left,
the call may write less; where that is too little to be of use, the conversation concludes.
"""

from collections.abc import Iterable
from math import inf
from typing import Literal

from nightwatch_core.code.symptoms import symptoms_of
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.conversation import Capabilities, Effort
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import MAX_TURNS, SECONDS_PER_ERROR, NightOptions
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table, estimated_tokens
from nightwatch_core.text.words import ClassTable

CALLS_A_TURN = 16  # calls that are run
TURN_CHARACTERS = 40_000  # characters that the answers of one turn have together
IDLE_TURNS = 3  # turns in a row that may bring nothing new
CONCLUSION_TOKENS = 8_000  # kept for the answer at most, thinking included …
SHORTEST_CONCLUSION = 1_000  # … and at least
CONCLUSION_SHARE = 0.15  # of the tokens, and of the time, kept for it at most
OUTPUT_STEP = 500  # tokens; bounds on a call's output are multiples of it
USEFUL_TOKENS = 45_000  # a long first message, told again at the end, and an answer

Bound = Literal["iterations", "progress", "time", "tokens", "cost", "context"]
_WRITTEN, _READ = 1.25, 0.1  # price of cached tokens, in prices of those that are not
_TOOL_TOKENS = TURN_CHARACTERS // 3  # that one turn's tools tell, at most
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
    """The bounds of a conversation, its usage, and the size of its next request."""

    allowance: Allowance
    able: Capabilities
    max_tokens: int  # wanted of one reply
    fixed: int  # tokens of a request before anything is said
    prompt: Prompt  # of the next request
    used: Usage = Usage()

    def after(self, usage: Usage) -> "CallBudget":
        """Return the budget after a reply that took `usage`; a summary leaves a short prompt."""
        summary = Prompt(new=self.fixed + usage.output_tokens)
        prompt = summary if usage.compactions else next_prompt(usage)
        return self.model_copy(update={"prompt": prompt, "used": self.used + usage})

    def adding(self, texts: Iterable[str]) -> "CallBudget":
        """Return the budget after these texts were added to the next request."""
        new = self.prompt.new + sum(map(estimated_tokens, texts))
        return self.model_copy(update={"prompt": self.prompt.model_copy(update={"new": new})})

    def uncached(self) -> "CallBudget":
        """Return the budget after the service's cache was lost."""
        return self.model_copy(update={"prompt": Prompt(new=self.prompt.whole)})

    def bound(self, concluding: bool) -> Bound | None:
        """Name the bound that leaves too little for the next call; None for none."""
        rooms = self.rooms(concluding).items()
        return next((name for name, room in rooms if room < self.least), None)

    def granted(self, concluding: bool) -> int:
        """Return the output tokens of the next call: those wanted, or what the bounds leave."""
        most = min(self.max_tokens, self.able.max_output_tokens)
        room = min(self.rooms(concluding).values(), default=inf)
        if room >= most:
            return most
        return min(most, max(self.least, int(room) // OUTPUT_STEP * OUTPUT_STEP, 1))

    @property
    def least(self) -> int:
        """Return the output tokens below which a call is of no use."""
        return min(concluding_tokens(self.allowance) // 2, self.max_tokens)

    def rooms(self, concluding: bool) -> dict[Bound, float]:
        """Return the output tokens each bound allows the next call; a local model costs nothing.

        A call that explores leaves room for one more that concludes.
        """
        if self.able.local:
            return {}
        prompt, cap, used = self.prompt, self.allowance.cost, self.used.cost
        prices = (self.able.output_price, self.able.input_price)
        output, fresh = ((price or 0.0) / 1_000_000 for price in prices)
        # an unknown price counts as all that was there
        dollars = inf if cap is None else cap - (cap if used is None else used)
        dollars -= (prompt.new * _WRITTEN + prompt.cached * _READ) * fresh
        tokens = self.allowance.tokens - self.used.new_tokens - prompt.new
        context = self.able.context_tokens - prompt.whole
        if concluding:
            return {"tokens": tokens, "cost": _tokens_for(dollars, output), "context": context}
        answer = concluding_tokens(self.allowance)
        again = _TOOL_TOKENS + (0 if prompt.cached else prompt.whole)
        dollars -= (again * _WRITTEN + prompt.whole * _READ) * fresh + answer * output
        return {
            "tokens": (tokens - again - answer) / 2,  # its output is sent again at the end
            "cost": _tokens_for(dollars, output + fresh * _WRITTEN),
            "context": context - answer - _TOOL_TOKENS,
        }


def next_prompt(last: Usage) -> Prompt:
    """Return the request after one that took `last`, before anything else is said.

    >>> next_prompt(Usage(calls=1, input_tokens=5, cache_read_tokens=90, output_tokens=10))
    Prompt(new=15, cached=90)
    """
    attempts = max(last.calls, 1)  # a call that was tried again counts every attempt
    before, output = last.prompt_tokens // attempts, last.output_tokens // attempts
    cached = (last.cache_read_tokens + last.cache_write_tokens) // attempts
    return Prompt(new=before - cached + output, cached=cached)


def concluding_tokens(allowance: Allowance) -> int:
    """Return the tokens kept for the answer and for asking for it."""
    share = int(CONCLUSION_SHARE * allowance.tokens)
    return min(CONCLUSION_TOKENS, max(SHORTEST_CONCLUSION, share))


def split_budget(
    options: NightOptions,
    errors: int,
    used: Usage | None = None,
    capabilities: Capabilities | None = None,
) -> tuple[Allowance, ...]:
    """Return what each of `errors` analyses may use, the best ranked first, after `used`.

    All that get anything get the same; where that would be too little to find anything out, the
    worst ranked get nothing. `capabilities` says what is too little in USD. A cost of None is no
    cap, which is what `cost_per_night` 0 means.

    >>> [share.tokens for share in split_budget(NightOptions(total_token_budget=100_000), 4)]
    [50000, 50000, 0, 0]
    """
    used = used or Usage()
    tokens = max(options.total_token_budget - used.new_tokens, 0)
    cap = options.cost_per_error or options.cost_per_night
    dollars = None
    if options.cost_per_night > 0:
        dollars = 0.0 if used.cost is None else max(options.cost_per_night - used.cost, 0.0)
    served = errors
    if capabilities is None or not capabilities.local:
        served = min(served, int(tokens / min(USEFUL_TOKENS, options.token_budget_per_error)))
    if dollars is not None and capabilities is not None and not capabilities.local:
        read, written = (capabilities.input_price or 0.0), (capabilities.output_price or 0.0)
        useful = min((read * _USEFUL_READ + written * _USEFUL_WRITTEN) / 1_000_000, cap)
        served = min(served, int(dollars / useful)) if useful > 0 else served
    served = max(served, 1)
    share = Allowance(
        iterations=options.max_iterations or MAX_TURNS,
        tokens=min(options.token_budget_per_error, tokens // served),
        cost=None if dollars is None else min(cap, dollars / served),
        seconds=SECONDS_PER_ERROR,
    )
    nothing = share.model_copy(update={"tokens": 0, "cost": None if dollars is None else 0.0})
    return (*(share,) * min(served, errors), *(nothing,) * (errors - served))


def _tokens_for(dollars: float, price: float) -> float:
    if price > 0 and dollars < inf:
        return dollars / price
    return inf if dollars >= 0 else dollars


# Tiers: how much work an error class asks for.

TierName = Literal["simple", "auth", "database", "complex", "other"]


class Tier(Value):
    """A tier of tiers.toml."""

    turns: int
    effort: Effort
    classes: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()


class LeadRules(Value):
    """`leads.toml`."""

    tiers: tuple[TierName, ...]
    kinds: frozenset[str]


LEADS = data_table(__package__, "leads.toml", LeadRules)
TIERS = data_table(__package__, "tiers.toml", dict[TierName, Tier])


_TABLE: ClassTable[TierName] = ClassTable(
    {name: key for key, tier in TIERS.items() for name in tier.classes},
    {name: key for key, tier in TIERS.items() for name in tier.namespaces},
)


def tier_of(case: Case) -> TierName:
    """Name the tier of a case: its own class's, else that of its causes, the root cause first."""
    links = case.trace.links if case.trace else ()
    classes = (case.leader.error_class, *(link.error_class for link in reversed(links)))
    return next(filter(None, map(_TABLE.find, classes)), "other")


def may_be_led(case: Case) -> bool:
    """Tell whether a cheaper model may analyse such an error first: its cause is local."""
    kinds = {symptom.kind for symptom in symptoms_of(case)} - {"unknown"}
    return bool(kinds) and kinds <= LEADS.kinds and tier_of(case) in LEADS.tiers

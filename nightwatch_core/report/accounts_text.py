"""What the night took and how well it was spent, in words."""

from collections.abc import Callable, Iterable

from nightwatch_core.models.report import Accounts
from nightwatch_core.report.blocks import Fact
from nightwatch_core.text.units import money, plural


def accounts_facts(told: Accounts) -> Iterable[Fact]:
    """One fact a line; what there is nothing to say about is left out, all of it for rules alone.

    >>> [fact.text for fact in accounts_facts(Accounts(analysed=2, missed=1, priced="2026-11-01"))]
    ['of 2026-11-01', '1 call named a file that is not there']
    """
    if not told.analysed + told.failed:
        return
    for name, say in _LINES:
        if text := say(told):
            yield Fact(name=name, text=text)


def accounts_line(told: Accounts) -> str:
    """The accounts in one line, for a channel; what there is nothing to say about is left out.

    >>> from nightwatch_core.models.analysis import Usage
    >>> accounts_line(Accounts(analysed=2, usage=Usage(input_tokens=9000), tokens_per_error=4500))
    '9,000 new tokens (4,500 an error) · $0.00'
    >>> accounts_line(Accounts())
    ''
    """
    if not told.analysed + told.failed:
        return ""
    used, looks = told.usage, told.second_looks
    cost = "price unknown" if used.cost is None else f"${used.cost:.2f}"
    parts = (
        f"{used.new_tokens:,} new tokens ({told.tokens_per_error or 0:,.0f} an error)",
        cost,
        f"prompt cache {told.prompt_cache_rate:.0%}" if told.prompt_cache_rate else "",
        f"${used.saved:.2f} saved by it" if used.saved and used.saved >= 0.005 else "",
        f"code cache {told.code_cache_rate:.0%}" if told.code_cache_rate else "",
        f"{used.cleared_tokens:,} tokens cleared" if used.cleared_tokens else "",
        f"{used.compactions} summaries" if used.compactions else "",
        f"{looks.kept} of {looks.made} second looks kept" if looks.made else "",
    )
    return " · ".join(part for part in parts if part)


def _tokens(told: Accounts) -> str:
    used = told.usage
    parts = (
        ("read", used.input_tokens),
        ("written to the cache", used.cache_write_tokens),
        ("read from it", used.cache_read_tokens),
        ("answered", used.output_tokens),
        ("thereof thinking", used.thinking_tokens),
        ("cleared", used.cleared_tokens),
        ("for summaries", used.compaction_tokens),
    )
    return ", ".join(f"{count:,} {name}" for name, count in parts if count)


def _an_error(told: Accounts) -> str:
    if not told.usage.calls or told.tokens_per_error is None:
        return ""
    turns = f", {told.iterations_per_error:.1f} turns" if told.iterations_per_error else ""
    return f"{told.tokens_per_error:,.0f} new tokens{turns}, {money(told.cost_per_error)}"


def _rates(told: Accounts) -> str:
    rates = (
        ("prompt cache", told.prompt_cache_rate),
        ("code cache", told.code_cache_rate),
        ("knowledge", told.knowledge_rate),
    )
    saved = told.usage.saved
    return ", ".join(
        (
            *(f"{name} {rate:.0%}" for name, rate in rates if rate),
            *((f"{money(saved)} saved",) if saved and saved >= 0.005 else ()),
        )
    )


def _missed(told: Accounts) -> str:
    missed = f"{plural(told.missed, 'call')} named a file that is not there" if told.missed else ""
    cut = f"{plural(told.truncated, 'result')} shortened" if told.truncated else ""
    return ", ".join(filter(None, (missed, cut)))


def _second_looks(told: Accounts) -> str:
    looks = told.second_looks
    if not looks.wanted:
        return ""
    said = f"{looks.made} of {plural(looks.wanted, 'weak verdict')} looked at again"
    return f"{said}, {looks.kept} replaced, {looks.surer} surer" if looks.made else said


_LINES: tuple[tuple[str, Callable[[Accounts], str]], ...] = (
    ("Prices", lambda told: f"of {told.priced}" if told.priced else ""),
    ("Tokens", _tokens),
    ("An error took", _an_error),
    ("Hits", _rates),
    ("Tools", _missed),
    ("Second looks", _second_looks),
)

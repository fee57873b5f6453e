"""What the night took and how well it was spent, in words."""

from collections.abc import Callable, Iterable

from nightwatch_core.models.report import Accounts
from nightwatch_core.report.blocks import Fact
from nightwatch_core.text.units import money, plural, spending


def accounts_facts(accounts: Accounts) -> Iterable[Fact]:
    """One fact a line; what there is nothing to say about is left out, all of it for rules alone.

    >>> [fact.text for fact in accounts_facts(Accounts(analysed=2, missed=1, priced="2026-11-01"))]
    ['of 2026-11-01', '1 call named a file that is not there']
    """
    if not accounts.analysed + accounts.failed:
        return
    for name, say in _LINES:
        if text := say(accounts):
            yield Fact(name=name, text=text)


def accounts_line(accounts: Accounts) -> str:
    """The accounts in one line, for a channel; what there is nothing to say about is left out.

    >>> from nightwatch_core.models.usage import Usage
    >>> accounts_line(Accounts(analysed=2, usage=Usage(input_tokens=9000), tokens_per_error=4500))
    '9,000 new tokens (4,500 an error) · $0.00'
    >>> accounts_line(Accounts())
    ''
    """
    if not accounts.analysed + accounts.failed:
        return ""
    used, looks, same = accounts.usage, accounts.second_looks, accounts.duplicates
    cost = "price unknown" if used.cost is None else f"${used.cost:.2f}"
    parts = (
        f"{used.new_tokens:,} new tokens ({accounts.tokens_per_error or 0:,.0f} an error)",
        cost,
        f"prompt cache {accounts.prompt_cache_rate:.0%}" if accounts.prompt_cache_rate else "",
        f"${used.saved:.2f} saved by it" if used.saved and used.saved >= 0.005 else "",
        f"code cache {accounts.code_cache_rate:.0%}" if accounts.code_cache_rate else "",
        f"{used.cleared_tokens:,} tokens cleared" if used.cleared_tokens else "",
        plural(used.compactions, "compaction") if used.compactions else "",
        f"{looks.kept} of {looks.made} second looks kept" if looks.made else "",
        f"{same.share:.0%} found twice" if same and same.count else "",
        f"proofs {money(accounts.proofs.cost)}" if accounts.proofs.calls else "",
    )
    return " · ".join(part for part in parts if part)


def _tokens(accounts: Accounts) -> str:
    used = accounts.usage
    parts = (
        ("read", used.input_tokens),
        ("written to the cache", used.cache_write_tokens),
        ("read from it", used.cache_read_tokens),
        ("answered", used.output_tokens),
        ("thereof thinking", used.thinking_tokens),
        ("thereof for summaries", used.compaction_tokens),
    )
    return ", ".join(f"{count:,} {name}" for name, count in parts if count)


def _savings(accounts: Accounts) -> str:
    """What was cleared from prompts, before and after, and how often they were summed up.

    >>> from nightwatch_core.models.usage import Usage
    >>> cleared = Usage(cleared_tokens=60_000, uncleared_tokens=180_000, untold_clearings=2)
    >>> _savings(Accounts(usage=cleared))
    '60,000 tokens cleared (180,000 before, 120,000 after), not told of 2 long prompts'
    >>> _savings(Accounts(usage=Usage(compactions=1))), _savings(Accounts())
    ('1 compaction', '')
    """
    used = accounts.usage
    before, after = used.uncleared_tokens, used.uncleared_tokens - used.cleared_tokens
    sizes = f" ({before:,} before, {after:,} after)" if before and after >= 0 else ""
    parts = (
        f"{used.cleared_tokens:,} tokens cleared{sizes}" if used.cleared_tokens else "",
        plural(used.compactions, "compaction") if used.compactions else "",
        f"not told of {plural(used.untold_clearings, 'long prompt')}"
        if used.untold_clearings
        else "",
    )
    return ", ".join(filter(None, parts))


def _an_error(accounts: Accounts) -> str:
    if not accounts.usage.calls or accounts.tokens_per_error is None:
        return ""
    turns = f", {accounts.iterations_per_error:.1f} turns" if accounts.iterations_per_error else ""
    return f"{accounts.tokens_per_error:,.0f} new tokens{turns}, {money(accounts.cost_per_error)}"


def _rates(accounts: Accounts) -> str:
    rates = (
        ("prompt cache", accounts.prompt_cache_rate),
        ("code cache", accounts.code_cache_rate),
        ("knowledge", accounts.knowledge_rate),
    )
    saved = accounts.usage.saved
    return ", ".join(
        (
            *(f"{name} {rate:.0%}" for name, rate in rates if rate),
            *((f"{money(saved)} saved",) if saved and saved >= 0.005 else ()),
        )
    )


def _missed(accounts: Accounts) -> str:
    missed = (
        f"{plural(accounts.missed, 'call')} named a file that is not there"
        if accounts.missed
        else ""
    )
    cut = f"{plural(accounts.truncated, 'result')} shortened" if accounts.truncated else ""
    return ", ".join(filter(None, (missed, cut)))


def _duplicates(accounts: Accounts) -> str:
    """How many analyses came to a cause that was there, and where it was."""
    counted = accounts.duplicates
    if not counted:
        return ""
    text = f"{counted.count} of {plural(counted.judged, 'cause')} ({counted.share:.0%})"
    if not counted.count:
        return text
    tonight = counted.count - counted.of_lessons
    where = (
        f"{tonight} of tonight's others" if tonight else "",
        f"{counted.of_lessons} of lessons on other errors" if counted.of_lessons else "",
    )
    return f"{text}: {', '.join(filter(None, where))}"


def _second_looks(accounts: Accounts) -> str:
    looks = accounts.second_looks
    if not looks.wanted:
        return ""
    looked = f"{looks.made} of {plural(looks.wanted, 'weak verdict')} looked at again"
    return f"{looked}, {looks.kept} replaced, {looks.surer} surer" if looks.made else looked


def _run_context(accounts: Accounts) -> str:
    if not accounts.facts_told:
        return ""
    return f"{plural(accounts.facts_told, 'fact')} of other errors told, {accounts.facts_used} used"


_LINES: tuple[tuple[str, Callable[[Accounts], str]], ...] = (
    ("Prices", lambda accounts: f"of {accounts.priced}" if accounts.priced else ""),
    ("Tokens", _tokens),
    ("Context savings", _savings),
    ("An error took", _an_error),
    ("Hits", _rates),
    ("Tools", _missed),
    ("Second looks", _second_looks),
    ("Found twice", _duplicates),
    ("Run context", _run_context),
    ("Proofs", lambda accounts: spending(accounts.proofs) if accounts.proofs.calls else ""),
)

"""The scoreboard in words: cells of its tables and the sentences below them, not yet escaped."""

from collections.abc import Callable, Iterable

from nightwatch_core.memory.scoreboard import MINIMUM, OUTCOMES, chance
from nightwatch_core.models.knowledge import ConfidenceTier, DraftRate, Scoreboard
from nightwatch_core.models.report import Accounts
from nightwatch_core.report.blocks import Fact, Table
from nightwatch_core.text.plain_text import money, plural, spending

NOTHING = (
    "Nothing of what was published is decided yet. The scoreboard fills as issues and pull "
    "requests are merged or closed, and as production shows what the fixes did."
)


def reliability(board: Scoreboard) -> Table:
    """Return the rows of stated against actual reliability by confidence."""
    return Table(
        columns=(
            *("Said", "Nominal", "Times", "Decided", "Merged", "Verified", "Wrong"),
            *("Right", "Calibrated"),
        ),
        rows=tuple(_tier(tier, board) for tier in board.tiers),
    )


def sentences(board: Scoreboard) -> tuple[str, ...]:
    """Return the scoreboard's sentences in reading order; never empty."""
    if not board.found.decided:
        return tuple(filter(None, (drafts_line(board.drafts), NOTHING)))
    return tuple(
        filter(None, (*(_said(board), drafts_line(board.drafts)), *(_worth(board), how_judged())))
    )


def drafts_line(rate: DraftRate | None) -> str:
    """Return the sentence on passed drafts.

    >>> drafts_line(DraftRate(drafts=5, merged=2, rejected=1, passed=3, known=4, good=3))
    '3 of 4 drafts passed (75 %): 2 merged, 1 closed unmerged; checks passed 3. 1 not known.'
    >>> drafts_line(None)
    ''
    """
    if rate is None or not rate.drafts:
        return ""
    if not rate.known:
        return f"What became of {plural(rate.drafts, 'draft')} is not known yet."
    checks = (
        f"passed {rate.passed:,}" if rate.passed else "",
        f"failed {rate.failed:,}" if rate.failed else "",
    )
    told = ", ".join(filter(None, checks))
    people = f"{rate.merged:,} merged, {rate.rejected:,} closed unmerged"
    unknown = rate.drafts - rate.known
    share = f"{rate.good:,} of {plural(rate.known, 'draft')} passed ({_percent(rate.share)})"
    rest = f" {unknown:,} not known." if unknown else ""
    return f"{share}: {people}; checks {told or 'not known'}.{rest}"


def how_judged() -> str:
    """Return the sentence on what counts as right and wrong.

    >>> how_judged().split(". ")[1]
    'Half right: edited before merge, verified later or not'
    """
    names = {1.0: "Right", 0.5: "Half right", 0.0: "Wrong", None: "Undecided"}
    meanings = (
        f"{name}: {', '.join(item.label for item in OUTCOMES.values() if item.right == right)}."
        for right, name in names.items()
    )
    return " ".join((*meanings, "What production shows wins over what reviewers said."))


def _said(board: Scoreboard) -> str:
    """Starts with the question everybody has: how often was it right to trust a "high"?"""
    parts = (
        f"said {tier.said} {plural(tier.found.times, 'time')}, merged {tier.merged:,}"
        + (f", verified {tier.verified:,}" if tier.verified else "")
        + (f", wrong {tier.rejected:,}" if tier.rejected else "")
        for tier in board.tiers
        if tier.found.times
    )
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _worth(board: Scoreboard) -> str:
    missing = MINIMUM - board.found.decided
    if missing > 0:
        return f"{plural(missing, 'more outcome')} until said confidences are calibrated with this."
    return "Said confidences are calibrated with this: lowered on clear evidence, never raised."


def _tier(tier: ConfidenceTier, board: Scoreboard) -> tuple[str, ...]:
    return (
        tier.said,
        _percent(tier.nominal),
        f"{tier.found.times:,}",
        f"{tier.found.decided:,}",
        f"{tier.merged:,}",
        f"{tier.verified:,}",
        f"{tier.rejected:,}",
        _percent(tier.found.share),
        _percent(chance(tier.said, board)),
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"


# What the night took and how well it was spent, in words.


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

    >>> from nightwatch_core.models.answer import Usage
    >>> accounts_line(Accounts(analysed=2, usage=Usage(input_tokens=9000), tokens_per_error=4500))
    '9,000 new tokens (4,500 an error) · $0.00'
    >>> accounts_line(Accounts())
    ''
    """
    if not accounts.analysed + accounts.failed:
        return ""
    used, looks = accounts.usage, accounts.second_looks
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
    """Return cleared tokens before and after, and compactions.

    >>> from nightwatch_core.models.answer import Usage
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


def _second_looks(accounts: Accounts) -> str:
    looks = accounts.second_looks
    if not looks.wanted:
        return ""
    looked = f"{looks.made} of {plural(looks.wanted, 'weak verdict')} looked at again"
    return f"{looked}, {looks.kept} replaced, {looks.surer} surer" if looks.made else looked


_LINES: tuple[tuple[str, Callable[[Accounts], str]], ...] = (
    ("Prices", lambda accounts: f"of {accounts.priced}" if accounts.priced else ""),
    ("Tokens", _tokens),
    ("Context savings", _savings),
    ("An error took", _an_error),
    ("Hits", _rates),
    ("Tools", _missed),
    ("Second looks", _second_looks),
    ("Proofs", lambda accounts: spending(accounts.proofs) if accounts.proofs.calls else ""),
)

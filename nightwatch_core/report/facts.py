"""Facts and sentences of a report in plain text, made from `templates/facts.txt.j2`."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from nightwatch_core.analysis.forecast import forecast_text
from nightwatch_core.memory.scoreboard import MINIMUM, OUTCOMES, chance
from nightwatch_core.models.knowledge import DraftRate, Scoreboard
from nightwatch_core.publish.blocks import NAME, Fact, Table
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import lasting, moment, money, plural, spending

_LONGEST = 1_000  # characters of a value
_COLUMNS = "Stated confidence,Nominal,Times,Decided,Merged,Verified,Wrong,Right,Calibrated"


def facts(name: str, limit: int = _LONGEST, **values: object) -> tuple[Fact, ...]:
    """Return the facts of a macro; those without a text are left out."""
    pairs = (row.partition(": ") for row in texts(name, **values))
    named = ((head, line(text, limit)) for head, _, text in pairs)
    return tuple(Fact(name=line(head, NAME), text=text) for head, text in named if text)


def texts(name: str, **values: object) -> tuple[str, ...]:
    """Return the lines of a macro without the empty ones."""
    macros = vars(_environment().get_template("facts.txt.j2").make_module(values))
    return tuple(filter(None, (row.strip() for row in macros[name]().split("\n"))))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nightwatch_core.report"),
        autoescape=False,  # noqa: S701 - plain text: each rendering escapes it
        finalize=lambda value: line(str(value), _LONGEST),
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "counted": lambda pairs: ", ".join(f"{count:,} {name}" for count, name in pairs if count),
        "forecast_text": forecast_text,
        "lasting": lasting,
        "line": line,
        "moment": moment,
        "money": money,
        "number": lambda count: f"{count:,.0f}",
        "plural": plural,
        "share": _share,
        "spending": spending,
    }
    return environment


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"


# The scoreboard of a night.


def drafts_line(rate: DraftRate | None) -> str:
    """Return the sentence on passed drafts; empty for none.

    >>> drafts_line(DraftRate(drafts=5, merged=2, rejected=1, passed=3, known=4, good=3))
    '3 of 4 drafts passed (75 %): 2 merged, 1 closed unmerged; checks passed 3. 1 not known.'
    """
    return "".join(texts("drafts", rate=rate))


def reliability(board: Scoreboard) -> Table:
    """Return the rows of stated against actual reliability by confidence."""
    rows = (
        (
            tier.stated_confidence,
            _share(tier.nominal),
            *(f"{n:,}" for n in (tier.found.times, tier.found.decided)),
            *(f"{n:,}" for n in (tier.merged, tier.verified, tier.rejected)),
            *map(_share, (tier.found.share, chance(tier.stated_confidence, board))),
        )
        for tier in board.tiers
    )
    return Table(columns=tuple(_COLUMNS.split(",")), rows=tuple(rows))


def sentences(board: Scoreboard) -> tuple[str, ...]:
    """Return the scoreboard's sentences in reading order; never empty."""
    values: dict[str, object] = {
        "board": board,
        "rate": board.drafts,
        "outcomes": OUTCOMES.values(),
        "missing": MINIMUM - board.found.decided,
    }
    names = ("reliability", "drafts", "duplicates", "calibration")
    shown = names if board.found.decided else ("drafts", "duplicates", "nothing_decided")
    return tuple(text for name in shown for text in texts(name, **values))

"""An error whose cause is not known, as a report shows it: a line, and what is known in a fold."""

from collections.abc import Iterator

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Handover
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.publish import handover_text as say
from nightwatch_core.publish.permalinks import Permalinks
from nightwatch_core.report.blocks import (
    Bullets,
    Entry,
    Excerpts,
    Fact,
    Facts,
    Section,
    cut,
    section,
)
from nightwatch_core.report.excerpts import CodeLine, Excerpt
from nightwatch_core.report.limits import CODE_LINE, LONG, NAME, TEXT, TITLE, Limits
from nightwatch_core.text.escaping import line, shown

FOLD = "What is known"
STEPS = 8  # all that a handover holds, in the shortest rendering too


def in_detail(analysis: Analysis, report: RunReport, limits: Limits) -> bool:
    """Whether an analysis is a finding; one without a cause may be but a line."""
    alone = limits.handovers == "alone" and len(report.analyses) == 1
    return analysis.has_cause or limits.handovers == "all" or alone


def handover_entry(analysis: Analysis) -> Entry:
    """The error in one line."""
    count = f"{analysis.case.occurrences:,}"
    return Entry(head=f"{line(analysis.case.title, TITLE)} ({count})", text=gist(analysis))


def gist(analysis: Analysis) -> str:
    """Where it failed, on what, who wrote that, and where to look next, in one line.

    >>> from nightwatch_core.models.error import Case, ErrorGroup
    >>> of = Case(leader=ErrorGroup(fingerprint="v1:0", source="file", error_class="E"))
    >>> known = Handover(path="a.py", line=3, value="'EUR'", look_at=("Who calls it?",))
    >>> gist(Analysis(case=of, title="", root_cause="", confidence="low", handover=known))
    "failed in a.py:3; 'EUR'; next: Who calls it?"
    """
    given = analysis.handover or Handover()
    texts = (
        failed_in(given),
        line(given.value, NAME),
        f"last written by {line(given.last_change, NAME)}" if given.last_change.strip() else "",
        f"next: {line(next(iter(given.look_at), ''), TEXT)}" if given.look_at else "",
    )
    said = line(analysis.case.leader.message, TEXT)
    only = f"nothing is known but what it says: {said}" if said else "nothing is known"
    return line("; ".join(filter(None, texts)), LONG) or only


def short_gist(given: Handover) -> str:
    """What is not known, and where it failed, in a line; a place is named once.

    >>> known = Handover(path="a.py", line=3, lines=("f(x.y)",), first_line=3)
    >>> short_gist(known), short_gist(known.model_copy(update={"unknown": "why a.py:3 fails"}))
    ('Failed in a.py:3 `f(x.y)`', 'Not known: why a.py:3 fails: `f(x.y)`')
    """
    what, where = line(say.short_handover(given), TEXT), failed_in(given)
    if not given.unknown.strip():
        return f"{where[:1].upper()}{where[1:]}"
    place = line(say.place_of(given), TITLE)
    if place and place in what:
        row = where.removeprefix(f"failed in {place}").strip()
        return f"{what.rstrip('.')}: {row}" if row else what
    return " ".join(filter(None, (what, f"{where[:1].upper()}{where[1:]}")))


def failed_in(given: Handover) -> str:
    """Where it failed, with the line itself; empty where that is not known."""
    row, place = line(say.failing_row(given), NAME), line(say.place_of(given), TITLE)
    code = f" `{row}`" if row and "`" not in row else ""
    return f"failed in {place}{code}" if place else ""


def handover_sections(analysis: Analysis, links: Permalinks, limits: Limits) -> Iterator[Section]:
    """What is known, and what a person would look at next."""
    given, many = analysis.handover or Handover(), limits.texts
    said = analysis.case.leader.message if "message" in limits.without else ""
    facts = (("Message", said), *say.handover_facts(given))
    known = tuple(Fact(name=n, text=line(text, TEXT)) for n, text in facts if line(text, TEXT))
    yield section("handover", "", *((Facts(items=known),) if known else ()))
    yield section("lines", "The failing line", cut(Excerpts, _lines(given, links), 1))
    yield _listed("look", "To look at next", given.look_at, STEPS)
    claims = () if given.unknown or not analysis.root_cause.strip() else (analysis.root_cause,)
    undecided = (
        " ".join(filter(None, parts.explained(one.statement, one.because)))
        for one in parts.open_explanations(analysis)
    )
    yield _listed("unproved", "Said, and not proved", (*claims, *undecided), many)


def _lines(given: Handover, links: Permalinks) -> Iterator[Excerpt]:
    if not given.lines:
        return
    rows = tuple(
        CodeLine(text=shown(text)[:CODE_LINE], number=number)
        for number, text in enumerate(given.lines, given.first_line or 1)
    )
    yield Excerpt(
        place=line(say.place_of(given), TITLE),
        address=links.line(given.path, given.line) if given.line else "",
        lines=rows,
    )


def _listed(kind: str, title: str, texts: tuple[str, ...], limit: int) -> Section:
    return section(kind, title, cut(Bullets, (line(each, LONG) for each in texts), limit))

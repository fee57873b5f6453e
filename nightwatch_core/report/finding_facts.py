"""Facts of a finding: when and where it was seen, how it was found, what it cost."""

from collections.abc import Iterator, Sequence

from nightwatch_core.models.analysis import Analysis, KeptBack
from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import Case
from nightwatch_core.models.run_context import HandedFact
from nightwatch_core.models.trace import Trace
from nightwatch_core.publish import finding_parts as parts
from nightwatch_core.report.blocks import Fact
from nightwatch_core.report.limits import NAME, TEXT, TITLE, TRACE
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.units import caching, moment, plural, spending


def proved(analysis: Analysis) -> str:
    """How often as sure a finding proved right here; empty before that is known."""
    record = analysis.track_record
    if record is None:
        return ""
    lowered = f", lowered from {analysis.said}" if analysis.said else ""
    times = f"{record.right:g} of {record.decided:,} times"
    return f"proved right here {times} when said {record.said}{lowered}"


def seen(case: Case) -> str:
    """How often it was seen, and by how many."""
    users = case.leader.users
    return plural(case.occurrences, "time") + (
        f", {plural(users, 'user')}" if users is not None else ""
    )


def facts(analysis: Analysis, commit: Commit | None) -> Iterator[Fact]:
    """What is known of an error besides its cause; `commit` is one of its repository."""
    case, leader = analysis.case, analysis.case.leader
    code = f"{commit.repository} at {(analysis.commit or commit.sha)[:10]}" if commit else ""
    stands = analysis.standing is not None and analysis.standing.kind == "live"
    when = ""
    if leader.first_seen or leader.last_seen:
        when = f"{moment(leader.first_seen)} to {moment(leader.last_seen)}"
    for name, text in (
        ("Seen", seen(case)),
        ("When", when),
        case.triage_texts,
        ("App", leader.app),
        ("Release", leader.release),
        ("Code", code),
        ("Base branch", parts.standing(analysis).rstrip(".") if stands else ""),
        ("Hosts", ", ".join(leader.hosts[:5])),
        ("Source", leader.source),
        ("Fingerprint", leader.fingerprint),
    ):
        if text:
            yield Fact(name=line(name, NAME), text=line(text, TITLE))


def how(analysis: Analysis) -> Iterator[Fact]:
    """How it was found, and at what cost."""
    passes = f" in {analysis.passes} passes" if analysis.passes > 1 else ""
    turns = plural(analysis.iterations, "turn")
    more = len(analysis.read) - 12
    left = f" and {more} more" if more > 0 else ""
    gate = analysis.gate
    for name, text in (
        ("Score", f"{analysis.score:.2f} of 1"),
        ("Work", f"{turns}{passes}, {spending(analysis.usage)}"),
        ("Proof", spending(gate.usage) if gate and gate.usage.calls else ""),
        ("Analyst", analysis.model),
        ("Files read", line(", ".join(analysis.read[:12]), 900) + left),
        ("Files asked for in vain", f"{analysis.missed:,}" if analysis.missed else ""),
        ("Code cache", caching(analysis.code_reads) if analysis.code_reads else ""),
        ("Told of other errors", "; ".join(map(_handed, analysis.handed))),
        ("Read at commit", analysis.commit),
        ("Tags", ", ".join(analysis.tags)),
    ):
        if text:
            yield Fact(name=name, text=line(text, 1_000))


def _handed(fact: HandedFact) -> str:
    """A fact of another error, and what the finding made of it.

    >>> _handed(HandedFact(text="the setting `TAX_URL` is not set", because="its source names it"))
    'the setting `TAX_URL` is not set (because its source names it; not used)'
    """
    used = f"used: {fact.used}" if fact.used else "not used"
    return f"{fact.text} (because {fact.because}; {used})"


def news(analysis: Analysis) -> str:
    """What a reused finding waits for, or why a known error was looked at again."""
    again = f"Looked at again: {analysis.news}" if analysis.news else ""
    return line(analysis.waiting or again, TEXT)


def kept_back(part: KeptBack) -> str:
    """What was kept back, and the order from outside that it repeats."""
    return f"a {part.part}, which repeats an order from outside: {ascii(part.order)[1:-1]}"


def ending(analysis: Analysis) -> str:
    """That an analysis was cut short."""
    if analysis.ending.kind != "wrapped up":
        return ""
    return line(f"Wrapped up early: {analysis.ending.detail or 'a limit was reached'}", TEXT)


def hourly(case: Case) -> Sequence[int]:
    """Occurrences of all groups of a case, by hour."""
    hours = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, hours), default=0)
    return tuple(sum(each[at] for each in hours if at < len(each)) for at in range(length))


def trace_text(trace: Trace | None) -> str:
    """The trace as it came, else its frames."""
    if trace is None:
        return ""
    frames = (f"{frame.place} {frame.function}".rstrip() for frame in trace.frames[:60])
    return block(trace.raw or "\n".join(frames), TRACE, code=True)

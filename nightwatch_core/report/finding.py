"""One analysis as a finding of the report."""

from collections.abc import Iterable, Iterator, Sequence

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Hypothesis, Learning
from nightwatch_core.models.code import Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.trace import Trace
from nightwatch_core.report.blocks import (
    Bullets,
    Command,
    Excerpts,
    Fact,
    Facts,
    Finding,
    Paragraphs,
    Publications,
    Section,
    Verbatim,
    cut,
    section,
)
from nightwatch_core.report.error_rows import NO_CAUSE, known_since
from nightwatch_core.report.excerpts import evidence_excerpt, fix_excerpt
from nightwatch_core.report.limits import CAUSE, LONG, MESSAGE, NAME, TEXT, TITLE, TRACE, Limits
from nightwatch_core.report.publications import Publication, capture_command, one_command
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.units import caching, moment, plural, rebinned, spending


def finding(
    rank: int,
    analysis: Analysis,
    publications: tuple[Publication, ...],
    receipts: tuple[Receipt, ...],
    limits: Limits,
) -> Finding:
    """Everything the morning reader wants to know about one analysis."""
    case = analysis.case
    known = known_since(analysis)
    without = limits.without | (limits.without_if_known if known else frozenset())
    return Finding(
        rank=rank,
        anchor=f"error-{rank}",
        title=line(analysis.title, TITLE) or line(case.title, TITLE),
        error=line(case.leader.error_class, NAME),
        where=line(case.leader.transaction, TITLE),
        seen=_seen(case),
        confidence=analysis.confidence,
        proved=_proved(analysis),
        hourly=rebinned(_hourly(case)),
        known=known,
        news=_news(analysis),
        team=line(": ".join(filter(None, case.triage_texts)), TEXT),
        regression=case.regressed,
        publications=publications,
        sections=tuple(
            each
            for each in _sections(analysis, publications, receipts, limits)
            if each.blocks and each.kind not in without
        ),
    )


def _sections(
    analysis: Analysis,
    publications: tuple[Publication, ...],
    receipts: tuple[Receipt, ...],
    limits: Limits,
) -> Iterator[Section]:
    case, many = analysis.case, limits.texts
    yield section("facts", "", Facts(items=tuple(_facts(case))[: limits.facts]))
    if message := block(case.leader.message, MESSAGE):
        yield section("message", "", Verbatim(text=message))
    cause = Paragraphs(text=block(analysis.root_cause, CAUSE) or NO_CAUSE, remark=_ending(analysis))
    yield section("cause", "Root cause", cause)
    evidence = (evidence_excerpt(each, limits.code_lines) for each in analysis.evidence)
    yield section("evidence", "Evidence", cut(Excerpts, evidence, limits.evidence))
    fix = (fix_excerpt(each, limits.code_lines) for each in analysis.fix)
    yield section("fix", "Proposed fix", cut(Excerpts, fix, limits.files))
    yield _bullets("considered", "Considered", map(_hypothesis, analysis.hypotheses), many)
    yield _bullets("suspects", "Suspects", map(_suspect, analysis.suspects), limits.suspects)
    yield _bullets("next", "Next steps", analysis.next_steps, many)
    also = (f"{line(each.title)} ({each.occurrences:,})" for each in case.others)
    yield _bullets("also", "Also this error", also, many)
    yield _bullets("learned", "Learned", map(_learning, analysis.learnings), many)
    files = ", ".join(line(each.path, TITLE) for each in analysis.fix[: limits.files])
    verdict = Fact(name="Fix", text=f"yes, in {files}" if files else "no")
    yield section("verdict", "", Facts(items=(verdict,)))
    yield section("done", "What was done", cut(Publications, publications, len(publications)))
    if capture := capture_command(analysis, receipts):
        yield section("capture", "", Command(name="Capture what was learned", text=capture))
    because = tuple(line(each, LONG) for each in analysis.because[:many])
    how = Facts(items=tuple(_how(analysis))[: limits.how], because=because)
    yield Section(kind="how", title="How it was found", blocks=(how,), folded=True)
    if again := one_command(case.fingerprint):
        yield section("again", "", Command(name="Again", text=again))
    if trace := _trace(case.trace):
        yield section("trace", "", Verbatim(name="Stack trace", text=trace))


def _bullets(kind: str, title: str, texts: Iterable[str], limit: int) -> Section:
    return section(kind, title, cut(Bullets, (line(each, LONG) for each in texts), limit))


def _proved(analysis: Analysis) -> str:
    """How often as sure a finding proved right here; empty before that is known."""
    record = analysis.track_record
    if record is None:
        return ""
    lowered = f", lowered from {analysis.said}" if analysis.said else ""
    times = f"{record.right:g} of {record.decided:,} times"
    return f"proved right here {times} when said {record.said}{lowered}"


def _seen(case: Case) -> str:
    users = case.leader.users
    return plural(case.occurrences, "time") + (
        f", {plural(users, 'user')}" if users is not None else ""
    )


def _facts(case: Case) -> Iterator[Fact]:
    leader = case.leader
    when = ""
    if leader.first_seen or leader.last_seen:
        when = f"{moment(leader.first_seen)} to {moment(leader.last_seen)}"
    for name, text in (
        ("Seen", _seen(case)),
        ("When", when),
        case.triage_texts,
        ("App", leader.app),
        ("Release", leader.release),
        ("Hosts", ", ".join(leader.hosts[:5])),
        ("Source", leader.source),
        ("Fingerprint", leader.fingerprint),
    ):
        if text:
            yield Fact(name=line(name, NAME), text=line(text, TITLE))


def _how(analysis: Analysis) -> Iterator[Fact]:
    passes = f" in {analysis.passes} passes" if analysis.passes > 1 else ""
    turns = plural(analysis.iterations, "turn")
    more = len(analysis.read) - 12
    left = f" and {more} more" if more > 0 else ""
    for name, text in (
        ("Score", f"{analysis.score:.2f} of 1"),
        ("Work", f"{turns}{passes}, {spending(analysis.usage)}"),
        ("Analyst", analysis.model),
        ("Files read", line(", ".join(analysis.read[:12]), 900) + left),
        ("Files asked for in vain", f"{analysis.missed:,}" if analysis.missed else ""),
        ("Code cache", caching(analysis.code_reads) if analysis.code_reads else ""),
        ("Suspect commit", analysis.suspect_commit),
        ("Read at commit", analysis.commit),
        ("Tags", ", ".join(analysis.tags)),
    ):
        if text:
            yield Fact(name=name, text=line(text, 1_000))


def _news(analysis: Analysis) -> str:
    """What a reused finding waits for, or why a known error was looked at again."""
    again = f"Looked at again: {analysis.news}" if analysis.news else ""
    return line(analysis.waiting or again, TEXT)


def _ending(analysis: Analysis) -> str:
    if analysis.ending.kind != "wrapped up":
        return ""
    return line(f"Wrapped up early: {analysis.ending.detail or 'a limit was reached'}", TEXT)


def _hypothesis(hypothesis: Hypothesis) -> str:
    because = f": {hypothesis.because}" if hypothesis.because else ""
    return f"{hypothesis.standing}: {hypothesis.statement}{because}"


def _learning(learning: Learning) -> str:
    return f"{learning.fact} ({learning.path})" if learning.path else learning.fact


def _suspect(suspect: Suspect) -> str:
    pull = suspect.pull
    author = f" by {pull.author}" if pull.author else ""
    because = f": {'; '.join(suspect.because)}" if suspect.because else ""
    return f"{pull.name} “{pull.title}”{author}, merged {moment(pull.merged_at)}{because}"


def _hourly(case: Case) -> Sequence[int]:
    hours = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, hours), default=0)
    return tuple(sum(each[at] for each in hours if at < len(each)) for at in range(length))


def _trace(trace: Trace | None) -> str:
    if trace is None:
        return ""
    frames = (f"{frame.place} {frame.function}".rstrip() for frame in trace.frames[:60])
    return block(trace.raw or "\n".join(frames), TRACE, code=True)

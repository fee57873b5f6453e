"""One analysis as a card and as a line of the table."""

import re
from collections.abc import Iterable

from nightwatch_core.models.analysis import Analysis, Hypothesis, Learning
from nightwatch_core.models.code import Suspect
from nightwatch_core.models.error import Case, Trace
from nightwatch_core.models.proposal import Receipt, Skip
from nightwatch_core.report.code import diff, snippet
from nightwatch_core.report.hints import capture, command, proved
from nightwatch_core.report.values import Card, Done, Fact, Row
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.words import caching, capped, first, moment, plural, rebinned, spending

NAMES = {
    "issue": "issue",
    "comment": "comment on issue",
    "reopen": "reopened issue",
    "pull": "draft pull request",
}
SHORT = ("draft pull request", "draft PR")  # in the table
STANDINGS = {  # what a receipt's status adds to its name
    "done": "",
    "already there": " (already there)",
    "refused": " refused",
    "unknown": " unconfirmed",
    "held back": " held back (dry run)",
}
_SENTENCE = re.compile(r"(.{20,}?[.!?])\s")


def card(
    rank: int, analysis: Analysis, done: tuple[Done, ...], receipts: tuple[Receipt, ...] = ()
) -> Card:
    """Everything the morning reader wants to know about one analysis."""
    case = analysis.case
    return Card(
        rank=rank,
        anchor=f"error-{rank}",
        title=line(analysis.title, 200) or line(case.title, 200),
        error=line(case.leader.error_class, 120),
        where=line(case.leader.transaction, 160),
        facts=tuple(_facts(case)),
        also=capped([f"{line(each.title)} ({each.occurrences:,})" for each in case.others], 10),
        hourly=rebinned(_hourly(case)),
        message=block(case.leader.message, 800),
        known=known_since(analysis),
        news=_news(analysis),
        team=line(case.triage_text, 300),
        regression=case.regressed,
        cause=block(analysis.root_cause, 6_000),
        confidence=analysis.confidence,
        proved=proved(analysis),
        because=_lines(analysis.because, 8),
        ending=_ending(analysis),
        evidence=first([snippet(each) for each in analysis.evidence], 12),
        fix=first([diff(each) for each in analysis.fix], 10),
        hypotheses=capped([_hypothesis(each) for each in analysis.hypotheses], 10),
        suspects=capped([_suspect(each) for each in analysis.suspects], 3),
        next_steps=_lines(analysis.next_steps, 10),
        learnings=capped([_learning(each) for each in analysis.learnings], 5),
        done=done,
        how=tuple(_how(analysis)),
        trace=_trace(case.trace),
        again=command(case.fingerprint),
        capture=capture(analysis, receipts),
    )


def row(rank: int, analysis: Analysis, done: tuple[Done, ...]) -> Row:
    """The analysis in one line."""
    known = known_since(analysis)
    back = "regression" if analysis.case.regressed else ""
    made = ", ".join(each.text for each in done if each.ok)
    waiting = ", ".join(each.text for each in done if each.text.endswith(" waits"))
    undone = ", ".join(each.text for each in done)  # of a known error it goes without saying
    published = made or waiting or ("" if analysis.ending.kind == "reused" else undone)
    return Row(
        rank=rank,
        anchor=f"error-{rank}",
        error=line(analysis.case.leader.error_class, 80),
        where=line(analysis.case.leader.transaction, 120),
        count=analysis.case.occurrences,
        cause=sentence(analysis.root_cause) or line(analysis.title, 200) or "no cause found",
        confidence=analysis.confidence,
        done=line("; ".join(filter(None, (back, known, published))), 200).replace(*SHORT) or "–",
        known=bool(known),
    )


def published(
    names: Iterable[str], receipts: tuple[Receipt, ...], skips: tuple[Skip, ...]
) -> tuple[Done, ...]:
    """What was published for an error known by `names`, then what was not, with reasons."""
    known = frozenset(names)
    return (
        *(_receipt(each) for each in receipts if each.fingerprint in known),
        *(_skip(each) for each in skips if each.fingerprint in known),
    )


def known_since(analysis: Analysis) -> str:
    """Since when a reused finding is known, as the recall said; empty for a fresh one."""
    if analysis.ending.kind != "reused":
        return ""
    said = (*analysis.because, analysis.ending.detail)
    return next((line(each, 160) for each in said if "known since" in each.lower()), "known")


def sentence(text: str, limit: int = 200) -> str:
    """The first sentence.

    >>> sentence("The rate is missing in rates.py. So the sum fails.")
    'The rate is missing in rates.py.'
    """
    flat = line(text, 600)
    found = _SENTENCE.match(flat)
    return line(found.group(1) if found else flat, limit)


def _receipt(receipt: Receipt) -> Done:
    number = f" #{receipt.number}" if receipt.number is not None else ""
    name = NAMES.get(receipt.kind, line(receipt.kind, 40))
    return Done(
        text=f"{name}{number}{STANDINGS[receipt.status]}",
        address=line(receipt.url, 500),
        note=line(receipt.reason or receipt.title, 300),
        ok=receipt.status in ("done", "already there"),
    )


def _skip(skip: Skip) -> Done:
    name = NAMES.get(skip.kind, line(skip.kind, 40))
    text = f"{name} waits" if skip.reason.startswith("limit of") else f"no {name}"
    return Done(text=text, note=line(skip.reason, 300), ok=False)


def _facts(case: Case) -> Iterable[Fact]:
    leader = case.leader
    users = f", {plural(leader.users, 'user')}" if leader.users is not None else ""
    yield Fact(name="Seen", text=f"{plural(case.occurrences, 'time')}{users}")
    if leader.first_seen or leader.last_seen:
        seen = f"{moment(leader.first_seen)} to {moment(leader.last_seen)}"
        yield Fact(name="When", text=seen)
    for name, text in (
        ("Errors Inbox", case.triage_text),
        ("App", leader.app),
        ("Release", leader.release),
        ("Hosts", ", ".join(leader.hosts[:5])),
        ("Source", leader.source),
        ("Fingerprint", leader.fingerprint),
    ):
        if text:
            yield Fact(name=name, text=line(text, 200))


def _how(analysis: Analysis) -> Iterable[Fact]:
    turns = plural(analysis.iterations, "turn")
    passes = f" in {analysis.passes} passes" if analysis.passes > 1 else ""
    yield Fact(name="Score", text=f"{analysis.score:.2f} of 1")
    yield Fact(name="Work", text=f"{turns}{passes}, {spending(analysis.usage)}")
    if analysis.model:
        yield Fact(name="Analyst", text=line(analysis.model, 80))
    if analysis.read:
        left = f" and {len(analysis.read) - 12} more" if len(analysis.read) > 12 else ""
        yield Fact(name="Files read", text=line(", ".join(analysis.read[:12]), 900) + left)
    if analysis.missed:
        yield Fact(name="Files asked for in vain", text=f"{analysis.missed:,}")
    if analysis.code_reads:
        yield Fact(name="Code cache", text=caching(analysis.code_reads))
    if analysis.suspect_commit:
        yield Fact(name="Suspect commit", text=line(analysis.suspect_commit, 80))
    if analysis.commit:
        yield Fact(name="Read at commit", text=line(analysis.commit, 80))
    if analysis.tags:
        yield Fact(name="Tags", text=line(", ".join(analysis.tags), 200))


def _news(analysis: Analysis) -> str:
    """What a reused finding waits for, or why a known error was looked at again."""
    again = f"Looked at again: {analysis.news}" if analysis.news else ""
    return line(analysis.waiting or again, 300)


def _ending(analysis: Analysis) -> str:
    if analysis.ending.kind != "wrapped up":
        return ""
    return line(f"Wrapped up early: {analysis.ending.detail or 'a limit was reached'}", 300)


def _hypothesis(hypothesis: Hypothesis) -> str:
    because = f": {hypothesis.because}" if hypothesis.because else ""
    return line(f"{hypothesis.standing}: {hypothesis.statement}{because}", 500)


def _learning(learning: Learning) -> str:
    return line(f"{learning.fact} ({learning.path})" if learning.path else learning.fact, 400)


def _suspect(suspect: Suspect) -> str:
    pull = suspect.pull
    name = f"pull request #{pull.number}" if pull.number else f"commit {pull.sha[:12]}"
    author = f" by {pull.author}" if pull.author else ""
    because = f": {'; '.join(suspect.because)}" if suspect.because else ""
    merged = f", merged {moment(pull.merged_at)}"
    return line(f"{name} “{pull.title}”{author}{merged}{because}", 600)


def _hourly(case: Case) -> tuple[int, ...]:
    hours = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, hours), default=0)
    return tuple(sum(each[at] for each in hours if at < len(each)) for at in range(length))


def _trace(trace: Trace | None) -> str:
    if trace is None:
        return ""
    frames = (f"{frame.place} {frame.function}".rstrip() for frame in trace.frames[:60])
    return block(trace.raw or "\n".join(frames), 8_000, code=True)


def _lines(texts: tuple[str, ...], limit: int) -> tuple[str, ...]:
    return capped([line(each, 500) for each in texts], limit)

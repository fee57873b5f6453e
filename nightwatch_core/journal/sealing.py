"""A night sealed: a manifest with its questions and decisions, and the texts that it names."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.decisions import Writes, decisions
from nightwatch_core.journal.pieces import (
    Cutter,
    blanked,
    canonical,
    joined,
    name_of,
    reached,
    references,
)
from nightwatch_core.journal.questions import asking
from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.journal.recorder import OPAQUE
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.journal import Asked, Bundle, Event, Manifest, RunHeader, Told
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.privacy.scrubber import Scrub

SCHEMA = 2  # raised when an older NightWatch could not read what is written
NIGHT = "night"  # the port of events about the night itself
BEGUN, DECIDED = "begin", "decide"


class Begun(Value):
    """What a journal says where a night begins."""

    night: Night
    ports: tuple[str, ...] = ()  # that it has


def write_begun(journal: Journal, begun: Begun, at: datetime, scrub: Scrub) -> None:
    """Write into the journal which night it is of."""
    texts: dict[str, str] = {}
    text = Cutter(scrub, texts.__setitem__).cut(begun)
    event = Event(at=at, port=NIGHT, call=BEGUN, answer=name_of(text))
    journal.add(event, {**texts, name_of(text): text})


def write_decisions(
    journal: Journal, report: RunReport, writes: Writes, at: datetime, scrub: Scrub
) -> None:
    """Write into the journal what a run decided."""
    texts: dict[str, str] = {}
    text = asking(scrub, texts.__setitem__).cut(decisions(report, writes))
    event = Event(at=at, port=NIGHT, call=DECIDED, answer=name_of(text))
    journal.add(event, {**texts, name_of(text): text})


def sealed(journal: NightJournal) -> list[str]:
    """Return the lines of a bundle: the manifest, and the texts that it refers to.

    Of a question that several runs asked in one step, the last run's answers count. Raises `GiveUp`
    for a night that never came to its end.
    """
    begun = [event for event in journal.events if (event.port, event.call) == (NIGHT, BEGUN)]
    decided = [event for event in journal.events if (event.port, event.call) == (NIGHT, DECIDED)]
    if not journal.runs:
        raise GiveUp("no journal of this night is there: see `nightwatch history`")
    if not begun or not decided:
        raise GiveUp("the night has no end in its journal: nothing can be compared with it")
    texts = dict(journal.texts)
    answers, lost = _answers(journal, texts)
    last: RunHeader = journal.runs[-1]
    opening = Begun.model_validate(journal.value(begun[-1].answer))
    night, ports = opening.night, opening.ports
    manifest = Manifest(
        made=decided[-1].at,
        began=last.began,
        program=last.program,
        night=night,
        options=last.options,
        settings=last.settings,
        ports=ports,
        runs=len(journal.runs),
        missing=_missing(night, journal, lost),
        decided=name_of(canonical(journal.value(decided[-1].answer))),
        decisions=json.loads(texts[decided[-1].answer]),
        asked=answers,
    )
    plain = manifest.model_dump(mode="json")
    needed = reached(references(plain), texts)
    return [canonical(plain), *(text for name, text in texts.items() if name in needed)]


def _answers(journal: NightJournal, texts: dict[str, str]) -> tuple[tuple[Asked, ...], int]:
    """Return every question with its answers, and how many were lost."""
    kept: dict[tuple[str, str, str], tuple[int, list[Event]]] = {}
    for run, event in journal.by_run():
        if event.port != NIGHT and event.asked and not event.to:
            key = f"{event.port}.{event.call}", event.step, event.asked
            earlier, events = kept.get(key, (run, []))
            kept[key] = run, [*(events if earlier == run else ()), event]
    every, lost = [], 0
    for (name, step, asked), (_, events) in sorted(kept.items()):
        if asked not in texts or any(event.answer not in texts for event in events):
            lost += 1
            continue
        told = [_told(event, texts) for event in events]
        question = json.loads(texts[asked])
        every.append(Asked(name=name, step=step, arguments=question, answers=_distinct(told)))
    whole = tuple(
        item
        for item in every
        if reached(references(item.model_dump(mode="json")), texts) <= texts.keys()
    )
    return whole, lost + len(every) - len(whole)


def _told(event: Event, texts: dict[str, str]) -> Told:
    value = json.loads(texts[event.answer])
    if event.call == "reply":
        value = _without_opaque(value, texts)
    waited = event.ms / 1_000 if event.call == "reply" else 0.0
    return Told(kind=event.kind, json_value=value, seconds=waited)


def _without_opaque(value: Any, texts: dict[str, str]) -> Any:
    """Return a reply without what only the model's service reads, which is not masked."""
    plain = blanked(joined(value, texts), OPAQUE)
    return json.loads(Cutter(str, texts.__setitem__).cut(plain))


def _distinct(answers: list[Told]) -> tuple[Told, ...]:
    """Drop equal answers at the end: a replay repeats the last one."""
    texts = [(answer.kind, canonical(answer.json_value)) for answer in answers]
    last = len(answers)
    while last > 1 and texts[last - 1] == texts[last - 2] and answers[last - 1].kind == "value":
        last -= 1
    return tuple(answers[:last])


def _missing(night: Night, journal: NightJournal, lost: int) -> tuple[str, ...]:
    early = night.resumed and len(journal.runs) == 1
    return tuple(
        text
        for text, holds in (
            ("the answers that an earlier run of this night got", early),
            (f"{lost} answers and {journal.torn} torn lines of the journal", lost or journal.torn),
        )
        if holds
    )


def bundle_of(lines: Iterable[str]) -> Bundle:
    """Return a bundle of lines that were just made."""
    rows = list(lines)
    return opened(name_of(rows[0]), rows, sum(map(len, rows)))


def opened(root: str, lines: Iterable[str], size: int) -> Bundle:
    """Read the lines of a bundle; raises `GiveUp` where a digest does not fit."""
    rows = iter(lines)
    first = next(rows, "")
    if name_of(first) != root:
        raise GiveUp("the bundle was changed: its first line does not have the digest in its name")
    pieces = {name_of(text): text for text in rows}
    try:
        plain = json.loads(first)
        needed = reached(references(plain), pieces)
        manifest = Manifest.model_validate(plain)
    except (ValueError, RecursionError) as trouble:
        raise GiveUp(f"the bundle cannot be read: {str(trouble)[:200]}") from None
    if lacking := needed - pieces.keys():
        raise GiveUp(f"the bundle was changed: {len(lacking)} of its pieces are missing")
    if more := pieces.keys() - needed:
        raise GiveUp(f"the bundle was changed: {len(more)} pieces in it belong to nothing")
    text = len(first) + sum(map(len, pieces.values()))
    bundle = Bundle(root=root, manifest=manifest, pieces=pieces, bytes=size, text=text)
    if name_of(canonical(decided(bundle))) != manifest.decided:
        raise GiveUp("the bundle was changed: its decisions do not have the digest of the manifest")
    return bundle


def decided(bundle: Bundle) -> Any:
    """Return the decisions of a bundle (`decisions.py`)."""
    return joined(bundle.manifest.decisions, bundle.pieces)

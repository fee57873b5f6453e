"""Turns the journal of a night into a bundle: a manifest, and the pieces that it names.

A journal has lines: `R` where a run began, `P` and a piece, `T` and a question with its answer.
A line that was cut by a kill is skipped and counted as missing.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Asked, Bundle, Manifest, Night, RunReport, Told
from nightwatch_core.privacy.scrubber import Scrub
from nightwatch_core.replay.decisions import Writes, decisions
from nightwatch_core.replay.record import asking, canonical, joined, name_of, reached, references

RUN, PIECE, ANSWER = "R", "P", "T"
SCHEMA = 1  # raised when an older NightWatch could not read what is written


@dataclass
class Journal:
    """The contents of a journal."""

    pieces: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    torn: int = 0
    answers: dict[tuple[str, str], tuple[int, list[Told]]] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Add a line; where several runs asked a question, the last run's answers count."""
        sign, rest = line[:1], line[1:]
        if sign == RUN:
            self.runs += 1
        elif sign == PIECE:
            self.pieces[name_of(rest)] = rest
        else:
            row = json.loads(rest)
            name, arguments, kind, value, seconds = row
            run, answers = self.answers.get((name, canonical(arguments)), (0, []))
            if run != self.runs:
                answers = []
            answers.append(Told(kind=kind, json_value=value, seconds=seconds))
            self.answers[name, canonical(arguments)] = self.runs, answers

    def asked(self) -> tuple[Asked, ...]:
        """Return every question with its answers."""
        return tuple(
            Asked(name=name, arguments=json.loads(arguments), answers=_without_repeats(answers))
            for (name, arguments), (_, answers) in sorted(self.answers.items())
        )


def read_journal(lines: Iterable[str]) -> Journal:
    """Read the readable lines of a journal."""
    journal = Journal()
    for line in lines:
        try:
            journal.add(line)
        except (ValueError, TypeError):
            journal.torn += 1
    return journal


class Run(NamedTuple):
    """The run that seals a night."""

    made: datetime
    began: datetime
    program: str
    night: Night
    options: NightOptions
    settings: dict[str, str]
    ports: tuple[str, ...]


def sealed(
    journal: Journal, run: Run, report: RunReport, writes: Writes, scrub: Scrub
) -> list[str]:
    """Return the lines of a bundle: the manifest, and the pieces that it refers to.

    A question whose pieces were lost is left out, and counted as missing.
    """
    pieces = journal.pieces
    text = asking(scrub, pieces.__setitem__).cut(decisions(report, writes))
    every = journal.asked()
    whole = tuple(
        asked
        for asked in every
        if reached(references(asked.model_dump(mode="json")), pieces) <= pieces.keys()
    )
    manifest = Manifest(
        **run._asdict() | {"settings": {name: scrub(text) for name, text in run.settings.items()}},
        runs=journal.runs,
        missing=_missing(run.night, journal, len(every) - len(whole)),
        decided=name_of(canonical(joined(json.loads(text), pieces))),
        decisions=json.loads(text),
        asked=whole,
    )
    plain = manifest.model_dump(mode="json")
    needed = reached(references(plain), pieces)
    return [canonical(plain), *(text for name, text in pieces.items() if name in needed)]


def _missing(night: Night, journal: Journal, lost: int) -> tuple[str, ...]:
    early = night.resumed and journal.runs == 1
    return tuple(
        text
        for text, holds in (
            ("the answers that an earlier run of this night got", early),
            (f"{lost} answers and {journal.torn} torn lines of the journal", lost or journal.torn),
        )
        if holds
    )


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


def _without_repeats(answers: list[Told]) -> tuple[Told, ...]:
    """Drop equal answers at the end: a replay repeats the last one."""
    texts = [(answer.kind, canonical(answer.json_value)) for answer in answers]
    last = len(answers)
    while last > 1 and texts[last - 1] == texts[last - 2] and answers[last - 1].kind == "value":
        last -= 1
    return tuple(answers[:last])

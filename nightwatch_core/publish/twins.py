"""Errors of one night with one cause: they share an issue and a draft.

One cause is: the same change to the same file, or the same line of the code quoted as the cause.
The line that fails is no cause by itself; what it does may have several.
"""

import re
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby
from typing import NamedTuple

from nightwatch_core.code.verdict import advantage
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.publish.candidates import known_item, names_of
from nightwatch_core.publish.finding_parts import shown_changes
from nightwatch_core.publish.markers import MOST_NAMES

_LEAST = 8  # letters and digits of a change that tells one cause from another
_IMPORT = re.compile(r"(?:import|from|require\w*|use|using|#include)\b")
_AGAINST = ("rejected", "failed_pulls", "settled", "overlaps")  # what is against any counts for all
Sign = tuple[str, ...]  # two analyses that have one in common have one cause


class Share(NamedTuple):
    """Analyses that share an item, which is known already or None; the first speaks for all."""

    members: tuple[Analysis, ...]
    known: OwnItem | None = None

    @property
    def speaker(self) -> Analysis:
        """The finding that is told, with what is known against any of them."""
        return self.members[0].model_copy(update={name: self._every(name) for name in _AGAINST})

    def _every(self, name: str) -> tuple[object, ...]:
        values = (each for one in self.members for each in getattr(one, name))
        return tuple(dict.fromkeys(values))

    @property
    def others(self) -> tuple[Analysis, ...]:
        """Those it speaks for."""
        return self.members[1:]

    @property
    def also(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(one.fingerprint for one in self.others)[:MOST_NAMES]

    @property
    def joining(self) -> tuple[Analysis, ...]:
        """Those that the known item does not list yet."""
        known = self.known
        if known is None:
            return ()
        return tuple(one for one in self.members if known.names.isdisjoint(names_of(one)))


def causes(analyses: Iterable[Analysis]) -> tuple[tuple[Analysis, ...], ...]:
    """Put analyses with one cause together: groups, and each group, in the order they came in."""
    groups: list[tuple[set[Sign], list[tuple[int, Analysis]]]] = []
    for at, analysis in enumerate(analyses):
        signs, members = {*signs_of(analysis)}, [(at, analysis)]
        for group in [one for one in groups if not signs.isdisjoint(one[0])]:
            signs |= group[0]
            members = [*group[1], *members]
            groups.remove(group)
        groups.append((signs, sorted(members, key=lambda member: member[0])))
    groups.sort(key=lambda group: group[1][0][0])
    return tuple(tuple(one for _, one in members) for _, members in groups)


def shares(members: tuple[Analysis, ...], items: tuple[OwnItem, ...]) -> tuple[Share, ...]:
    """Deal the analyses of one cause to the items there are: who has one keeps it.

    Those that have none join an open one of the others, else the newest.
    """
    own = {one.fingerprint: known_item(one, items) for one in members}
    known = sorted(
        {item.number: item for item in own.values() if item}.values(),
        key=lambda item: (item.state != "open", -item.number),
    )
    dealt: dict[int, list[Analysis]] = {}
    for one in members:
        item = own[one.fingerprint] or next(iter(known), None)
        dealt.setdefault(item.number if item else 0, []).append(one)
    numbered = {item.number: item for item in known}
    return tuple(_led(group, numbered.get(number)) for number, group in dealt.items())


def _led(group: list[Analysis], known: OwnItem | None) -> Share:
    """The best of those that have something new to say leads."""
    fresh = [one for one in group if one.ending.kind != "reused"]
    new = [one for one in group if known and known.names.isdisjoint(names_of(one))]
    leader = reduce(_better, (fresh or new or group) if known else group)
    return Share((leader, *(one for one in group if one is not leader)), known)


def _better(one: Analysis, other: Analysis) -> Analysis:
    return other if advantage(one, other) else one


def signs_of(analysis: Analysis) -> Iterator[Sign]:
    """What its cause is recognised by: its changes, and the line it quotes as the cause."""
    if analysis.misfit or not analysis.has_cause:
        return
    yield from _changes(analysis)
    if analysis.confidence != "low":
        yield from _cause_lines(analysis)


def _changes(analysis: Analysis) -> Iterator[Sign]:
    """Each stretch of changed lines, with its file; imports alone say nothing."""
    for file in shown_changes(analysis):
        for is_change, rows in groupby(file.diff.split("\n"), lambda row: row[:1] in ("-", "+")):
            lines = tuple(rows)
            if is_change and _tells([row[1:].strip() for row in lines]):
                yield ("change", file.path, *(" ".join(row.split()) for row in lines))


def _tells(lines: list[str]) -> bool:
    body = [line for line in lines if line and not _IMPORT.match(line)]
    return len(re.findall(r"[^\W_]", "".join(body))) >= _LEAST


def _cause_lines(analysis: Analysis) -> Iterator[Sign]:
    """Quoted lines that the cause names, beside those the trace runs through; else the first."""
    trace = analysis.case.trace
    passed = {(one.repo_path, one.line) for one in trace.in_app} if trace else set()
    quoted = [
        one
        for one in analysis.evidence
        if one.verified and (one.path, one.line) not in passed and _tells([one.quote])
    ]
    named = [one for one in quoted if _is_named(one, analysis.root_cause)]
    for one in named or quoted[:1]:
        yield ("line", analysis.commit, one.path, str(one.line))


def _is_named(evidence: Evidence, cause: str) -> bool:
    name = f"{evidence.path.rpartition('/')[2]}:{evidence.line}"
    return bool(re.search(rf"{re.escape(name)}(?!\d)", cause))

"""Other people's pull requests, and ours for other errors, that a fix would meet.

They are compared by the lines that they change and by the error that they say they are about.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby
from typing import NamedTuple

from nightwatch_core.code.diffs import Change, change_in, file_diffs, holds, meet
from nightwatch_core.code.verdict import advantage
from nightwatch_core.models.analysis import Analysis, BaseBranchStatus
from nightwatch_core.models.code import ChangedFile, OtherPull, Overlap, numbered, sign_of
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.expected_value import Reason, effect_key, known_item, names_of
from nightwatch_core.publish.finding import shown_changes
from nightwatch_core.text.markers import MOST_NAMES
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment

Read = Callable[[str], str | None]
Overlaps = tuple[tuple[str, tuple[Overlap, ...]], ...]  # by fingerprint
_WORDS, _SAID = 20_000, 300  # characters of a body, of a reviewer
_LINES = "already changes these lines"
_ORDER = ("taken", "turned down", "merged", "beside")


def paths_of_fixes(report: RunReport) -> tuple[str, ...]:
    """List the files that fixes of the night may change, each once; none where none is drafted."""
    proposes_drafts = report.options.highest_tier()[0] == "draft"
    fixes = (
        analysis.fix
        for analysis in report.analyses
        if proposes_drafts and analysis.has_cause and not analysis.misfit
    )
    return tuple(dict.fromkeys(edit.path for fix in fixes for edit in fix))


def overlaps(
    analysis: Analysis,
    pulls: Iterable[OtherPull],
    own: tuple[OwnItem, ...],
    options: NightOptions,
    repository: str,
    read: Read,
) -> tuple[Overlap, ...]:
    """Find the pull requests that an analysis's fix meets, what keeps it from a draft first.

    Those of ours that are about this very error are left out: `own` says how they stand. `read`
    gives a file of the base.
    """
    if not analysis.has_fix or not analysis.has_cause:
        return ()
    ours = _changes(file_diffs(analysis.fix, read), read)
    own_pulls = [item for item in own if item.kind == "pull" and names_of(analysis) & item.names]
    made = f"nightwatch/{effect_key('pull', repository, analysis.fingerprint)[:12]}"
    branches = {made, *(item.branch for item in own_pulls if item.branch)}
    numbers = {item.number for item in own_pulls if not item.as_patch}
    others = [
        pull
        for pull in pulls
        if pull.branch not in branches and not (pull.number and pull.number in numbers)
    ]
    is_local = options.delivery == "local"  # whose numbers mean nothing in texts of others
    issue = known_item(analysis, tuple(item for item in own if item.kind == "issue"))
    number = issue.number if issue and not is_local else 0
    found = (_overlap(pull, analysis, ours, number, read) for pull in others)
    return tuple(sorted(filter(None, found), key=lambda item: _ORDER.index(item.kind)))


def _overlap(
    pull: OtherPull, analysis: Analysis, ours: tuple[Change, ...], issue: int, read: Read
) -> Overlap | None:
    theirs = _changes(pull.files, read)
    touches = any(meet(a, b) for a in ours for b in theirs)
    same = holds(theirs, ours)
    found = Overlap(
        kind="beside",
        name=one_line(pull.name),
        because="changes the same lines for another purpose",
        number=pull.number,
        url=pull.url,
    )
    if pull.state == "merged":
        failed = analysis.case.commit.at if analysis.case.commit else None
        if not failed or not pull.merged_at or pull.merged_at <= failed:
            return None
        gone = any(
            a.path == b.path and not a.removed.isdisjoint(b.removed) for a in ours for b in theirs
        )
        update = {"kind": "merged", "sha": pull.sha, "at": pull.merged_at, "because": _LINES}
        return found.model_copy(update=update) if same or gone else None
    if pull.state == "closed":
        last_comment = shortened(one_line(next(reversed(pull.words), "")), _SAID)
        update = {"kind": "turned down", "because": "was rejected", "words": last_comment}
        return found.model_copy(update=update) if same else None
    if same or _is_about(pull, analysis, issue):
        because = _LINES if touches or same else "says it is about this error"
        return found.model_copy(update={"kind": "taken", "because": because})
    return found if touches else None


def _changes(files: Iterable[ChangedFile], read: Read) -> tuple[Change, ...]:
    changes = []
    for file in files:
        is_moved = bool(file.old_path) and read(file.path) is None
        changes.append(change_in(file, file.old_path if is_moved else file.path))
    return tuple(changes)


def _is_about(pull: OtherPull, analysis: Analysis, issue: int) -> bool:
    """Tell whether it names our issue, or the error's class and the place that fails."""
    text = f"{pull.title}\n{pull.body}"[:_WORDS]
    if issue and re.search(rf"(?:(?<![\w/&])#|/issues/){issue}(?!\d)", text):
        return True
    trace = analysis.case.trace
    if trace is None or trace.top is None:
        return False
    top = trace.top
    classes = {analysis.case.leader.error_class, trace.root.error_class}
    places = {re.split(r"[.#:]", top.function)[-1], top.repo_path}
    places.add(top.repo_path.rpartition("/")[2])
    return _names(text, map(last_segment, classes)) and _names(text, places)


def _names(text: str, names: Iterable[str]) -> bool:
    telling = (re.escape(name) for name in names if len(name) > 2)
    return any(re.search(rf"(?<!\w){name}(?!\w)", text) for name in telling)


def with_overlaps(report: RunReport, found: Overlaps) -> RunReport:
    """Add to a report which pull requests its fixes overlap with.

    What was merged after the code that failed awaits its deploy, as `BaseBranchStatus` says it.
    """
    by_fingerprint = dict(found)
    analyses = tuple(
        _met(analysis, by_fingerprint[analysis.fingerprint], report)
        if by_fingerprint.get(analysis.fingerprint)
        else analysis
        for analysis in report.analyses
    )
    return report.model_copy(update={"analyses": analyses}) if by_fingerprint else report


def _met(analysis: Analysis, found: tuple[Overlap, ...], report: RunReport) -> Analysis:
    status = analysis.base_branch_status
    updated = analysis.model_copy(update={"overlaps": found})
    merged = next((overlap for overlap in found if overlap.kind == "merged"), None)
    if merged is None or (status and status.kind == "changed"):
        return updated
    base = report.base or report.commit
    branch = base.branch if base and base.branch else "HEAD"
    day = f" of {merged.at:%Y-%m-%d}" if merged.at else ""
    named = numbered(merged.number, merged.url)
    number = named if merged.number else f"commit {merged.sha[:10]}"
    detail = f"Already changed on {branch} by {number}{day}, awaiting its deploy."
    sign, sha = sign_of(merged.url), merged.sha
    status = BaseBranchStatus(kind="changed", pull=merged.number, sign=sign, sha=sha, detail=detail)
    return updated.model_copy(update={"base_branch_status": status})


def taken(analysis: Analysis) -> Reason | None:
    """Return the reason no draft is made: an overlapping or rejected pull request."""
    for overlap in analysis.overlaps:
        if overlap.kind == "taken":
            return Reason("settled", f"{overlap.name} {overlap.because}")
        if overlap.kind == "turned down":
            comment = f": {overlap.words}" if overlap.words else ""
            return Reason("rejected", f"the same change was rejected in {overlap.name}{comment}")
    return None


# Errors of one night with one cause: they share an issue and a draft.
#
# One cause is: the same change to the same file, or the same line of the code quoted as the cause.
# The line that fails is no cause by itself; what it does may have several.

_LEAST = 8  # letters and digits of a change that tells one cause from another
_IMPORT = re.compile(r"(?:import|from|require\w*|use|using|#include)\b")
_AGAINST = ("rejected", "failed_pulls", "settled", "overlaps")  # what is against any counts for all
Sign = tuple[str, ...]  # two analyses that have one in common have one cause


class Share(NamedTuple):
    """Analyses that share an issue or draft of ours, if there is one; the first speaks for all."""

    members: tuple[Analysis, ...]
    item: OwnItem | None = None

    @property
    def speaker(self) -> Analysis:
        """Return the published finding, with what is known against any of them."""
        against = {
            name: tuple(dict.fromkeys(chain(*(getattr(item, name) for item in self.members))))
            for name in _AGAINST
        }
        return self.members[0].model_copy(update=against)

    @property
    def others(self) -> tuple[Analysis, ...]:
        """Return those it speaks for."""
        return self.members[1:]

    @property
    def also(self) -> tuple[str, ...]:
        """Return the fingerprints of those it speaks for."""
        return tuple(other.fingerprint for other in self.others)[:MOST_NAMES]

    @property
    def is_open(self) -> bool:
        """Tell whether there is an open item."""
        return self.item is not None and self.item.state == "open"

    @property
    def joining(self) -> tuple[Analysis, ...]:
        """Return those that the item does not list yet."""
        listed = self.item.names if self.item else None
        if listed is None:
            return ()
        return tuple(member for member in self.members if listed.isdisjoint(names_of(member)))


def causes(analyses: Iterable[Analysis]) -> tuple[tuple[Analysis, ...], ...]:
    """Put analyses with one cause together: groups, and each group, in the order they came in."""
    groups: list[tuple[set[Sign], list[tuple[int, Analysis]]]] = []
    for at, analysis in enumerate(analyses):
        signs, members = {*_signs_of(analysis)}, [(at, analysis)]
        for group in [group for group in groups if not signs.isdisjoint(group[0])]:
            signs |= group[0]
            members = [*group[1], *members]
            groups.remove(group)
        groups.append((signs, sorted(members, key=lambda member: member[0])))
    groups.sort(key=lambda group: group[1][0][0])
    return tuple(tuple(member for _, member in members) for _, members in groups)


def shares(members: tuple[Analysis, ...], items: tuple[OwnItem, ...]) -> tuple[Share, ...]:
    """Deal the analyses of one cause to the items there are: who has one keeps it.

    Those that have none join an open one of the others, else the newest.
    """
    own = {member.fingerprint: known_item(member, items) for member in members}
    by_number = {item.number: item for item in own.values() if item}
    open_first = sorted(by_number.values(), key=lambda item: (item.state != "open", -item.number))
    dealt: dict[int, list[Analysis]] = {}
    for member in members:
        item = own[member.fingerprint] or next(iter(open_first), None)
        dealt.setdefault(item.number if item else 0, []).append(member)
    return tuple(_led(group, by_number.get(number)) for number, group in dealt.items())


def _led(group: list[Analysis], item: OwnItem | None) -> Share:
    """The share of a group, led by its best analysis; by a fresh one where there is an item."""
    candidates = group
    if item:
        fresh = [member for member in group if member.ending.kind != "reused"]
        new = [member for member in group if item.names.isdisjoint(names_of(member))]
        candidates = fresh or new or group
    leader = candidates[0]
    for other in candidates[1:]:
        leader = other if advantage(leader, other) else leader
    return Share((leader, *(member for member in group if member is not leader)), item)


def _signs_of(analysis: Analysis) -> Iterator[Sign]:
    """The signs of a cause: each stretch of changed lines with its file, and quoted lines."""
    if analysis.misfit or not analysis.has_cause:
        return
    for file in shown_changes(analysis):
        for is_change, rows in groupby(file.diff.split("\n"), lambda row: row[:1] in ("-", "+")):
            lines = tuple(rows)
            if is_change and _tells([row[1:].strip() for row in lines]):
                yield ("change", file.path, *(" ".join(row.split()) for row in lines))
    if analysis.confidence != "low":
        yield from _cause_lines(analysis)


def _tells(lines: list[str]) -> bool:
    """Tell whether lines tell one cause from another: imports alone say nothing."""
    body = [line for line in lines if line and not _IMPORT.match(line)]
    return len(re.findall(r"[^\W_]", "".join(body))) >= _LEAST


def _cause_lines(analysis: Analysis) -> Iterator[Sign]:
    """Quoted lines that the cause names, without those of the trace; else the first."""
    trace = analysis.case.trace
    passed = {(frame.repo_path, frame.line) for frame in trace.in_app} if trace else set()
    quoted = [
        evidence
        for evidence in analysis.evidence
        if evidence.verified
        and (evidence.path, evidence.line) not in passed
        and _tells([evidence.quote])
    ]
    named = []
    for item in quoted:
        place = re.escape(f"{item.path.rpartition('/')[2]}:{item.line}")
        if re.search(rf"{place}(?!\d)", analysis.root_cause):
            named.append(item)
    for item in named or quoted[:1]:
        yield ("line", analysis.commit, item.path, str(item.line))

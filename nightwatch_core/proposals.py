"""Which issues, comments and draft pull requests a night would like to publish, and which not.

Two plans, because a pull request refers to its issue's number: first issues, then pull requests.
"""

import hashlib
from collections.abc import Callable

from nightwatch_core import fixing, issue_text, policy, syntax
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import (
    Comment,
    DraftPull,
    OpenIssue,
    OwnItem,
    Plan,
    Proposal,
    Receipt,
    Reopen,
    Skip,
)

Read = Callable[[str], str | None]
_CONFIDENCE = {"high": 0.3, "medium": 0.15, "low": 0.0}


def candidate_score(analysis: Analysis) -> float:
    """How much an analysis deserves an issue, 0 to 1 (the figures of the design)."""
    return (
        (0.5 if analysis.has_fix else 0.0)
        + _CONFIDENCE[analysis.confidence]
        + (0.1 if analysis.fix else 0.0)
        + (0.05 if analysis.next_steps else 0.0)
        + min(analysis.case.occurrences / 200, 0.1)
    )


def in_order(analyses: tuple[Analysis, ...]) -> tuple[Analysis, ...]:
    """Best candidates first; equal ones as they were ranked."""
    return tuple(sorted(analyses, key=lambda a: -candidate_score(a)))


def effect_key(kind: str, repository: str, *parts: str) -> str:
    """Names an effect for ever.

    >>> effect_key("issue", "shop", "v1:0a") == effect_key("issue", "shop", "v1:0a")
    True
    """
    text = "\n".join((kind, repository, *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan_issues(
    analyses: tuple[Analysis, ...],
    own: tuple[OwnItem, ...],
    options: NightOptions,
    repository: str,
    night: str,
) -> Plan:
    """Issues to open, to comment on, to reopen; the rest with reasons. Limits count what is new."""
    proposals: list[Proposal] = []
    skips: list[Skip] = []
    issues = tuple(item for item in own if item.kind == "issue")
    open_now, new = sum(item.state == "open" for item in issues), 0
    for analysis in in_order(analyses):
        known = _known(analysis, issues)
        draft = _about(analysis, known, repository, night)
        opens = isinstance(draft, OpenIssue) and known is None
        no_room = _room(options, open_now, new) if opens else ""
        if isinstance(draft, Skip):
            skips.append(draft)
        elif reason := no_room or _no_issue_by_choice(options):
            skips.append(_skip(analysis, draft.kind, reason))
        else:
            proposals.append(draft)
            new, open_now = new + opens, open_now + opens
    return Plan(proposals=tuple(proposals), skips=tuple(skips))


def plan_pulls(
    analyses: tuple[Analysis, ...],
    own: tuple[OwnItem, ...],
    receipts: tuple[Receipt, ...],
    options: NightOptions,
    commit: Commit,
    read: Read,
    night: str,
) -> Plan:
    """Draft pull requests for fixes that are new, allowed, applicable and parse."""
    proposals: list[Proposal] = []
    skips: list[Skip] = []
    pulls = tuple(item for item in own if item.kind == "pull")
    for analysis in (a for a in in_order(analyses) if a.has_fix):
        known = _known(analysis, pulls)
        applied = fixing.apply(analysis.fix, read)
        reason = (
            _not_this_one(known, night)
            or applied.refusal
            or policy.refused(applied.changes, read)
            or _does_not_parse(applied, read)
            or _no_pull_by_choice(options, len(proposals))
        )
        if reason:
            skips.append(_skip(analysis, "pull", reason))
        else:
            issue = _issue_of(analysis, own, receipts)
            proposals.append(_pull(analysis, applied, commit, night, issue))
    return Plan(proposals=tuple(proposals), skips=tuple(skips))


def _known(analysis: Analysis, items: tuple[OwnItem, ...]) -> OwnItem | None:
    names = {analysis.fingerprint, *analysis.case.aliases}
    ours = [item for item in items if item.fingerprint in names]
    ours.sort(key=lambda item: (item.state != "open", -item.number))
    return next(iter(ours), None)


def _about(
    analysis: Analysis, known: OwnItem | None, repository: str, night: str
) -> OpenIssue | Comment | Reopen | Skip:
    if known is None or known.night == night:
        return _issue(analysis, known, repository, night)
    if known.state == "open":
        return _news(analysis, known, repository, night)
    if known.state_reason == "not_planned":
        return _skip(analysis, "issue", f"issue #{known.number} was closed as not planned")
    last = analysis.case.leader.last_seen
    if known.closed_at is None or last is None or last <= known.closed_at:
        why = f"issue #{known.number} is closed, and no occurrence after that is known"
        return _skip(analysis, "issue", why)
    key = effect_key("reopen", repository, str(known.number), f"{known.closed_at:%Y%m%dT%H%M%S}")
    news = f"Seen again after it was closed: {analysis.case.occurrences} occurrences"
    return Reopen(
        key=key,
        fingerprint=analysis.fingerprint,
        number=known.number,
        body=issue_text.comment_body(analysis, key, night, news),
    )


def _issue(
    analysis: Analysis, known: OwnItem | None, repository: str, night: str
) -> OpenIssue | Skip:
    if analysis.confidence == "low" and not analysis.has_fix:
        return _skip(analysis, "issue", "low confidence and no fix: only in the report")
    key = known.key if known else effect_key("issue", repository, analysis.fingerprint)
    return OpenIssue(
        key=key,
        fingerprint=analysis.fingerprint,
        title=issue_text.issue_title(analysis),
        body=issue_text.issue_body(analysis, key, night),
        labels=issue_text.labels(analysis),
    )


def _news(analysis: Analysis, known: OwnItem, repository: str, night: str) -> Comment | Skip:
    """A comment only where something changed: a fresh analysis of an error that has an issue."""
    if analysis.ending.kind == "reused":
        return _skip(analysis, "comment", f"known, nothing new since issue #{known.number}")
    if analysis.confidence == "low" and not analysis.has_fix:
        return _skip(analysis, "comment", f"nothing to add to issue #{known.number}")
    key = effect_key("comment", repository, str(known.number), night)
    news = f"Analysed again: {analysis.case.occurrences} occurrences"
    return Comment(
        key=key,
        fingerprint=analysis.fingerprint,
        number=known.number,
        body=issue_text.comment_body(analysis, key, night, news),
    )


def _room(options: NightOptions, open_now: int, new: int) -> str:
    """Why there is no room for one more issue; empty where there is."""
    if new >= options.max_issues:
        return f"{options.max_issues} new issues a night (max_issues)"
    if open_now >= options.max_open_issues:
        return f"{open_now} of our issues are open (max_open_issues {options.max_open_issues})"
    return ""


def _no_issue_by_choice(options: NightOptions) -> str:
    return "nothing is published by choice (publish none)" if options.publish == "none" else ""


def _not_this_one(known: OwnItem | None, night: str) -> str:
    if known is None or known.night == night:
        return ""
    if known.state == "closed":
        return f"draft #{known.number} was closed unmerged: not proposed again"
    return f"draft #{known.number} is {known.state}"


def _no_pull_by_choice(options: NightOptions, proposed: int) -> str:
    if options.publish != "all":
        return f"no pull requests by choice (publish {options.publish})"
    if proposed >= options.max_pull_requests:
        return f"{options.max_pull_requests} draft pull requests a night (max_pull_requests)"
    return ""


def _does_not_parse(applied: fixing.Applied, read: Read) -> str:
    complaints = (
        syntax.complaint(change.path, change.text, read(change.path))
        for change in applied.changes
        if change.text is not None
    )
    return next((why for why in complaints if why), "")


def _issue_of(
    analysis: Analysis, own: tuple[OwnItem, ...], receipts: tuple[Receipt, ...]
) -> int | None:
    tonight = (r.number for r in receipts if r.fingerprint == analysis.fingerprint and r.number)
    known = _known(analysis, tuple(item for item in own if item.kind == "issue"))
    return next(tonight, known.number if known else None)


def _pull(
    analysis: Analysis, applied: fixing.Applied, commit: Commit, night: str, issue: int | None
) -> DraftPull:
    key = effect_key("pull", commit.repository, analysis.fingerprint)
    return DraftPull(
        key=key,
        fingerprint=analysis.fingerprint,
        branch=f"nightwatch/{key[:12]}",
        base=commit.branch,
        title=issue_text.pull_title(analysis),
        body=issue_text.pull_body(analysis, key, night, issue),
        commit_message=issue_text.commit_message(analysis, issue),
        changes=applied.changes,
        commit=commit.sha,
        labels=(issue_text.LABEL,),
    )


def _skip(analysis: Analysis, kind: str, reason: str) -> Skip:
    return Skip(
        fingerprint=analysis.fingerprint, title=analysis.case.title, kind=kind, reason=reason
    )

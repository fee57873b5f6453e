"""Which issues are opened, commented on or reopened tonight."""

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import (
    Comment,
    OpenIssue,
    OwnItem,
    Proposal,
    PublishPlan,
    Reopen,
    Skip,
)
from nightwatch_core.publish import issue_text
from nightwatch_core.publish.candidates import effect_key, in_order, known_item, skip


def plan_issues(
    analyses: tuple[Analysis, ...],
    own: tuple[OwnItem, ...],
    options: NightOptions,
    repository: str,
    night: str,
) -> PublishPlan:
    """Issues to open, to comment on, to reopen; the rest with reasons.

    Limits count what is new tonight; a night that is taken up again counts what it opened before.
    """
    proposals: list[Proposal] = []
    skips: list[Skip] = []
    issues = tuple(item for item in own if item.kind == "issue")
    open_now = sum(item.state == "open" for item in issues)
    new = sum(item.night == night for item in issues)
    for analysis in in_order(analyses):
        known = known_item(analysis, issues)
        draft = _about(analysis, known, repository, night)
        opens = isinstance(draft, OpenIssue) and known is None
        no_room = _room(options, open_now, new) if opens else ""
        if isinstance(draft, Skip):
            skips.append(draft)
        elif reason := _no_issue_by_choice(options) or _no_news(draft, options) or no_room:
            skips.append(skip(analysis, draft.kind, reason))
        else:
            proposals.append(draft)
            new, open_now = new + opens, open_now + opens
    return PublishPlan(proposals=tuple(proposals), skips=tuple(skips))


def _about(
    analysis: Analysis, known: OwnItem | None, repository: str, night: str
) -> OpenIssue | Comment | Reopen | Skip:
    if known is None or known.night == night:
        return _issue(analysis, known, repository, night)
    if known.state == "open":
        return _news(analysis, known, repository, night)
    if analysis.waiting:
        return skip(analysis, "issue", f"issue #{known.number} is closed: {analysis.waiting}")
    if known.state_reason == "not_planned":
        return skip(analysis, "issue", f"issue #{known.number} was closed as not planned")
    if known.number in analysis.settled:
        why = f"issue #{known.number} was opened again for this error before, and closed again"
        return skip(analysis, "issue", why)
    last = max((g.last_seen for g in analysis.case.groups if g.last_seen), default=None)
    if known.closed_at is None or last is None or last <= known.closed_at:
        why = f"issue #{known.number} is closed, and no occurrence after that is known"
        return skip(analysis, "issue", why)
    key = _news_key(repository, known, night)
    why = f" ({analysis.news})" if analysis.news else ""
    news = f"Seen again after it was closed{why}: {analysis.case.occurrences} occurrences"
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
        return skip(analysis, "issue", "low confidence and no fix: only in the report")
    key = (known.key if known else "") or effect_key("issue", repository, analysis.fingerprint)
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
        return skip(analysis, "comment", f"known, nothing new since issue #{known.number}")
    if analysis.confidence == "low" and not analysis.has_fix:
        return skip(analysis, "comment", f"nothing to add to issue #{known.number}")
    if fix_digest(analysis.fix) in analysis.rejected:
        why = "the analysis comes to the very fix that failed"
        return skip(analysis, "comment", f"nothing to add to issue #{known.number}: {why}")
    key = _news_key(repository, known, night)
    why = f", because {analysis.news}" if analysis.news else ""
    news = f"Analysed again{why}: {analysis.case.occurrences} occurrences"
    return Comment(
        key=key,
        fingerprint=analysis.fingerprint,
        number=known.number,
        body=issue_text.comment_body(analysis, key, night, news),
    )


def _news_key(repository: str, known: OwnItem, night: str) -> str:
    """One for comment and reopening: an issue that was reopened tonight has been told the news."""
    return effect_key("news", repository, str(known.number), night)


def _room(options: NightOptions, open_now: int, new: int) -> str:
    """Why there is no room for one more issue; empty where there is."""
    if new >= options.max_issues:
        return f"limit of new issues a night (max_issues {options.max_issues})"
    if open_now >= options.max_open_issues:
        return f"{open_now} of our issues are open (max_open_issues {options.max_open_issues})"
    return ""


def _no_news(draft: Proposal, options: NightOptions) -> str:
    """Why a comment would tell nothing: without lessons a fresh analysis is no sign of a change."""
    afresh = options.force or not options.compound_enabled
    unknown = isinstance(draft, Comment) and afresh
    return "analysed afresh by choice: nothing tells what changed" if unknown else ""


def _no_issue_by_choice(options: NightOptions) -> str:
    return "nothing is published by choice (publish none)" if options.publish == "none" else ""

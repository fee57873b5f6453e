"""Which issues are opened, commented on or reopened tonight."""

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import Commit
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
from nightwatch_core.publish.candidates import Reason, by_choice, effect_key, in_order, skip
from nightwatch_core.publish.tiers import Candidate, why_no_issue
from nightwatch_core.publish.told import Told
from nightwatch_core.publish.twins import Share, causes, shares

# Not for its issue to say: the night's own choices and limits, and what the tracker shows.
_UNTOLD = ("choice", "limit", "settled", "nothing new", "unknown")


def plan_issues(
    analyses: tuple[Analysis, ...],
    own: tuple[OwnItem, ...],
    options: NightOptions,
    commit: Commit | None,
    night: str,
    drafts: tuple[Skip, ...] = (),
) -> PublishPlan:
    """Issues to open, to comment on, to reopen; the rest with reasons.

    `drafts` are the drafts that will not be made: an issue says why.

    Errors with one cause share an issue. Limits count what is new tonight; a night that is taken up
    again counts what it opened before.
    """
    proposals: list[Proposal] = []
    skips: list[Skip] = []
    issues = tuple(item for item in own if item.kind == "issue")
    open_now = sum(item.state == "open" for item in issues)
    new = sum(item.night == night for item in issues)
    for share in (one for cause in causes(in_order(analyses)) for one in shares(cause, issues)):
        told = Told(share.speaker, share.others, commit, no_draft=_no_draft(share, drafts))
        draft = _capped(share, options, night) or _about(told, share, night)
        opens = isinstance(draft, OpenIssue) and share.known is None
        no_room = _room(options, open_now, new) if opens else None
        if isinstance(draft, Reason):
            kind = "comment" if share.known and share.known.state == "open" else "issue"
            skips += [skip(one, kind, draft) for one in share.members]
        elif reason := _no_news(draft, options) or no_room:
            skips += [skip(one, draft.kind, reason) for one in share.members]
        else:
            proposals.append(draft)
            new, open_now = new + opens, open_now + opens
    return PublishPlan(proposals=tuple(proposals), skips=tuple(skips))


def _capped(share: Share, options: NightOptions, night: str) -> Reason | None:
    """Why it is a line of the report, and no more; an issue that is there is told what is new."""
    reason = why_no_issue(Candidate(share.members, options))
    is_new = share.known is None or share.known.night == night
    if reason and reason.cause == "weak" and not is_new:
        return None
    return by_choice(reason, share.known, night)


def _no_draft(share: Share, drafts: tuple[Skip, ...]) -> str:
    """Why no draft will be made, as far as that is for the issue to say."""
    ours = {one.fingerprint for one in share.members}
    told = (one for one in drafts if one.kind == "pull" and one.fingerprint in ours)
    return next((one.reason for one in told if one.cause not in _UNTOLD), "")


def _about(told: Told, share: Share, night: str) -> OpenIssue | Comment | Reopen | Reason:
    analysis, known, commit = share.speaker, share.known, told.commit
    if known is None or known.night == night:
        return _issue(told, share, night)
    if known.state == "open":
        return _news(told, share, known, night)
    if settled := _settled(analysis, known):
        return Reason("settled", f"issue #{known.number} {settled}")
    key = _news_key(_repository(commit), known, night)
    why = f" ({analysis.news})" if analysis.news else ""
    news = f"Seen again after it was closed{why}: {analysis.case.occurrences} occurrences"
    return Reopen(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        number=known.number,
        body=issue_text.comment_body(told, key, night, news),
    )


def _settled(analysis: Analysis, known: OwnItem) -> str:
    """Why a closed issue stays closed; empty where its error came back."""
    if analysis.waiting:
        return f"is closed: {analysis.waiting}"
    if known.state_reason == "not_planned":
        return "was closed as not planned"
    if known.number in analysis.settled:
        return "was opened again for this error before, and closed again"
    last = max((g.last_seen for g in analysis.case.groups if g.last_seen), default=None)
    if known.closed_at is None or last is None or last <= known.closed_at:
        return "is closed, and no occurrence after that is known"
    return ""


def _issue(told: Told, share: Share, night: str) -> OpenIssue:
    analysis, known = told.analysis, share.known
    repository = _repository(told.commit)
    key = (known.key if known else "") or effect_key("issue", repository, analysis.fingerprint)
    return OpenIssue(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        title=issue_text.issue_title(analysis),
        body=issue_text.issue_body(told, key, night),
        labels=issue_text.labels(analysis),
        fix=fix_digest(analysis.fix),
    )


def _news(told: Told, share: Share, known: OwnItem, night: str) -> Comment | Reason:
    """A comment only where something changed: a fresh analysis, or another error behind it."""
    analysis = told.analysis
    joining = share.joining
    if reason := _nothing_to_add(analysis, known, joins=bool(joining)):
        return reason
    key = _news_key(_repository(told.commit), known, night)
    why = f", because {analysis.news}" if analysis.news else ""
    news = f"Analysed again{why}: {analysis.case.occurrences} occurrences"
    if joining:
        news = f"The same cause is behind {', '.join(one.case.title for one in joining[:5])}"
    return Comment(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also or tuple(one.fingerprint for one in joining),
        number=known.number,
        body=issue_text.comment_body(told, key, night, news),
    )


def _repository(commit: Commit | None) -> str:
    return commit.repository if commit else ""


def _nothing_to_add(analysis: Analysis, known: OwnItem, *, joins: bool) -> Reason | None:
    if joins:
        return None
    if analysis.fix_alone and not analysis.has_fix:
        return Reason("nothing new", f"nothing to add to issue #{known.number}: there is no fix")
    if analysis.ending.kind == "reused":
        return Reason("nothing new", f"known, nothing new since issue #{known.number}")
    if not analysis.has_cause:
        return Reason("unknown", f"nothing to add to issue #{known.number}: no cause is known")
    if analysis.confidence == "low" and not analysis.has_fix:
        return Reason("weak", f"nothing to add to issue #{known.number}")
    if fix_digest(analysis.fix) in analysis.rejected:
        why = "the analysis comes to the very fix that failed"
        return Reason("nothing new", f"nothing to add to issue #{known.number}: {why}")
    return None


def _news_key(repository: str, known: OwnItem, night: str) -> str:
    """One for comment and reopening: an issue that was reopened tonight has been told the news."""
    return effect_key("news", repository, str(known.number), night)


def _room(options: NightOptions, open_now: int, new: int) -> Reason | None:
    """Why there is no room for one more issue; None where there is."""
    if new >= options.max_issues:
        return Reason("limit", f"limit of new issues a night: {options.max_issues}")
    if open_now >= options.max_open_issues:
        limit = f"limit of open issues: {options.max_open_issues}"
        return Reason("choice", f"{open_now} of our issues are open, {limit}")
    return None


def _no_news(draft: Proposal, options: NightOptions) -> Reason | None:
    """Why a comment would tell nothing: without lessons a fresh analysis is no sign of a change."""
    if isinstance(draft, Comment) and (options.force or not options.compound_enabled):
        return Reason("choice", "analysed afresh by choice: nothing tells what changed")
    return None

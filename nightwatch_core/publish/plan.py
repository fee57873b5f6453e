"""Plan the issues to open, comment on or reopen tonight."""

from collections.abc import Callable, Collection, Iterator
from itertools import filterfalse

from nightwatch_core.code import edits
from nightwatch_core.code.capabilities import new_capabilities
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.related_code import Reach, Search, reach_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import MAX_OPEN_ISSUES, NightOptions
from nightwatch_core.models.proposals import (
    Comment,
    DraftPull,
    OpenIssue,
    OwnItem,
    Proposal,
    PublishPlan,
    Receipt,
    Reopen,
    Skip,
)
from nightwatch_core.publish import expected_value as candidates
from nightwatch_core.publish import issue_text
from nightwatch_core.publish.expected_value import (
    Reason,
    by_choice,
    effect_key,
    expected_value,
    in_order,
    skip,
)
from nightwatch_core.publish.issue_text import Carrier, FindingView
from nightwatch_core.publish.overlap import Share, causes, shares
from nightwatch_core.publish.story_commits import draft_commits
from nightwatch_core.publish.tiers import (
    Candidate,
    mitigations_in,
    not_wanted,
    why_no_draft,
    why_no_issue,
)
from nightwatch_core.text.markers import LABEL
from nightwatch_core.traces.placing import ReadFile

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
    for share in (share for cause in causes(in_order(analyses)) for share in shares(cause, issues)):
        finding = FindingView(
            share.speaker, share.others, commit, no_draft=_no_draft(share, drafts)
        )
        draft = _capped(share, options, night) or _about(finding, share, night)
        opens = isinstance(draft, OpenIssue) and share.known is None
        no_room = _room(options, open_now, new) if opens else None
        if isinstance(draft, Reason):
            kind = "comment" if share.known and share.known.state == "open" else "issue"
            skips += [skip(member, kind, draft) for member in share.members]
        elif reason := _no_news(draft, options) or no_room:
            skips += [skip(member, draft.kind, reason) for member in share.members]
        else:
            proposals.append(draft)
            new, open_now = new + opens, open_now + opens
    return PublishPlan(proposals=tuple(proposals), skips=tuple(skips))


def _capped(share: Share, options: NightOptions, night: str) -> Reason | None:
    reason = why_no_issue(Candidate(share.members, options))
    is_new = share.known is None or share.known.night == night
    if reason and reason.cause == "weak" and not is_new:
        return None
    return by_choice(reason, share.known, night)


def _no_draft(share: Share, drafts: tuple[Skip, ...]) -> str:
    ours = {member.fingerprint for member in share.members}
    skips = (draft for draft in drafts if draft.kind == "pull" and draft.fingerprint in ours)
    return next((item.reason for item in skips if item.cause not in _UNTOLD), "")


def _about(finding: FindingView, share: Share, night: str) -> OpenIssue | Comment | Reopen | Reason:
    analysis, known, commit = share.speaker, share.known, finding.commit
    if known is None or known.night == night:
        return _issue(finding, share, night)
    if known.state == "open":
        return _news(finding, share, known, night)
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
        body=issue_text.comment_body(finding, key, night, news),
    )


def _settled(analysis: Analysis, known: OwnItem) -> str:
    if analysis.waiting:
        return f"is closed: {analysis.waiting}"
    if known.state_reason == "not_planned":
        return "was closed as not planned"
    if known.number in analysis.settled:
        return "was opened again for this error before, and closed again"
    last = analysis.case.last_seen
    if known.closed_at is None or last is None or last <= known.closed_at:
        return "is closed, and no occurrence after that is known"
    return ""


def _issue(finding: FindingView, share: Share, night: str) -> OpenIssue:
    analysis, known = finding.analysis, share.known
    repository = _repository(finding.commit)
    key = (known.key if known else "") or effect_key("issue", repository, analysis.fingerprint)
    return OpenIssue(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        title=issue_text.issue_title(analysis),
        body=issue_text.issue_body(finding, key, night),
        labels=issue_text.labels(analysis),
        fix=fix_digest(analysis.fix),
    )


def _news(finding: FindingView, share: Share, known: OwnItem, night: str) -> Comment | Reason:
    """A comment only where something changed: a fresh analysis, or another error behind it."""
    analysis = finding.analysis
    joining = share.joining
    if reason := _nothing_to_add(analysis, known, joins=bool(joining)):
        return reason
    key = _news_key(_repository(finding.commit), known, night)
    why = f", because {analysis.news}" if analysis.news else ""
    news = f"Analysed again{why}: {analysis.case.occurrences} occurrences"
    if joining:
        news = (
            f"The same cause is behind {', '.join(analysis.case.title for analysis in joining[:5])}"
        )
    return Comment(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also or tuple(analysis.fingerprint for analysis in joining),
        number=known.number,
        body=issue_text.comment_body(finding, key, night, news),
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
        return Reason("unknown", f"nothing to add to issue #{known.number}: cause unknown")
    if analysis.confidence == "low" and not analysis.has_fix:
        return Reason("weak", f"nothing to add to issue #{known.number}")
    if fix_digest(analysis.fix) in analysis.rejected:
        why = "the analysis comes to the very fix that failed"
        return Reason("nothing new", f"nothing to add to issue #{known.number}: {why}")
    return None


def _news_key(repository: str, known: OwnItem, night: str) -> str:
    """One for comment and reopening: an issue that was reopened tonight has the news already."""
    return effect_key("news", repository, str(known.number), night)


def _room(options: NightOptions, open_now: int, new: int) -> Reason | None:
    if new >= options.max_issues:
        return Reason("limit", f"limit of new issues a night: {options.max_issues}")
    if open_now >= MAX_OPEN_ISSUES:
        limit = f"limit of open issues: {MAX_OPEN_ISSUES}"
        return Reason("choice", f"{open_now} of our issues are open, {limit}")
    return None


def _no_news(draft: Proposal, options: NightOptions) -> Reason | None:
    if isinstance(draft, Comment) and options.force:
        return Reason("choice", "analysed afresh by choice: nothing tells what changed")
    return None


# What a reviewer is finding of a draft besides the finding: what it reaches, what fails beside it.


def for_review(
    finding: FindingView,
    analyses: tuple[Analysis, ...],
    options: NightOptions,
    read: ReadFile,
    search: Search | None,
) -> FindingView:
    """Add it; `analyses` are all of the night. Nothing is reached where there is no `search`."""
    return finding._replace(
        reach=_reach(finding, read, search),
        near=_near(finding, analyses),
        carrier=_carrier(options),
    )


def _reach(finding: FindingView, read: ReadFile, search: Search | None) -> Reach:
    if search is None or not finding.changes:
        return Reach()
    cited = [
        (evidence.path, evidence.quote.strip().splitlines()[0])
        for evidence in _failing(finding.analysis)
    ]
    try:
        return reach_of(finding.changes, cited, read, search)
    except (GiveUp, TryLater):  # no draft is lost for what only goes with it
        return Reach(is_known=False)


def _failing(analysis: Analysis) -> tuple[Evidence, ...]:
    return tuple(
        evidence
        for evidence in analysis.evidence[:1]
        if evidence.verified and evidence.quote.strip()
    )


def _near(finding: FindingView, analyses: tuple[Analysis, ...]) -> tuple[Analysis, ...]:
    ours = {item.fingerprint for item in (finding.analysis, *finding.twins)}
    changed = {change.path for change in finding.changes or ()}
    return tuple(
        analysis
        for analysis in analyses
        if analysis.fingerprint not in ours and _place(analysis) in changed
    )


def _place(analysis: Analysis) -> str:
    trace = analysis.case.trace
    return next((frame.repo_path for frame in trace.in_app), "") if trace else ""


def _carrier(options: NightOptions) -> Carrier:
    if options.delivery == "local":
        return "files"
    return "patch" if options.publish == "patches" else "branch"


# Which fixes become draft pull requests tonight.

Read = Callable[[str], str | None]
_MADE = ("done", "already there")
_DOUBTS = ("weak", "worth")  # said only where nothing firmer speaks against a draft


def plan_pulls(
    analyses: tuple[Analysis, ...],
    own: tuple[OwnItem, ...],
    receipts: tuple[Receipt, ...],
    options: NightOptions,
    commit: Commit,
    read: Read,
    night: str,
    paths: Collection[str] = (),
    *,
    search: Search | None = None,
    to_run: bool = False,
) -> PublishPlan:
    """Draft pull requests for fixes that may stand, the best expected value first.

    `paths` are the files of the tree, `search` finds lines in it. `to_run` asks for what the gate
    is to run: what it may still prove counts as proved.
    """
    proposals: list[Proposal] = []
    skips: list[Skip] = []
    issues = tuple(item for item in own if item.kind == "issue")
    pulls = tuple(item for item in own if item.kind == "pull")
    new = sum(item.night == night for item in pulls)
    ranked, without = _ranked(analyses, pulls)
    for share in ranked:
        analysis, known = share.speaker, share.known
        issue = _issue_of(analysis, issues, receipts)
        applied = edits.apply(analysis.fix, read)
        risk = new_capabilities(applied.changes, read, paths)
        mitigations = mitigations_in(applied.changes, read, options, analysis.evidence)
        capped = by_choice(why_no_draft(Candidate(share.members, options, to_run)), known, night)
        reason = (
            _not_this_one(analysis, known, night)
            or (capped if capped and capped.cause not in _DOUBTS else None)
            or no_carrier(options, issue)
            or _settled_pulls(candidates.known_item(analysis, issues), issue, receipts)
            or _refused(analysis, applied, read, paths)
            or _too_risky(options, risk)
            or not_wanted(mitigations)
            or capped
            or (None if _is_tonights(known, night) else _no_room_for_pull(options, new))
        )
        # numbers of a local outbox would link to somebody's issues once pushed
        refers = None if options.delivery == "local" else issue
        finding = FindingView(
            analysis, share.others, commit, file_diffs(analysis.fix, read), risk, mitigations
        )
        if reason:
            skips += [skip(member, "pull", reason) for member in share.members if member.has_fix]
            proposals += _joined_draft(finding, share, options, night)
        else:
            finding = for_review(finding, analyses, options, read, search)
            draft = _in_commits(_pull(finding, share, applied, night, refers), analysis, read)
            proposals.append(as_patch(draft, issue) if options.publish == "patches" else draft)
            new += not _is_tonights(known, night)
    skips += _without_fix(without, options)
    return PublishPlan(proposals=tuple(proposals), skips=tuple(skips))


def _ranked(
    analyses: tuple[Analysis, ...], pulls: tuple[OwnItem, ...]
) -> tuple[list[Share], list[Share]]:
    """The shares of all causes whose fix is known, led by an analysis that has it; and the rest.

    The best expected value comes first. What was not run yet counts as not run: running it can
    only better its place, or take it out, so that no more has to be run than drafts are made.
    """
    ranked: list[Share] = []
    without: list[Share] = []
    for cause in causes(in_order(analyses)):
        for share in shares(cause, pulls):
            members = (*filter(_has_fix, share.members), *filterfalse(_has_fix, share.members))
            (ranked if _has_fix(members[0]) else without).append(share._replace(members=members))
    ranked.sort(key=lambda share: -expected_value(share.members).minutes)
    return ranked, without


def _without_fix(shares: list[Share], options: NightOptions) -> Iterator[Skip]:
    for share in shares:
        reason = why_no_draft(Candidate(share.members, options))
        if reason and reason.cause == "no fix" and not share.known:
            fresh = (member for member in share.members if member.ending.kind != "reused")
            yield from (skip(item, "pull", reason) for item in fresh)


def _has_fix(analysis: Analysis) -> bool:
    return analysis.has_fix and analysis.has_cause


def _joined_draft(
    finding: FindingView, share: Share, options: NightOptions, night: str
) -> tuple[Comment, ...]:
    """A comment on the open draft that another error with its cause has: it is to list both."""
    known, joining = share.known, share.joining
    if not known or not joining or known.state != "open":
        return ()
    if options.highest_tier()[0] != "draft":
        return ()
    key = effect_key(
        "news", finding.commit.repository if finding.commit else "", str(known.number), night
    )
    news = f"The same cause is behind {', '.join(analysis.case.title for analysis in joining[:5])}"
    return (
        Comment(
            key=key,
            fingerprint=finding.analysis.fingerprint,
            also=share.also or tuple(analysis.fingerprint for analysis in joining),
            number=known.number,
            on="issue" if known.as_patch else "pull",
            fix=edits.fix_digest(finding.analysis.fix),
            body=issue_text.comment_body(finding, key, night, news),
        ),
    )


def _is_tonights(known: OwnItem | None, night: str) -> bool:
    return known is not None and known.night == night


def _not_this_one(analysis: Analysis, known: OwnItem | None, night: str) -> Reason | None:
    if edits.fix_digest(analysis.fix) in analysis.rejected:
        text = "this very fix was turned down, or did not help, before: not proposed again"
        return Reason("settled", text)
    if known is None or _is_tonights(known, night):
        return None
    has_failed = known.number in analysis.failed_pulls
    if has_failed and (known.state != "open" or known.as_patch):
        return None
    return Reason("settled", how_it_stands(known))


def _no_room_for_pull(options: NightOptions, new: int) -> Reason | None:
    if new < options.max_pull_requests:
        return None
    return Reason("limit", f"limit of draft pull requests a night: {options.max_pull_requests}")


def _settled_pulls(
    known: OwnItem | None, issue: int | None, receipts: tuple[Receipt, ...]
) -> Reason | None:
    if known is None or known.state == "open":
        return None
    if any(r.number == issue and r.status in _MADE for r in receipts):
        return None
    planned = " as not planned" if known.state_reason == "not_planned" else ""
    return Reason("settled", f"issue #{known.number} is closed{planned}")


def _refused(
    analysis: Analysis, applied: edits.Applied, read: Read, paths: Collection[str]
) -> Reason | None:
    seen = {*analysis.read, *(e.path for e in analysis.evidence if e.verified)}
    text = edits.refused(analysis.fix, applied, seen, read, paths)
    return Reason("refused", text) if text else None


def _too_risky(options: NightOptions, risk: str) -> Reason | None:
    return Reason("refused", risk) if risk else None


def _issue_of(
    analysis: Analysis, issues: tuple[OwnItem, ...], receipts: tuple[Receipt, ...]
) -> int | None:
    """The number of the error's issue: tonight's, else the one that was known before."""
    known = candidates.known_item(analysis, issues)
    tonight = (
        r.number
        for r in receipts
        if analysis.fingerprint in r.names and r.number and r.status in _MADE
    )
    return next(tonight, known.number if known else None)


def _pull(
    finding: FindingView, share: Share, applied: edits.Applied, night: str, issue: int | None
) -> DraftPull:
    analysis, known, commit = finding.analysis, share.known, finding.commit
    assert commit is not None
    key = known.key if known and _is_tonights(known, night) else ""
    failed = len(analysis.failed_pulls)
    digest = edits.fix_digest(analysis.fix)
    attempt = (digest, str(failed)) if known and failed else ()
    key = key or effect_key("pull", commit.repository, analysis.fingerprint, *attempt)
    return DraftPull(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        branch=f"nightwatch/{key[:12]}",
        base=commit.branch,
        title=issue_text.pull_title(finding),
        body=issue_text.pull_body(finding, key, night, issue),
        commit_message=issue_text.commit_message(finding, issue),
        changes=applied.changes,
        commit=commit.sha,
        labels=(LABEL,),
        fix=digest,
    )


def _in_commits(draft: DraftPull, analysis: Analysis, read: Read) -> DraftPull:
    applied = edits.Applied(changes=draft.changes)
    commits = draft_commits(analysis, applied, read, draft.commit_message)
    return draft.model_copy(update={"commits": commits}) if commits else draft


# Drafts that are made without pushing a branch.


def no_carrier(options: NightOptions, issue: int | None) -> Reason | None:
    """Say why there is no patch where no issue carries it; files on this machine need none."""
    is_needed = (
        options.publish == "patches" and options.delivery == "github" and not options.dry_run
    )
    return (
        Reason("choice", "no issue is there to carry its patch")
        if is_needed and not issue
        else None
    )


def as_patch(draft: DraftPull, issue: int | None) -> DraftPull:
    """Return it without a branch; the commit people make of it is known by its last line."""
    mark = f"\n\nNightWatch patch {draft.key}\n"
    message = f"{draft.commit_message.rstrip()}{mark}"
    news = {"branch": "", "commit_message": message, "as_patch": True, "issue": issue}
    if draft.commits:
        *first, last = draft.commits
        last = last.model_copy(update={"message": f"{last.message.rstrip()}{mark}"})
        news["commits"] = (*first, last)
    return draft.model_copy(update=news)


def how_it_stands(known: OwnItem) -> str:
    """Say how a draft or a patch of ours stands.

    >>> how_it_stands(OwnItem(kind="pull", number=4, fingerprint="v1:a", as_patch=True))
    'the patch on #4 is open'
    """
    what = "the patch on" if known.as_patch else "draft"
    shut, merged = "closed unmerged: not proposed again", "applied" if known.as_patch else "merged"
    state = {"closed": shut, "merged": merged}.get(known.state, known.state)
    return f"{what} #{known.number} {'was' if known.state == 'closed' else 'is'} {state}"

"""Plan the issues to open, comment on or reopen tonight, and the fixes that become drafts."""

from collections.abc import Callable, Collection, Iterator
from itertools import filterfalse, pairwise

from nightwatch_core.code import edit_policy, edits
from nightwatch_core.code.capabilities import new_capabilities
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.related_code import Reach, Search, reach_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import Commit
from nightwatch_core.models.knowledge import OutcomeUpdate
from nightwatch_core.models.options import MAX_OPEN_ISSUES, NightOptions
from nightwatch_core.models.proposals import (
    Close,
    Comment,
    DraftCommit,
    DraftPull,
    OpenIssue,
    OwnItem,
    Proposal,
    PublishPlan,
    Receipt,
    Reopen,
    Skip,
)
from nightwatch_core.publish import issue_text
from nightwatch_core.publish.expected_value import (
    Reason,
    effect_key,
    expected_value,
    in_order,
    known_item,
)
from nightwatch_core.publish.finding import Carrier, FindingView, doubts_about
from nightwatch_core.publish.overlap import Share, causes, shares
from nightwatch_core.publish.tiers import Candidate, mitigations_in, not_wanted, tier_of
from nightwatch_core.text.markers import LABEL
from nightwatch_core.text.plain_text import plural

Read = Callable[[str], str | None]
_MADE = ("done", "already there")
_DOUBTS = ("weak", "worth")  # said only where nothing firmer speaks against a draft


def plan_issues(
    analyses: tuple[Analysis, ...],
    own: tuple[OwnItem, ...],
    options: NightOptions,
    commit: Commit | None,
    night: str,
    drafts: tuple[Skip, ...] = (),
    followed: tuple[OutcomeUpdate, ...] = (),
) -> PublishPlan:
    """Return issues to open, to comment on, to reopen; the rest with reasons.

    `drafts` are the drafts that will not be made: an issue says why. `followed` is what the night
    brought for earlier proposals.

    Errors with one cause share an issue. Limits count what is new tonight; a night that is taken up
    again counts what it opened before.
    """
    skips: list[Skip] = []
    issues = tuple(item for item in own if item.kind == "issue")
    may_write = options.highest_tier()[0] != "report"
    sign = options.pull_sign
    closings = _closings(issues, followed, commit, night, sign, closes=options.close_verified)
    proposals: list[Proposal] = [*closings] if may_write else []
    open_now = sum(item.state == "open" for item in issues)
    new = sum(item.night == night for item in issues)
    for share in (share for cause in causes(in_order(analyses)) for share in shares(cause, issues)):
        no_draft = doubts_about((member.fingerprint for member in share.members), drafts)
        finding = FindingView(share.speaker, share.others, commit, no_draft=no_draft)
        draft = _no_issue(share, options, night) or _about(finding, share, night)
        is_known = share.item is not None and share.item.night == night
        opens = isinstance(draft, OpenIssue) and not is_known
        if not isinstance(draft, Reason):
            reason = _no_room_for_issue(options, open_now, new) if opens else None
            if isinstance(draft, Comment) and (options.force or not options.compound_enabled):
                again = "with --force" if options.force else "without lessons"
                reason = Reason(
                    "choice", f"analysed again {again}: changes since the last analysis are unknown"
                )
            if not reason:
                proposals.append(draft)
                new, open_now = new + opens, open_now + opens
                continue
            kind = draft.kind
        else:
            kind, reason = "comment" if share.is_open else "issue", draft
        skips += [_skip(member, kind, reason) for member in share.members]
    return PublishPlan(proposals=tuple(proposals), skips=tuple(skips))


def _closings(
    issues: tuple[OwnItem, ...],
    followed: tuple[OutcomeUpdate, ...],
    commit: Commit | None,
    night: str,
    sign: str,
    *,
    closes: bool,
) -> Iterator[Close]:
    """Close each open issue whose fix is verified, or propose it, until that was published."""
    repository = commit.repository if commit else ""
    verified = ((update.fingerprint, update.verified) for update in followed)
    for name, event in verified:
        for item in issues if event else ():
            if event and item.state == "open" and name in item.names:
                key = effect_key("verified", repository, str(item.number), str(event.number))
                first = item.fingerprint
                yield Close(
                    key=key,
                    fingerprint=first,
                    also=(name,),
                    number=item.number,
                    title=f"{'closed' if closes else 'can be closed'}: {sign}{event.number} helped",
                    body=issue_text.verified_body(first, key, night, event, sign, closes=closes),
                    closes=closes,
                )


def _skip(analysis: Analysis, kind: str, reason: Reason) -> Skip:
    return Skip(
        fingerprint=analysis.fingerprint,
        title=analysis.case.title,
        kind=kind,
        reason=reason.text,
        cause=reason.cause,
    )


def _no_issue(share: Share, options: NightOptions, night: str) -> Reason | None:
    tier, reason = tier_of(Candidate(share.members, options))
    if tier != "report" or reason is None:
        return None
    is_closed = share.item is not None and share.item.state == "closed"
    has_news = reason.cause == "weak" or (reason.cause == "unknown" and is_closed)
    if has_news and share.item and share.item.night != night:
        return None  # an issue there is gets its news, and is opened again
    return _by_choice(reason, share.item, night)


def _by_choice(reason: Reason | None, item: OwnItem | None, night: str) -> Reason | None:
    """Say with a reason of choice what this night made before it was taken up with it."""
    if reason is None or reason.cause != "choice" or item is None or item.night != night:
        return reason
    return reason._replace(text=f"{reason.text}; {item.name} was published before")


def _about(finding: FindingView, share: Share, night: str) -> OpenIssue | Comment | Reopen | Reason:
    analysis, item, commit = share.speaker, share.item, finding.commit
    if item is None or item.night == night:
        return _issue(finding, share, night)
    if item.state == "open":
        return _news(finding, share, item, night)
    if settled := _settled(analysis, item):
        return Reason("settled", f"{_named(item)} {settled}")
    if analysis.another_cause:
        return _issue(finding, share, night, comes_after=item.number)
    key = _news_key(commit, item, night)
    why = f" ({analysis.news})" if analysis.news else ""
    news = (
        f"Occurred again after the issue was closed{why}: {analysis.case.occurrences} occurrences"
    )
    return Reopen(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        number=item.number,
        body=issue_text.comment_body(finding, key, night, news),
    )


def _settled(analysis: Analysis, item: OwnItem) -> str:
    if analysis.waiting and not analysis.unsettled_nights:
        return f"is closed: {analysis.waiting}"
    if item.state_reason == "not_planned":
        return "was closed as not planned"
    if item.number in analysis.settled:
        return "was reopened for this error before and closed again"
    last = analysis.case.last_seen
    if item.closed_at is None or last is None or last <= item.closed_at:
        return "is closed, and the error has not occurred since"
    return ""


def _issue(
    finding: FindingView, share: Share, night: str, comes_after: int | None = None
) -> OpenIssue:
    """The issue of a finding; `comes_after` is a closed one, of the same error by another cause."""
    analysis, item = finding.analysis, share.item
    repository = finding.commit.repository if finding.commit else ""
    of = (analysis.fingerprint, *((str(comes_after),) if comes_after else ()))
    key = (item.key if item and not comes_after else "") or effect_key("issue", repository, *of)
    return OpenIssue(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        title=issue_text.issue_title(finding),
        body=issue_text.issue_body(finding, key, night, comes_after),
        labels=issue_text.labels(analysis),
        fix=fix_digest(analysis.fix),
    )


def _news(finding: FindingView, share: Share, item: OwnItem, night: str) -> Comment | Reason:
    """A comment only where something changed: a fresh analysis, or another error behind it."""
    analysis = finding.analysis
    if share.joining:
        return _joins(finding, share, item, night)
    if reason := _nothing_to_add(analysis, item):
        return reason
    key = _news_key(finding.commit, item, night)
    why = f", because {analysis.news}" if analysis.news else ""
    news = f"Analysed again{why}: {analysis.case.occurrences} occurrences"
    return Comment(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        number=item.number,
        body=issue_text.comment_body(finding, key, night, news),
    )


def _joins(finding: FindingView, share: Share, item: OwnItem, night: str) -> Comment:
    """A comment on an item that is to list another error with its cause."""
    key = _news_key(finding.commit, item, night)
    titles = ", ".join(analysis.case.title for analysis in share.joining[:5])
    news = f"Other errors have the same cause: {titles}"
    on_draft = item.kind == "pull"
    return Comment(
        key=key,
        fingerprint=finding.analysis.fingerprint,
        also=share.also or tuple(analysis.fingerprint for analysis in share.joining),
        number=item.number,
        on="pull" if on_draft and not item.as_patch else "issue",
        fix=fix_digest(finding.analysis.fix) if on_draft else "",
        body=issue_text.comment_body(finding, key, night, news),
    )


def _nothing_to_add(analysis: Analysis, item: OwnItem) -> Reason | None:
    nothing = f"nothing to add to {_named(item)}"
    if analysis.fix_alone and not analysis.has_fix:
        return Reason("nothing new", f"{nothing}: there is no fix")
    if analysis.ending.kind == "reused":
        return Reason("nothing new", f"nothing new since {_named(item)}")
    if not analysis.has_cause:
        return Reason("unknown", f"{nothing}: cause unknown")
    if analysis.confidence == "low" and not analysis.has_fix:
        return Reason("weak", nothing)
    if fix_digest(analysis.fix) in analysis.rejected:
        return Reason(
            "nothing new", f"{nothing}: the analysis proposes the fix that already failed"
        )
    return None


def _news_key(commit: Commit | None, item: OwnItem, night: str) -> str:
    """One for comment and reopening: an issue that was reopened tonight has the news already."""
    return effect_key("news", commit.repository if commit else "", str(item.number), night)


def _no_room_for_issue(options: NightOptions, open_now: int, new: int) -> Reason | None:
    if new >= options.max_issues:
        return Reason("limit", f"at most {plural(options.max_issues, 'new issue')} a night")
    if open_now >= MAX_OPEN_ISSUES:
        limit = f"at most {MAX_OPEN_ISSUES}"
        return Reason("choice", f"{open_now} issues by NightWatch are open, {limit}")
    return None


# Which fixes become draft pull requests tonight.


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
    """Return draft pull requests for allowed fixes, the best expected value first.

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
        analysis, item = share.speaker, share.item
        is_tonights = item is not None and item.night == night
        issue = _issue_of(analysis, issues, receipts)
        applied = edits.apply(analysis.fix, read)
        risk = new_capabilities(applied.changes, read, paths, search)
        mitigations = mitigations_in(applied.changes, read, analysis.evidence)
        doubt = tier_of(Candidate(share.members, options, to_run))[1]
        doubt = _by_choice(doubt, item, night)
        reason = (
            _not_this_one(analysis, item, is_tonights=is_tonights)
            or (doubt if doubt and doubt.cause not in _DOUBTS else None)
            or _no_issue_to_carry(options, issue)
            or _issue_is_closed(known_item(analysis, issues), issue, receipts)
            or _refused(analysis, applied, read, paths)
            or (Reason("refused", risk) if risk else None)
            or not_wanted(mitigations)
            or doubt
        )
        if not reason and not is_tonights and new >= options.max_pull_requests:
            limit = f"at most {plural(options.max_pull_requests, 'draft pull request')} a night"
            reason = Reason("limit", limit)
        changes = file_diffs(analysis.fix, read)
        finding = FindingView(analysis, share.others, commit, changes, risk, mitigations)
        if reason:
            skips += [_skip(member, "pull", reason) for member in share.members if member.has_fix]
            if item and share.joining and share.is_open and options.highest_tier()[0] == "draft":
                proposals.append(_joins(finding, share, item, night))
        else:
            finding = for_review(finding, analyses, options, read, search)
            draft = _pull(finding, share, applied, night, issue)
            draft = draft.model_copy(update={"commits": _commits(draft, analysis, read)})
            proposals.append(as_patch(draft, issue) if options.publish == "patches" else draft)
            new += not is_tonights
    for share in without:
        reason = tier_of(Candidate(share.members, options))[1]
        if reason and reason.cause == "no fix" and not share.item:
            fresh = (member for member in share.members if member.ending.kind != "reused")
            skips += [_skip(member, "pull", reason) for member in fresh]
    return PublishPlan(proposals=tuple(proposals), skips=tuple(skips))


def for_review(
    finding: FindingView,
    analyses: tuple[Analysis, ...],
    options: NightOptions,
    read: Read,
    search: Search | None,
) -> FindingView:
    """Add what a reviewer needs of a draft: who uses it, and what else fails in its files.

    `analyses` are all of the night. Nothing is reached where there is no `search`.
    """
    reach, changes = Reach(), finding.changes or ()
    if search is not None and changes:
        quoted = [
            (evidence.path, evidence.quote.strip().splitlines()[0])
            for evidence in finding.analysis.evidence[:1]
            if evidence.verified and evidence.quote.strip()
        ]
        try:
            reach = reach_of(changes, quoted, read, search)
        except (GiveUp, TryLater):  # no draft is lost for what only goes with it
            reach = Reach(is_known=False)
    ours = {item.fingerprint for item in (finding.analysis, *finding.twins)}
    changed = {change.path for change in changes}
    near = tuple(
        analysis
        for analysis in analyses
        if analysis.fingerprint not in ours
        and (trace := analysis.case.trace)
        and trace.top
        and trace.top.repo_path in changed
    )
    carrier: Carrier = "patch" if options.publish == "patches" else "branch"
    carrier = "files" if options.delivery == "local" else carrier
    return finding._replace(reach=reach, near=near, carrier=carrier)


def _ranked(
    analyses: tuple[Analysis, ...], pulls: tuple[OwnItem, ...]
) -> tuple[list[Share], list[Share]]:
    """Shares of causes with a fix, led by an analysis that has it; and the rest.

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


def _has_fix(analysis: Analysis) -> bool:
    return analysis.has_fix and analysis.has_cause


def _not_this_one(analysis: Analysis, item: OwnItem | None, *, is_tonights: bool) -> Reason | None:
    if fix_digest(analysis.fix) in analysis.rejected:
        text = "this fix was rejected or did not help before: not proposed again"
        return Reason("rejected", text)
    if item is None or is_tonights:
        return None
    has_failed = item.number in analysis.failed_pulls
    if has_failed and (item.state != "open" or item.as_patch):
        return None
    return Reason("rejected" if item.state == "closed" else "settled", how_it_stands(item))


def _issue_is_closed(
    item: OwnItem | None, issue: int | None, receipts: tuple[Receipt, ...]
) -> Reason | None:
    if item is None or item.state == "open":
        return None
    if any(r.number == issue and r.status in _MADE for r in receipts):
        return None
    planned = " as not planned" if item.state_reason == "not_planned" else ""
    return Reason("settled", f"issue #{item.number} is closed{planned}")


def _refused(
    analysis: Analysis, applied: edits.Applied, read: Read, paths: Collection[str]
) -> Reason | None:
    seen = {*analysis.read, *(e.path for e in analysis.evidence if e.verified)}
    text = edits.refused(analysis.fix, applied, seen, read, paths)
    return Reason("refused", text) if text else None


def _issue_of(
    analysis: Analysis, issues: tuple[OwnItem, ...], receipts: tuple[Receipt, ...]
) -> int | None:
    """The number of the error's issue: tonight's, else the one of an earlier night."""
    item = known_item(analysis, issues)
    tonight = (
        r.number
        for r in receipts
        if analysis.fingerprint in r.names and r.number and r.status in _MADE
    )
    return next(tonight, item.number if item else None)


def _pull(
    finding: FindingView, share: Share, applied: edits.Applied, night: str, issue: int | None
) -> DraftPull:
    analysis, item, commit = finding.analysis, share.item, finding.commit
    assert commit is not None
    key = item.key if item and item.night == night else ""
    failed = len(analysis.failed_pulls)
    digest = fix_digest(analysis.fix)
    # numbers of a local outbox would link to somebody's issues once pushed
    refers = None if finding.carrier == "files" else issue
    attempt = (digest, str(failed)) if item and failed else ()
    key = key or effect_key("pull", commit.repository, analysis.fingerprint, *attempt)
    return DraftPull(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        branch=f"nightwatch/{key[:12]}",
        base=commit.branch,
        title=issue_text.pull_title(finding),
        body=issue_text.pull_body(finding, key, night, issue),
        commit_message=issue_text.commit_message(finding, refers),
        changes=applied.changes,
        commit=commit.sha,
        labels=(LABEL,),
        fix=digest,
    )


# Drafts whose fix was made in several steps.

Texts = dict[str, str | None]  # by path, of files that are not as the base has them


def _commits(draft: DraftPull, analysis: Analysis, read: Read) -> tuple[DraftCommit, ...]:
    """One commit for each step that passed, and one for the test besides them.

    Together they are exactly what the draft changes. None where one commit is all there is, or
    where a step by itself would not be allowed.
    """
    story = analysis.gate.story if analysis.gate else None
    if story is None or story.outcome == "not made":
        return ()
    passed = [step for step in story.steps if step.outcome == "passed"]
    trees: list[Texts] = [{}]
    for step in passed:
        made = edits.apply(step.edits, read)
        if made.refusal or edit_policy.refused(made.changes, read):
            return ()
        trees.append({change.path: change.text for change in made.changes})
    trees.append({change.path: change.text for change in draft.changes})
    titles = (*(step.title for step in passed), "Add the test that reproduces the error")
    steps = [
        (title, changes)
        for title, (before, after) in zip(titles, pairwise(trees), strict=True)
        if (changes := edits.changes_between(before, after, read))
    ]
    if len(steps) < 2:
        return ()
    return tuple(
        DraftCommit(
            message=issue_text.step_message(title, number, len(steps), draft.commit_message),
            changes=changes,
        )
        for number, (title, changes) in enumerate(steps, 1)
    )


# Drafts that are made without pushing a branch.


def _no_issue_to_carry(options: NightOptions, issue: int | None) -> Reason | None:
    """Files on this machine need no issue that carries a patch."""
    is_on_issue = options.publish == "patches" and options.is_hosted
    if issue or not is_on_issue or options.dry_run:
        return None
    return Reason("choice", "there is no issue to attach the patch to")


def as_patch(draft: DraftPull, issue: int | None) -> DraftPull:
    """Return a draft without a branch; the last line of its commit message names the patch."""
    mark = f"\n\nNightWatch patch {draft.key}\n"
    message = f"{draft.commit_message.rstrip()}{mark}"
    news = {"branch": "", "commit_message": message, "as_patch": True, "issue": issue}
    if draft.commits:
        *first, last = draft.commits
        last = last.model_copy(update={"message": f"{last.message.rstrip()}{mark}"})
        news["commits"] = (*first, last)
    return draft.model_copy(update=news)


def _named(item: OwnItem) -> str:
    return f"{'issue' if item.kind == 'issue' or item.as_patch else 'draft'} {item.name}"


def how_it_stands(item: OwnItem) -> str:
    """Say how a draft or a patch of ours stands.

    >>> how_it_stands(OwnItem(kind="pull", number=4, fingerprint="v1:a", as_patch=True))
    'the patch on #4 is open'
    """
    what = "the patch on" if item.as_patch else "draft"
    shut, merged = "closed unmerged: not proposed again", "applied" if item.as_patch else "merged"
    state = {"closed": shut, "merged": merged}.get(item.state, item.state)
    return f"{what} {item.name} {'was' if item.state == 'closed' else 'is'} {state}"

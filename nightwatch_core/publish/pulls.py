"""Which fixes become draft pull requests tonight."""

from collections.abc import Callable, Collection, Iterator
from itertools import filterfalse

from nightwatch_core.code import edits as fixing
from nightwatch_core.code import fix_policy
from nightwatch_core.code.change_reach import Search
from nightwatch_core.code.file_diffs import file_diffs
from nightwatch_core.code.new_powers import powers_gained
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import Commit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import (
    Comment,
    DraftPull,
    OwnItem,
    Proposal,
    PublishPlan,
    Receipt,
    Skip,
)
from nightwatch_core.publish import candidates, issue_text
from nightwatch_core.publish.candidates import Reason, by_choice, effect_key, in_order, skip
from nightwatch_core.publish.expected_value import expected_value
from nightwatch_core.publish.mitigations import mitigations_in, not_wanted
from nightwatch_core.publish.patches import as_patch, how_it_stands, no_carrier
from nightwatch_core.publish.review import for_review
from nightwatch_core.publish.story_commits import draft_commits
from nightwatch_core.publish.tiers import Candidate, why_no_draft
from nightwatch_core.publish.told import Told
from nightwatch_core.publish.twins import Share, causes, shares

Read = Callable[[str], str | None]
_MADE = ("done", "already there")
_DOUBTS = ("weak", "worth")  # told only where nothing firmer speaks against a draft


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
        applied = fixing.apply(analysis.fix, read)
        risk = powers_gained(applied.changes, read, paths)
        mitigations = mitigations_in(applied.changes, read, options, analysis.evidence)
        capped = by_choice(why_no_draft(Candidate(share.members, options, to_run)), known, night)
        reason = (
            _not_this_one(analysis, known, night)
            or (capped if capped and capped.cause not in _DOUBTS else None)
            or no_carrier(options, issue)
            or _settled(candidates.known_item(analysis, issues), issue, receipts)
            or _refused(analysis, applied, read, paths)
            or _too_risky(options, risk)
            or not_wanted(mitigations, options)
            or capped
            or (None if _is_tonights(known, night) else _no_room_for_pull(options, new))
        )
        # numbers of a local outbox would link to somebody's issues once pushed
        refers = None if options.delivery == "local" else issue
        told = Told(
            analysis, share.others, commit, file_diffs(analysis.fix, read), risk, mitigations
        )
        if reason:
            skips += [skip(one, "pull", reason) for one in share.members if one.has_fix]
            proposals += _joined_draft(told, share, options, night)
        else:
            told = for_review(told, analyses, options, read, search)
            draft = _in_commits(_pull(told, share, applied, night, refers), analysis, read)
            proposals.append(as_patch(draft, issue) if options.drafts == "patch" else draft)
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
    """Say of every finding of tonight that may be an issue why no fix of it is proposed."""
    for share in shares:
        reason = why_no_draft(Candidate(share.members, options))
        if reason and reason.cause == "no fix" and not share.known:
            fresh = (one for one in share.members if one.ending.kind != "reused")
            yield from (skip(one, "pull", reason) for one in fresh)


def _has_fix(analysis: Analysis) -> bool:
    return analysis.has_fix and analysis.has_cause


def _joined_draft(
    told: Told, share: Share, options: NightOptions, night: str
) -> tuple[Comment, ...]:
    """A comment on the open draft that another error with its cause has: it is to list both."""
    known, joining = share.known, share.joining
    if not known or not joining or known.state != "open":
        return ()
    if options.highest_tier()[0] != "draft":
        return ()
    key = effect_key(
        "news", told.commit.repository if told.commit else "", str(known.number), night
    )
    news = f"The same cause is behind {', '.join(one.case.title for one in joining[:5])}"
    return (
        Comment(
            key=key,
            fingerprint=told.analysis.fingerprint,
            also=share.also or tuple(one.fingerprint for one in joining),
            number=known.number,
            on="issue" if known.as_patch else "pull",
            fix=fixing.fix_digest(told.analysis.fix),
            body=issue_text.comment_body(told, key, night, news),
        ),
    )


def _is_tonights(known: OwnItem | None, night: str) -> bool:
    """Whether the draft was made by this very night, which was taken up again."""
    return known is not None and known.night == night


def _not_this_one(analysis: Analysis, known: OwnItem | None, night: str) -> Reason | None:
    """Why no draft is due, given the one there is; another fix than a failed one gets its own."""
    if fixing.fix_digest(analysis.fix) in analysis.rejected:
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


def _settled(
    known: OwnItem | None, issue: int | None, receipts: tuple[Receipt, ...]
) -> Reason | None:
    """Why an error that people have dealt with needs no fix; None where it was reopened."""
    if known is None or known.state == "open":
        return None
    if any(r.number == issue and r.status in _MADE for r in receipts):
        return None
    planned = " as not planned" if known.state_reason == "not_planned" else ""
    return Reason("settled", f"issue #{known.number} is closed{planned}")


def _refused(
    analysis: Analysis, applied: fixing.Applied, read: Read, paths: Collection[str]
) -> Reason | None:
    """Why a fix cannot be, or may not be, proposed."""
    seen = {*analysis.read, *(e.path for e in analysis.evidence if e.verified)}
    text = fix_policy.refused(analysis.fix, applied, seen, read, paths)
    return Reason("refused", text) if text else None


def _too_risky(options: NightOptions, risk: str) -> Reason | None:
    return Reason("refused", risk) if risk and options.risky_fixes == "refuse" else None


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
    told: Told, share: Share, applied: fixing.Applied, night: str, issue: int | None
) -> DraftPull:
    analysis, known, commit = told.analysis, share.known, told.commit
    assert commit is not None
    key = known.key if known and _is_tonights(known, night) else ""
    failed = len(analysis.failed_pulls)
    digest = fixing.fix_digest(analysis.fix)
    attempt = (digest, str(failed)) if known and failed else ()
    key = key or effect_key("pull", commit.repository, analysis.fingerprint, *attempt)
    return DraftPull(
        key=key,
        fingerprint=analysis.fingerprint,
        also=share.also,
        branch=f"nightwatch/{key[:12]}",
        base=commit.branch,
        title=issue_text.pull_title(told),
        body=issue_text.pull_body(told, key, night, issue),
        commit_message=issue_text.commit_message(told, issue),
        changes=applied.changes,
        commit=commit.sha,
        labels=(issue_text.LABEL,),
        fix=digest,
    )


def _in_commits(draft: DraftPull, analysis: Analysis, read: Read) -> DraftPull:
    """The draft with a commit for each step, where its fix was made in several."""
    applied = fixing.Applied(changes=draft.changes)
    commits = draft_commits(analysis, applied, read, draft.commit_message)
    return draft.model_copy(update={"commits": commits}) if commits else draft

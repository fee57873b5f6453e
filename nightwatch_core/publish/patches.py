"""Drafts that are made without pushing a branch."""

from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import DraftPull, OwnItem
from nightwatch_core.publish.candidates import Reason


def no_carrier(options: NightOptions, issue: int | None) -> Reason | None:
    """Say why there is no patch where no issue carries it; files on this machine need none."""
    is_needed = options.drafts == "patch" and options.delivery == "github" and not options.dry_run
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

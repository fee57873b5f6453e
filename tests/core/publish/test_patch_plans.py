"""With `drafts` set to patch a fix becomes a patch on its issue, guarded like a draft."""

from datetime import date

import pytest
from analysis_shapes import COMMIT, FILES, FIX, analysis, case, group
from core.code.outside_paths import AGENTS, CI, PACKAGES, STARTS
from core.report_fixture import complete
from tables import tables_of

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.memory.follow_up import with_standing_patches
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Comment, DraftPull, OwnItem, Receipt
from nightwatch_core.publish.plan import plan_pulls
from nightwatch_core.report.headline import headline
from nightwatch_core.report.view import view

TABLES = tables_of(__file__)

NIGHT = "2026-11-20-abcdef"
PATCHES = NightOptions(publish="patches", delivery="github")
ISSUE = Receipt(key="k", kind="issue", fingerprint="v1:a", status="done", number=7)


def patch(**more):
    told = {"kind": "pull", "number": 7, "fingerprint": "v1:a", "key": "k" * 16}
    told |= {"night": "2026-11-01-000000", "as_patch": True, "fix": fix_digest((FIX,))}
    return OwnItem(**(told | more))


def plan(own=(), receipts=(ISSUE,), options=PATCHES, **more):
    night = (own, receipts, options, COMMIT, FILES.get, NIGHT)
    return plan_pulls((analysis(**{"fix": (FIX,), **more}),), *night)


def test_the_issue_carries_it_and_its_commit_is_known_again():
    (draft,) = plan().proposals
    assert isinstance(draft, DraftPull)
    assert (draft.as_patch, draft.issue, draft.branch) == (True, 7, "")
    assert draft.commit_message.endswith(f"\n\nNightWatch patch {draft.key}\n")


def test_without_an_issue_there_is_none_but_in_files_and_dry_runs():
    assert [skip.reason for skip in plan(receipts=()).skips] == [
        "there is no issue to attach the patch to"
    ]
    for options in ({"delivery": "local"}, {"dry_run": True}):
        assert plan(receipts=(), options=PATCHES.model_copy(update=options)).proposals


@pytest.mark.parametrize(
    ("state", "reason"), TABLES["test_it_is_made_once_whatever_drafts_are_by_now"]
)
def test_it_is_made_once_whatever_drafts_are_by_now(state, reason):
    for options in (PATCHES, NightOptions()):
        told = plan(own=(patch(state=state),), options=options)
        assert [skip.reason for skip in told.skips] == [reason]
    branch = patch(state="open", as_patch=False, number=9)
    assert [skip.reason for skip in plan(own=(branch,)).skips] == ["draft #9 is open"]


def test_another_fix_than_a_failed_one_gets_its_own_and_the_same_none():
    assert plan(own=(patch(),), failed_pulls=(7,)).proposals
    told = plan(own=(patch(),), failed_pulls=(7,), rejected=(fix_digest((FIX,)),))
    assert "rejected" in told.skips[0].reason


def test_another_error_with_its_cause_is_told_on_the_issue():
    other = analysis(
        case(group("v1:2", transaction="other")).model_copy(update={"signature": ""}), fix=(FIX,)
    )
    told = plan_pulls(
        (analysis(fix=(FIX,)), other), (patch(),), (ISSUE,), PATCHES, COMMIT, FILES.get, NIGHT
    )
    assert [(one.number, one.on) for one in told.proposals if isinstance(one, Comment)] == [
        (7, "issue")
    ]


def test_applied_by_hand_is_seen_where_the_base_holds_the_change():
    known = {"fingerprint": "v1:a", "error_class": "E", "root_cause": "", "edits": (FIX,)}
    lesson = Lesson(**known, first_detected=date(2026, 11, 1))
    held = {FIX.path: FILES[FIX.path].replace(FIX.old, FIX.new)}

    def states(read, *items):
        return [one.state for one in with_standing_patches(items, (lesson,), read)]

    assert states(held.get, patch()) == ["merged"]
    assert states(FILES.get, patch()) == ["open"]
    other, branch, shut = patch(fix="f1:other"), patch(as_patch=False), patch(state="closed")
    assert states(held.get, other, branch, shut) == ["open", "open", "closed"]


def test_reports_call_it_a_patch():
    night = complete()
    told = night.model_copy(
        update={"options": night.options.model_copy(update={"publish": "patches"})}
    )
    texts = [one.text for finding in view(told).findings for one in finding.publications]
    assert [text for text in texts if text.startswith("patch #")]
    assert "draft pull request" in headline(night)
    assert "draft pull request" not in headline(told)
    assert "1 patch" in headline(told)


@pytest.mark.parametrize("options", [NightOptions(), PATCHES])
@pytest.mark.parametrize("kind", ["answered", "reused"])
def test_one_policy_judges_what_was_found_tonight_and_what_a_lesson_kept(options, kind):
    """Whoever starts it: the night, `nightwatch one`, `act`; a lesson may have been edited."""
    paths = [path for group in (CI, PACKAGES, STARTS, AGENTS) for path in group[::8]]
    for path in paths:
        fix = (FIX.model_copy(update={"path": path}),)
        found = analysis(fix=fix, read=(path,), ending=Ending(kind=kind))
        night = ((found,), (), (ISSUE,), options, COMMIT, {path: FILES[FIX.path]}.get, NIGHT)
        told = plan_pulls(*night)
        assert told.proposals == ()
        assert told.skips[0].cause == "refused"


@pytest.mark.parametrize("kind", ["answered", "reused"])
def test_a_new_power_is_refused_in_a_kept_edit_as_in_a_new_one(kind):
    fix = FIX.model_copy(update={"new": "getattr(__import__('o' + 's'), 'system')('id')"})
    assert "starts processes" in plan(fix=(fix,), ending=Ending(kind=kind)).skips[0].reason

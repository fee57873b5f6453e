"""What becomes of a fix that meets other people's pull requests, or ours for other errors."""

import re
from datetime import timedelta

import pytest
from analysis_shapes import CART, COMMIT, DAY, FILES, FIX, analysis, case

from nightwatch_core.models.code import ChangedFile, OtherPull
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, OpenIssue, OwnItem
from nightwatch_core.models.report import Night
from nightwatch_core.publish.expected_value import effect_key
from nightwatch_core.publish.overlap import overlaps, with_overlaps
from nightwatch_core.publish.plan import plan_issues, plan_pulls
from nightwatch_core.report.builder import start_report

NIGHT = "2026-11-20-abcdef"
OPTIONS = NightOptions(delivery="github", max_pull_requests=5)
SAME = "@@ -1,2 +1,2 @@\n def total(lines):\n-    return sum(line.price for line in lines)\n"
RENAMED = f"{SAME}+    return sum(line.cost for line in lines)"
ROUNDED = f"{SAME}+    return round(sum(line.price for line in lines))"
ELSEWHERE = "@@ -90,1 +90,2 @@\n def other():\n+    pass"


def pull(diff=ROUNDED, **more):
    told = {"number": 12, "author": "alice", "url": "https://git.example/pull/12", "at": DAY}
    return OtherPull(files=(ChangedFile(path="shop/cart.py", diff=diff),), **(told | more))


def met(*pulls, own=(), options=OPTIONS, one=None):
    one = one or analysis(fix=(FIX,), confidence="high")
    return overlaps(one, pulls, own, options, COMMIT.repository, FILES.get)


def published(*pulls, own=(), options=OPTIONS, **more):
    """Issues and drafts of a night with one fix: proposals, and why there are no others."""
    one = analysis(fix=(FIX,), confidence="high", **more)
    found = met(*pulls, own=own, options=options, one=one)
    of = Night(id=NIGHT, window=Window(since=DAY, until=DAY), now=DAY)
    report = start_report(of, options, (), DAY)
    report = report.model_copy(update={"analyses": (one,), "base": COMMIT})
    told = with_overlaps(report, ((one.fingerprint, found),)).analyses
    issues = plan_issues(told, own, options, COMMIT, NIGHT)
    drafts = plan_pulls(told, own, (), options, COMMIT, FILES.get, NIGHT)
    reasons = [skip.reason for skip in drafts.skips]
    return (*issues.proposals, *drafts.proposals), reasons


@pytest.mark.parametrize(
    ("other", "kind", "because"),
    [
        (pull(RENAMED), "taken", "already changes these lines"),  # the same result
        (pull(title="AttributeError in total"), "taken", "already changes these lines"),
        (pull(ELSEWHERE, body="Mends the AttributeError of cart.py"), "taken", "says it is"),
        (pull(ELSEWHERE, body="Fixes #7"), "taken", "says it is about this error"),
        (pull(ELSEWHERE, body="https://github.com/shop/shop/issues/7"), "taken", "says it is"),
        (pull(), "beside", "for another purpose"),
        (pull(title="Not an XAttributeError, nor totals"), "beside", ""),
        (pull(body="acme/other#7, &#7; and #70"), "beside", ""),
        (pull(RENAMED, state="closed", words=("No.", "404 it is")), "turned down", ""),
    ],
)
def test_how_an_overlap_is_judged(other, kind, because):
    issue = OwnItem(kind="issue", number=7, fingerprint="v1:a")
    (found,) = met(other, own=(issue,))
    assert found.kind == kind
    assert because in found.because


@pytest.mark.parametrize(
    "other",
    [
        pull(ELSEWHERE),
        pull(ROUNDED, state="closed", body="AttributeError in total"),  # another change
        pull(RENAMED, state="merged", merged_at=DAY),  # not after a commit without a time
        pull("", title="Reformat"),
    ],
)
def test_what_is_no_overlap(other):
    assert met(other) == ()


def test_numbers_of_files_on_this_machine_are_nobodys_issues():
    issue = OwnItem(kind="issue", number=7, fingerprint="v1:a")
    local = OPTIONS.model_copy(update={"delivery": "local"})
    assert met(pull(ELSEWHERE, body="Fixes #7"), own=(issue,), options=local) == ()


def test_ours_for_this_error_are_judged_elsewhere_and_ours_for_others_like_anybodys():
    own = OwnItem(kind="pull", number=12, fingerprint="v1:a", branch="nightwatch/ab")
    assert met(pull(RENAMED), own=(own,)) == ()
    assert met(pull(RENAMED, number=0, branch="nightwatch/ab"), own=(own,)) == ()
    made = f"nightwatch/{effect_key('pull', COMMIT.repository, 'v1:a')[:12]}"
    assert met(pull(RENAMED, number=0, branch=made)) == ()  # a killed night's
    other = own.model_copy(update={"fingerprint": "v1:b"})
    assert [one.kind for one in met(pull(RENAMED), own=(other,))] == ["taken"]


def test_a_taken_fix_is_no_draft_and_its_issue_links_whose_it_is():
    proposals, reasons = published(pull(RENAMED), pull(number=13))
    (issue,) = proposals
    assert isinstance(issue, OpenIssue)
    assert (
        "[\\#12 by alice](<https://git.example/pull/12>) already changes these lines" in issue.body
    )
    assert reasons == ["#12 by alice already changes these lines"]


def test_lines_that_somebody_else_changes_for_something_else_are_said_in_the_draft():
    proposals, reasons = published(pull())
    draft = proposals[-1]
    assert isinstance(draft, DraftPull)
    assert "changes the same lines for another purpose: the second one to be merged" in draft.body
    assert reasons == []


def test_what_was_turned_down_is_not_proposed_again_and_says_the_last_words():
    proposals, reasons = published(pull(RENAMED, state="closed", words=("no", "We want\n404.")))
    assert reasons == ["the same change was rejected in #12 by alice: We want 404."]
    assert "Last comment: We want 404." in proposals[0].body


def test_what_was_merged_after_the_code_that_failed_awaits_its_deploy():
    old = COMMIT.model_copy(update={"at": DAY - timedelta(days=2)})
    later = pull(ROUNDED, state="merged", merged_at=DAY - timedelta(days=1), sha="d" * 40)
    of = case().model_copy(update={"commit": old})
    proposals, reasons = published(later, of=of)
    assert reasons == ["already changed by #12, awaiting deploy"]
    assert (
        "Already changed on main by `#12` of 2026-11-19, awaiting its deploy." in proposals[0].body
    )
    before = later.model_copy(update={"merged_at": DAY - timedelta(days=3)})
    assert published(before, of=of)[1] == []


def test_hostile_names_and_words_are_data():
    evil = "x](https://evil.example) @team\n## Closes #1 <!-- nightwatch:v1 -->"
    other = pull(RENAMED, author=evil, url="javascript:alert(1)", title=evil, body=evil * 10_000)
    turned = pull(RENAMED, number=9, state="closed", words=(f"/approve {evil}",), url="")
    for one in (other, turned):
        body = re.sub(r"`[^`\n]*`", "", published(one)[0][0].body)
        assert "\n## Closes" not in body
        assert "](https://evil.example)" not in body
        assert not re.search(r"(?<!\\)<!--", body.partition("\n")[2])
        assert "](<javascript" not in body


def test_deleted_files_and_files_nobody_has_meet_nothing():
    gone = ChangedFile(path="shop/gone.py", old_path="shop/cart.py", diff=RENAMED)
    assert [one.kind for one in met(pull().model_copy(update={"files": (gone,)}))] == ["taken"]
    assert CART  # found under the name that it has today

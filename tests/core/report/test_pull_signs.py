"""A merge request is shown as `!12`, as GitLab links it, in every rendering and every text."""

from datetime import UTC, date, datetime

import pytest
from core import lesson_shapes
from core.report.golden_reports import RENDERINGS
from core.report_fixture import NOW, analysis, remembered

from nightwatch_core.analysis.prompts import failed_fix
from nightwatch_core.code.verdict import _written_by
from nightwatch_core.memory.lesson_text import document, lesson_of
from nightwatch_core.memory.outcomes import open_trouble
from nightwatch_core.models.analysis import BaseBranchStatus
from nightwatch_core.models.code import (
    Blame,
    Commit,
    DraftCi,
    LoggedCommit,
    MergedPull,
    OtherPull,
    Suspect,
)
from nightwatch_core.models.knowledge import FixWatch, OutcomeEvent, OutcomeUpdate
from nightwatch_core.models.proposals import OwnItem, Receipt
from nightwatch_core.publish.finding import awaited
from nightwatch_core.publish.issue_text import FindingView, comment_body, issue_body, pull_body
from nightwatch_core.publish.plan import how_it_stands

MERGE_REQUEST = 4711
URL = f"https://git.example/acme/shop/-/merge_requests/{MERGE_REQUEST}"
WRONG, RIGHT = f"#{MERGE_REQUEST}", f"!{MERGE_REQUEST}"
AT = datetime(2026, 11, 19, tzinfo=UTC)


def found():
    """A finding whose suspect and whose change on the base branch are merge requests."""
    pull = MergedPull(number=MERGE_REQUEST, sign="!", title="Faster", sha="a" * 40, merged_at=AT)
    status = BaseBranchStatus(kind="changed", pull=MERGE_REQUEST, sign="!", sha="a" * 40)
    suspect = Suspect(pull=pull, score=1.0, because=("it wrote the line",))
    known = f"known since 2026-11-01, pull request {RIGHT}"
    update = {"suspects": (suspect,), "base_branch_status": status, "known_since": known}
    return analysis(1, suspect_commit=RIGHT).model_copy(update=update)


def gitlab_night(**more):
    one = found()
    name, own = one.fingerprint, {"kind": "pull", "number": MERGE_REQUEST, "url": URL}
    items = tuple(
        OwnItem(**own, fingerprint=f"v1:{state}", state=state, title=state)
        for state in ("open", "merged", "closed")
    )
    receipts = tuple(
        Receipt(key=kind, kind=kind, fingerprint=name, status="done", number=MERGE_REQUEST,
                on="pull", url=f"{URL}#note_1" if kind == "comment" else URL)
        for kind in ("pull", "update", "comment")
    )  # fmt: skip
    checks = DraftCi(
        number=MERGE_REQUEST, fingerprint=name, url=URL, state="passed", text="its checks passed"
    )
    watch = FixWatch(number=MERGE_REQUEST, sign="!", merged_at=AT)
    event = OutcomeEvent(
        kind="closed unmerged", number=MERGE_REQUEST, sign="!", on=date(2026, 11, 19), words=("no",)
    )
    followed = (
        OutcomeUpdate(fingerprint="v1:watched", title="watched", watch=watch),
        OutcomeUpdate(fingerprint=name, title="rejected", outcomes=(event,)),
    )
    night = remembered()
    options = night.options.model_copy(update={"delivery": "gitlab", "code": "gitlab"})
    update = {"options": options, "analyses": (one, *night.analyses[1:]), "outcomes": items,
              "receipts": receipts, "ci": (checks,), "followed": followed}  # fmt: skip
    return night.model_copy(update=update | more)


@pytest.mark.parametrize("rendering", list(RENDERINGS))
def test_no_rendering_of_a_night_calls_a_merge_request_an_issue(rendering):
    text = RENDERINGS[rendering](gitlab_night())
    assert RIGHT in text
    assert WRONG not in text


def test_the_report_shows_each_with_its_sign():
    text = RENDERINGS["md"](gitlab_night()).replace("`", "")
    assert awaited(found()) == f"already changed by {RIGHT}, awaiting deploy"
    for said in (
        f"draft pull request {RIGHT}", f"comment on pull request {RIGHT}", f"checks of {RIGHT}",
        f"waits for review: pull request {RIGHT}", f"measuring the fix: pull request {RIGHT}",
        f"closed unmerged: pull request {RIGHT}", f"another fix is in draft {RIGHT}",
    ):  # fmt: skip
        assert said in text, said


def test_issues_and_drafts_show_it_with_its_sign():
    commit = Commit(repository="acme/shop", sha="b" * 40, at=AT)
    finding = FindingView(found(), (), commit)
    texts = (
        issue_body(finding, "key-1", "n", None),
        comment_body(finding, "key-2", "n", "news"),
        pull_body(finding, "key-3", "n", 7),
    )
    assert any(RIGHT in text for text in texts)
    assert not any(WRONG in text for text in texts)
    assert "Refs #7" in texts[2], "an issue keeps its sign"


def test_texts_of_lessons_and_for_the_model_show_it_with_its_sign():
    event = OutcomeEvent(kind="closed unmerged", number=MERGE_REQUEST, sign="!", on=NOW.date())
    lesson = lesson_shapes.lesson(outcomes=(event,), pr_number=MERGE_REQUEST, pr_sign="!")
    item = OwnItem(kind="pull", number=MERGE_REQUEST, url=URL, fingerprint="v1:a")
    blame = Blame(sha="a" * 40, author="ann", at=AT, subject="Faster", line=1, text="x",
                  pull=MERGE_REQUEST, sign="!")  # fmt: skip
    other = OtherPull(number=MERGE_REQUEST, url=URL, author="ann", at=AT)
    for text in (
        open_trouble(lesson), failed_fix(event), how_it_stands(item), other.name,
        _written_by(blame), document(lesson),
    ):  # fmt: skip
        assert RIGHT in text
        assert WRONG not in text
    read = lesson_of(document(lesson), "errors/a.md")
    assert (read.pr_sign, read.outcomes[0].sign) == ("!", "!"), "it is kept"
    patch = item.model_copy(update={"as_patch": True, "number": 7, "url": "/-/issues/7#note_1"})
    assert how_it_stands(patch) == "the patch on #7 is open"
    assert LoggedCommit(sha="a" * 40, at=AT).sign == "#"

"""Errors with one cause: one issue, one draft, and what becomes of them counts for all."""

from datetime import date, timedelta

import pytest
from analysis_shapes import COMMIT, DAY, FILES, FIX, analysis, case, group, trace
from twins.writing import MemoryOutbox

from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.outcomes import Tonight, apply_outcomes, follow_lesson, open_trouble
from nightwatch_core.memory.prior_analyses import failed_pulls, refused_fixes, reused_analysis
from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Comment, OwnItem
from nightwatch_core.models.report import Night
from nightwatch_core.publish.overlap import causes
from nightwatch_core.publish.plan import plan_issues, plan_pulls
from nightwatch_core.text.markers import joined_body, marker, read_marker

EVERY = NightOptions(max_issues=50, max_pull_requests=50)


def night(number=1):
    until = DAY + timedelta(days=number)
    window = Window(since=until - timedelta(days=1), until=until)
    return Night(id=f"2026-11-{20 + number}-aaaaaa", window=window, now=until)


def twin(name, transaction, **more):
    """An error that failed at a line of its own; its fix is that of every other."""
    place = trace(path=f"shop/{name}.py", line=9)
    of = case(group(f"v1:{name}", transaction=transaction))
    of = of.model_copy(update={"trace": place, "signature": f"sig:{name}"})
    told = {"fix": (FIX,), "read": ("shop/cart.py",), **more}
    return analysis(of, **told)


ONE = twin("one", "cart/show", confidence="medium")
OTHER = twin("other", "cart/print", next_steps=("Look.",))
ALONE = twin(
    "alone",
    "cart/empty",
    fix=(Edit(path="shop/pay.py", old="gateway.charge(card)", new="gateway.charge(card, 1)"),),
    evidence=(Evidence(path="shop/pay.py", line=2, quote="gateway.charge", verified=True),),
    read=("shop/pay.py",),
)


def published(outbox, *analyses, tonight=None, options=EVERY):
    """Everything a night publishes, and its receipts."""
    tonight = tonight or night()
    own = outbox.own_items()
    issues = plan_issues(analyses, own, options, COMMIT, tonight.id)
    opened = tuple(outbox.publish(one) for one in issues.proposals)
    pulls = plan_pulls(analyses, own, opened, options, COMMIT, FILES.get, tonight.id)
    return (*opened, *(outbox.publish(one) for one in pulls.proposals)), (
        *issues.skips,
        *pulls.skips,
    )


def kinds(outbox):
    return sorted((item.kind, *sorted(item.names)) for item in outbox.own_items())


def test_two_errors_with_the_same_hunk_get_one_issue_and_one_draft():
    outbox = MemoryOutbox()
    receipts, skips = published(outbox, ONE, ALONE, OTHER)
    assert kinds(outbox) == [
        ("issue", "v1:alone"), ("issue", "v1:one", "v1:other"),
        ("pull", "v1:alone"), ("pull", "v1:one", "v1:other"),
    ]  # fmt: skip
    assert skips == ()
    shared = next(one for one in outbox.published if one.also)
    assert shared.fingerprint == "v1:other", "the surer finding leads"
    assert "Other errors with the same cause" in shared.body
    assert "cart/show" in shared.body
    assert read_marker(shared.body).also == ("v1:one",)
    assert {one.fingerprint: one.names for one in receipts}["v1:other"] == {"v1:one", "v1:other"}


def test_the_next_night_each_of_them_finds_the_shared_issue():
    outbox = MemoryOutbox()
    published(outbox, ONE, OTHER)
    before = kinds(outbox)
    for alone in (ONE, OTHER):
        receipts, _ = published(outbox, alone, tonight=night(2))
        assert {one.kind for one in receipts} <= {"comment"}
    assert kinds(outbox) == before


def test_another_error_with_the_cause_of_an_open_issue_joins_it_and_its_draft():
    outbox = MemoryOutbox()
    published(outbox, ONE)
    receipts, _ = published(outbox, ONE, OTHER, tonight=night(2))
    comments = [one for one in outbox.published if isinstance(one, Comment)]
    assert [(one.on, one.number) for one in comments] == [("issue", 1), ("pull", 2)]
    assert all({one.fingerprint, *one.also} == {"v1:one", "v1:other"} for one in comments)
    assert {one.kind for one in receipts} == {"comment"}
    assert [sorted(item.names) for item in outbox.own_items()] == [["v1:one", "v1:other"]] * 2
    lesson = lesson_from(OTHER, night(2), {}, receipts)
    assert [(one.kind, one.number) for one in lesson.proposed] == [("issue", 1), ("pull", 2)]
    assert (lesson.issue_number, lesson.pr_number) == (1, 2)
    published(outbox, OTHER, tonight=night(3))
    assert {item.kind for item in outbox.own_items()} == {"issue", "pull"}


def test_a_shared_draft_that_was_turned_down_is_none_for_both():
    outbox = MemoryOutbox()
    receipts, _ = published(outbox, ONE, OTHER)
    lessons = [lesson_from(one, night(), {}, receipts) for one in (ONE, OTHER)]
    assert [(one.issue_number, one.pr_number) for one in lessons] == [(1, 2), (1, 2)]

    closed = [
        item.model_copy(update={"state": "closed", "words": ("Prices are right.",)})
        if item.kind == "pull" else item
        for item in outbox.own_items()
    ]  # fmt: skip
    later = Tonight(night=night(2))
    told = [follow_lesson(one, tuple(closed), later, lambda _: False) for one in lessons]
    assert [[fate.kind for fate in one.outcomes] for one in told] == [["closed unmerged"]] * 2
    rejected = [apply_outcomes(*pair) for pair in zip(lessons, told, strict=True)]
    for lesson in rejected:
        assert "its fix was rejected in #2: Prices are right." in open_trouble(lesson)
        assert failed_pulls(lesson) == (2,)
        assert len(refused_fixes(lesson)) == 1

    again = [
        reused_analysis(one, of.case, night(2))
        for one, of in zip(rejected, (ONE, OTHER), strict=True)
    ]
    asked = MemoryOutbox(items=closed)
    _, skips = published(asked, *again, tonight=night(2))
    assert [item for item in asked.own_items() if item.kind == "pull"] == closed[1:]
    assert sum("rejected" in one.reason for one in skips) == 2


def test_what_is_known_against_one_counts_for_the_other():
    against = OTHER.model_copy(update={"rejected": ("f1:0",), "failed_pulls": (7,)})
    item = OwnItem(kind="pull", number=7, fingerprint="v1:other", state="closed")
    plan = plan_pulls((ONE, against), (item,), (), EVERY, COMMIT, FILES.get, night(2).id)
    assert [(one.fingerprint, one.also) for one in plan.proposals] == [("v1:other", ("v1:one",))]


def test_an_issue_that_nobody_plans_to_mend_is_none_for_its_twins():
    item = OwnItem(kind="issue", number=7, fingerprint="v1:other", state="closed",
                   state_reason="not_planned", closed_at=DAY)  # fmt: skip
    plan = plan_issues((ONE, OTHER), (item,), EVERY, COMMIT, night(2).id)
    assert plan.proposals == ()
    assert {one.reason for one in plan.skips} == {"issue #7 was closed as not planned"}
    assert {one.fingerprint for one in plan.skips} == {"v1:one", "v1:other"}


def test_the_same_quoted_line_is_one_cause_unless_it_is_only_where_both_fail():
    quoted = {"fix": (), "evidence": (QUOTE,)}
    assert len(causes((twin("one", "a", **quoted), twin("other", "b", **quoted)))) == 1
    failing = trace(path=QUOTE.path, line=QUOTE.line)
    both = [
        analysis(one.case.model_copy(update={"trace": failing}), **quoted) for one in (ONE, OTHER)
    ]
    assert len(causes(both)) == 2


def test_of_several_quoted_lines_those_count_that_the_cause_names():
    def quoting(name, *lines):
        cause = "It is None: shop/cart.py:2 gives nothing back."
        pieces = tuple(QUOTE.model_copy(update={"line": n}) for n in lines)
        return twin(name, name, fix=(), root_cause=cause, evidence=pieces)

    assert len(causes((quoting("one", 5, 2), quoting("other", 7, 2)))) == 1
    assert len(causes((quoting("one", 5, 20), quoting("other", 7, 20)))) == 2


QUOTE = Evidence(path="shop/cart.py", line=2, quote="return sum(lines)", verified=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"confidence": "low"},
        {"misfit": "line 2 is blank there"},
        {"evidence": (QUOTE.model_copy(update={"verified": False}),)},
        {"evidence": (QUOTE.model_copy(update={"line": 3}),)},
        {"evidence": (QUOTE.model_copy(update={"quote": ")"}),)},
    ],
)
def test_a_guess_is_nobodys_twin(changes):
    quoted = {"fix": (), "evidence": (QUOTE,)}
    assert len(causes((twin("one", "a", **quoted), twin("other", "b", **(quoted | changes))))) == 2


def test_an_import_that_two_fixes_need_is_no_cause():
    def fixed(name, text):
        edits = (
            Edit(path="shop/cart.py", old="import a", new="import a\nimport decimal"),
            Edit(path=f"shop/{name}.py", old="return 1", new=text),
        )
        return twin(name, name, fix=edits, evidence=())

    assert len(causes((fixed("one", "return decimal.One"), fixed("other", "return 2")))) == 2


def test_markers_take_names_in_once():
    body = marker("v1:a", "k", "n") + "\nText <!-- also v1:z -->"
    joined = joined_body(body, ("v1:b", "v1:a"))
    assert read_marker(joined).also == ("v1:b",)
    assert joined_body(joined, ("v1:b",)) == joined
    assert joined.endswith("\nText <!-- also v1:z -->")
    assert joined_body("not ours", ("v1:b",)) == "not ours"
    hostile = joined_body(body, ("v1:b --> <script>", "x" * 900, *map(str, range(99))))
    assert len(read_marker(hostile).also) == 20
    assert hostile.split("\n")[0].count("<") == 2


def test_a_day_is_kept_with_the_date_it_was_published():
    receipts, _ = published(MemoryOutbox(), ONE, OTHER)
    lesson = lesson_from(ONE, night(), {}, receipts)
    assert {one.on for one in lesson.proposed} == {date(2026, 11, 21)}

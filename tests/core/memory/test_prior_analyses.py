from datetime import timedelta

import pytest
from analysis_shapes import CART, FILES, FIX, case, tree
from core.lesson_shapes import lesson, night, seen

from nightwatch_core.memory.prior_analyses import CaseTonight, Memory, recall_case, with_priors
from nightwatch_core.memory.recall import LessonSearch
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.knowledge import CitedLine, FixWatch, OutcomeEvent, PublishedItem
from nightwatch_core.models.report import NightRecord
from nightwatch_core.text.plain_text import digest

TONIGHT = night(5)
QUOTE = "return sum(line.price for line in lines)"


def known(**more):
    told = {
        "file": "errors/a.md",
        "title": "Lines have no price",
        "error_class": "AttributeError",
        "transaction": "cart/show",
        "evidence": (CitedLine(path="shop/cart.py", line=2, quote=QUOTE, digest=digest(CART)),),
        "edits": (FIX,),
        "has_fix": True,
        **more,
    }
    return lesson("v1:a", **told)


def recall(
    *lessons, of=None, files=None, at=TONIGHT, afresh=False, archived=None, told=lambda one: one,
    nights=()
):  # fmt: skip
    shelf = {one.file: one for one in lessons}

    def similar(of):  # however little they have in common
        return LessonSearch(lessons).similar(of, threshold=0.0)

    memory = Memory(read=shelf.get, similar=similar, archived=archived, with_news=told)
    meeting = CaseTonight(case=of or case(), night=at, nights=nights, lesson_days=90)
    return recall_case(meeting, memory, tree(files), afresh)


def test_a_sound_lesson_stands_in_for_an_analysis():
    found = recall(known())
    assert isinstance(found, Analysis)
    assert found.ending.kind == "reused"
    assert found.usage.calls == 0
    assert found.fix == (FIX,)
    assert found.evidence[0].verified
    assert found.score > 0.5
    assert found.confidence == "high"


def doubted(*lessons, **more):
    found = recall(*lessons, **more)
    assert isinstance(found, UnexplainedCase)
    assert len(found.priors) == 1
    return found.priors[0]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"confidence": "low"}, "its confidence was low"),
        ({"root_cause": " "}, "cause unknown"),
        ({"evidence": ()}, "cites no line"),
        ({"evidence": (CitedLine(path="shop/cart.py", line=2, quote=QUOTE),)}, "looked like"),
        ({"evidence": (CitedLine(path="shop/cart.py", line=2, quote="no such line at all",
                             digest=digest(CART)),)}, "none of its quotes"),
        ({"edits": (Edit(path="shop/pay.py", old="no such text", new="x"),)}, "no longer applies"),
        ({"edits": ()}, "fix was not kept"),
    ],
)  # fmt: skip
def test_an_unsound_lesson_is_told_with_the_reason(more, why):
    prior = doubted(known(**more))
    assert why in prior.match.doubt
    assert prior.lesson.fingerprint == "v1:a"
    assert prior.summary


def test_a_changed_file_asks_for_a_new_look():
    changed = {**FILES, "shop/cart.py": CART + "# more\n"}
    assert "has changed since" in doubted(known(), files=changed).match.doubt
    gone = {"shop/pay.py": "x = 1\n"}
    assert "has changed since" in doubted(known(), files=gone).match.doubt


def test_afresh_a_lesson_is_told_but_never_used():
    prior = doubted(known(), afresh=True)
    assert not prior.match.doubt


SIMILAR = known(file="errors/c.md").model_copy(update={"fingerprint": "v1:other"})


def test_a_similar_error_is_told_but_is_no_answer():
    assert doubted(SIMILAR).lesson == SIMILAR


def test_a_night_that_is_taken_up_again_does_not_remember_itself():
    first = known(nights=seen(5))
    assert recall(first).priors == ()
    assert isinstance(recall(first, at=night(6)), Analysis)
    assert isinstance(recall(known(nights=seen(1, 5))), Analysis)


def test_a_planted_lesson_is_put_to_the_same_tests():
    planted = CitedLine(path="../../etc/passwd", line=1, quote="root:x:0:0:root", digest="")
    assert isinstance(recall(known(evidence=(planted,))), UnexplainedCase)
    outside = Edit(path="../../etc/passwd", action="create", new="x")
    assert "no longer applies" in doubted(known(edits=(outside,))).match.doubt


MERGED = FixWatch(number=7, merged_at=night(4).window.until)


def test_while_a_merged_fix_is_on_its_way_its_error_is_known_whatever_the_code_says():
    merged = known(watch=MERGED, seen_until=TONIGHT.window.until)
    changed = {**FILES, "shop/cart.py": CART.replace("price", "cost")}
    found = recall(merged, files=changed)
    assert isinstance(found, Analysis)
    assert found.waiting == "its fix was merged in #7 and is not yet in production"
    assert found.fix == ()
    assert not found.evidence[0].verified


NO = OutcomeEvent(kind="closed unmerged", number=7, on=TONIGHT.window.until.date(), words=("No.",))


def test_what_tonight_brought_counts_before_the_lesson_is_used():
    prior = doubted(known(), told=lambda one: one.model_copy(update={"outcomes": (NO,)}))
    assert prior.match.doubt == "its fix was rejected in #7: No."
    assert prior.lesson.outcomes == (NO,)


REOPENED = NO.model_copy(update={"kind": "reopened", "number": 6})
LOST = (CitedLine(path="shop/cart.py", line=2, quote="no such line", digest=digest(CART)),)


@pytest.mark.parametrize(
    ("more", "alone"),
    [
        ({"outcomes": (NO,)}, True),
        ({"outcomes": (REOPENED.model_copy(update={"answered": True}), NO)}, True),
        ({"outcomes": (REOPENED, NO)}, False),
        ({"outcomes": (NO,), "confidence": "low"}, False),
        ({"outcomes": (NO,), "fix_owed": "it does not parse"}, False),
        ({"outcomes": (NO,), "evidence": LOST}, False),
        ({"outcomes": (NO.model_copy(update={"kind": "no effect"}),)}, False),
    ],
)
def test_after_a_rejection_alone_only_the_fix_of_a_proved_cause_is_asked_for(more, alone):
    assert doubted(known(**more)).match.fix_alone is alone


def test_an_archived_lesson_comes_back_with_its_error():
    filed = known(file="archive/a.md")
    asked = []

    def archived(names):
        asked.append(names)
        return filed if "v1:a" in names else None

    found = recall(archived=archived)
    assert isinstance(found, Analysis)
    assert found.ending.detail == "archive/a.md"
    assert recall(known(), archived=archived).ending.detail == "errors/a.md"
    assert len(asked) == 1


def test_a_stale_lesson_is_told_after_those_that_fit_the_code():
    stale = known(file="errors/b.md", stale="shop/cart.py was rewritten")
    found = recall(stale.model_copy(update={"fingerprint": "v1:b"}), SIMILAR)
    assert [one.lesson.fingerprint for one in found.priors] == ["v1:other", "v1:b"]


def test_a_fresh_analysis_remembers_what_it_was_told():
    failed = PublishedItem(kind="pull", number=7, on=TONIGHT.window.until.date(), fix="f1:no",
                      outcome="closed unmerged")  # fmt: skip
    unknown = recall(known(proposed=(failed,), outcomes=(NO,)))
    fresh = Analysis(case=case(), title="t", root_cause="r", confidence="high")
    found = with_priors(fresh, (unknown,))
    assert found.prior_fingerprints == ("v1:a",)
    assert found.rejected == ("f1:no",)
    assert found.news == "its fix was rejected in #7"
    assert with_priors(fresh, ()) == fresh


@pytest.mark.parametrize(
    ("occurrences", "without", "why", "later"),
    [
        pytest.param(7, (4,), "it came back, after 1 night without it", 0, id="back"),
        pytest.param(7, (3, 4), "it came back, after 1 night without it", 0, id="seen on night 3"),
        pytest.param(7, (4,), "it came back, after 1 night without it", 25, id="windows overlap"),
        pytest.param(7, (3,), "", -25, id="a window that ended a little later"),
        pytest.param(1, (4,), "", 0, id="seldom: not seen is no news"),
        pytest.param(7, (), "", 0, id="seen on every night that looked"),
    ],
)
def test_an_error_that_was_gone_is_looked_at_again(occurrences, without, why, later):
    records = tuple(
        NightRecord(id=f"n{day}", status="complete", started=night(day).now, night=night(day))
        for day in without
    )
    until = night(3).window.until + timedelta(minutes=later)
    earlier = known(nights=seen(1, 2, 3, occurrences=occurrences), seen_until=until)
    found = recall(earlier, nights=records)
    if why:
        assert found.priors[0].match.doubt == why
    else:
        assert found.ending.kind == "reused"

import pytest
from analysis_shapes import CART, FILES, FIX, case, group, tree
from core.lesson_shapes import lesson, night, seen

from nightwatch_core.index_text import entry_of, index_over
from nightwatch_core.models.analysis import Analysis, Edit
from nightwatch_core.models.assignment import Unknown
from nightwatch_core.models.knowledge import Cited, Index
from nightwatch_core.recollecting import checked, recollected
from nightwatch_core.reuse import reused
from nightwatch_core.tracing import digest

TONIGHT = night(5)
QUOTE = "return sum(line.price for line in lines)"


def known(**more):
    told = {
        "file": "errors/a.md",
        "title": "Lines have no price",
        "error_class": "AttributeError",
        "transaction": "cart/show",
        "evidence": (Cited(path="shop/cart.py", line=2, quote=QUOTE, digest=digest(CART)),),
        "edits": (FIX,),
        "has_fix": True,
        **more,
    }
    return lesson("v1:a", **told)


def recall(*lessons, of=None, files=None, at=TONIGHT, afresh=False):
    shelf = {one.file: one for one in lessons}
    index = index_over(tuple(entry_of(one) for one in lessons), ())
    return recollected(of or case(), index, shelf.get, tree(files), at, afresh)


def test_a_sound_lesson_stands_in_for_an_analysis():
    found = recall(known())
    assert isinstance(found, Analysis)
    assert found.ending.kind == "reused"
    assert found.usage.calls == 0
    assert found.fix == (FIX,)
    assert found.evidence[0].verified
    assert found.score > 0.5
    assert found.confidence == "high"


def test_a_lesson_is_found_under_an_alias():
    of = case(others=(group("v1:a"),), leader=group("v1:z", transaction="other"))
    assert isinstance(recall(known(), of=of), Analysis)


def test_a_regression_is_looked_into_again_and_told_what_was_known():
    back = case(leader=group("v1:a", inbox="resolved, and back"))
    prior = doubted(known(), of=back)
    assert prior.match.because[-1] == "but it was resolved, and came back"


def doubted(*lessons, **more):
    found = recall(*lessons, **more)
    assert isinstance(found, Unknown)
    assert len(found.priors) == 1
    return found.priors[0]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"fix_confidence": "low"}, "its confidence was low"),
        ({"root_cause": " "}, "names no root cause"),
        ({"outcome": "closed unmerged"}, "rejected"),
        ({"evidence": ()}, "cites no line"),
        ({"evidence": (Cited(path="shop/cart.py", line=2, quote=QUOTE),)}, "looked like"),
        ({"evidence": (Cited(path="shop/cart.py", line=2, quote="no such line at all",
                             digest=digest(CART)),)}, "none of its quotes"),
        ({"edits": (Edit(path="shop/pay.py", old="no such text", new="x"),)}, "no longer applies"),
        ({"edits": ()}, "fix was not kept"),
    ],
)  # fmt: skip
def test_an_unsound_lesson_is_told_with_the_reason(more, why):
    prior = doubted(known(**more))
    assert why in prior.match.because[-1]
    assert prior.lesson.fingerprint == "v1:a"
    assert prior.summary


def test_a_changed_file_asks_for_a_new_look():
    changed = {**FILES, "shop/cart.py": CART + "# more\n"}
    assert "has changed since" in doubted(known(), files=changed).match.because[-1]
    gone = {"shop/pay.py": "x = 1\n"}
    assert "has changed since" in doubted(known(), files=gone).match.because[-1]


def test_afresh_a_lesson_is_told_but_never_used():
    prior = doubted(known(), afresh=True)
    assert not any(because.startswith("but") for because in prior.match.because)


def test_a_similar_error_is_told_but_is_no_answer():
    other = known(file="errors/b.md").model_copy(update={"fingerprint": "v1:other"})
    prior = doubted(other)
    assert prior.lesson.fingerprint == "v1:other"


def test_a_night_that_is_taken_up_again_does_not_remember_itself():
    first = known(nights=seen(5))
    assert recall(first).priors == ()
    assert isinstance(recall(first, at=night(6)), Analysis)
    assert isinstance(recall(known(nights=seen(1, 5))), Analysis)


def test_a_lesson_that_cannot_be_read_is_passed_over():
    index = index_over((entry_of(known()),), ())
    found = recollected(case(), index, {}.get, tree(), TONIGHT, False)
    assert found == Unknown(case=case())


def test_knowing_nothing():
    assert recollected(case(), Index(), {}.get, tree(), TONIGHT, False) == Unknown(case=case())


def test_a_planted_lesson_is_put_to_the_same_tests():
    planted = Cited(path="../../etc/passwd", line=1, quote="root:x:0:0:root", digest="")
    assert isinstance(recall(known(evidence=(planted,))), Unknown)
    outside = Edit(path="../../etc/passwd", action="create", new="x")
    assert "no longer applies" in doubted(known(edits=(outside,))).match.because[-1]


def test_a_checked_analysis_says_what_does_not_hold():
    remembered = reused(known(edits=(Edit(path="gone.py", action="delete"),)), case(), TONIGHT)
    found = checked(remembered, tree())
    assert found.fix == ()
    assert any("does not apply" in because for because in found.because)

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.intake import limits
from nightwatch_core.intake.cases import RULES, cases, families, signature
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace

TABLES = tables_of(__file__)
SEEN = datetime(2026, 11, 3, tzinfo=UTC)


def group(number, error_class="KeyError", transaction=""):
    return ErrorGroup(
        fingerprint=f"v1:{number}",
        source="file",
        error_class=error_class,
        transaction=transaction,
        last_seen=SEEN,
    )


def trace(path="app/a.rb", function="total", line=3, root="KeyError"):
    inner = Frame(path=f"/srv/{path}", repo_path=path, function=function, line=line, in_app=True)
    library = Frame(path="/gems/x.rb", function="call", line=1)
    wrapper = ExceptionLink(
        error_class="Wrapped", frames=(Frame(path="/srv/app/w.rb", in_app=True),)
    )
    return Trace(links=(wrapper, ExceptionLink(error_class=root, frames=(library, inner))))


def test_one_root_class_in_one_place_is_one_case():
    first, second, third = group(1), group(2, "Wrapped"), group(3)
    block = trace(function="block in total", line=9)
    traced = (first, trace(line=3)), (second, block), (third, trace(root="TypeError"))
    found = cases((*traced, traced[0]))
    assert [case.groups for case in found] == [(first, second), (third,)]
    assert found[0].aliases == ("v1:2", found[0].signature)
    assert found[0].trace == trace(line=3)


def test_groups_without_a_place_stand_alone():
    outside = Trace(
        links=(ExceptionLink(error_class="KeyError", frames=(Frame(path="/gems/x.rb"),)),)
    )
    found = cases(((group(1), None), (group(2), None), (group(3), outside), (group(4), Trace())))
    assert [case.fingerprint for case in found] == ["v1:1", "v1:2", "v1:3", "v1:4"]
    assert {case.signature for case in found} == {""}


def test_the_line_tells_code_without_a_name_apart():
    for nameless in ("", "<main>", "block in <main>", "Object.<anonymous>", "{closure}"):
        item, other = (trace(function=nameless, line=n) for n in (101, 202))
        assert signature(group(1), item) != signature(group(1), other)
        assert signature(group(1), trace(function=nameless, line=None)) == ""
    named = [trace(function="<init>", line=n) for n in (101, 202)]
    assert signature(group(1), named[0]) == signature(group(1), named[1])


def alone(number, known, error_class="KeyError", tx=""):
    return Case(leader=group(number, error_class, tx), trace=known)


def test_each_rule_makes_its_family():
    pairs = (
        (alone(1, trace()), alone(2, trace(root="TypeError"))),
        (alone(3, trace("b.rb", "x")), alone(4, trace("b.rb", "y"))),
        (alone(5, None, tx="Controller/o/show"), alone(6, None, tx="Controller/o/edit")),
    )
    assert len(pairs) == len(RULES)
    for (leader, sibling), (because, _) in zip(pairs, RULES, strict=True):
        (family,) = families((leader, sibling))
        assert (family.leader, family.siblings) == (leader, (sibling,))
        assert family.because == because


def test_strangers_stay_apart_and_keep_their_order():
    names = ("jobs/ImportStock", "jobs/ImportPrices", "main.handle", "main.serve", "", "")
    placed = alone(1, trace("a.rb", "x")), alone(2, trace("b.rb", "x", root="TypeError"))
    strangers = (*placed, *(alone(n, None, tx=name) for n, name in enumerate(names, 3)))
    found = families(strangers)
    assert tuple(family.leader for family in found) == strangers
    assert not any(family.siblings or family.because for family in found)


def test_the_closest_leader_is_joined_and_not_the_first():
    by_module = alone(1, trace("a.rb", "x"), tx="Controller/o/show")
    by_frame = alone(2, trace("b.rb", "y", root="TypeError"))
    case = alone(3, trace("b.rb", "y"), tx="Controller/o/edit")
    found = families((by_module, by_frame, case))
    assert [family.siblings for family in found] == [(), (case,)]


def test_a_full_family_starts_another():
    many = tuple(alone(n, trace(function=f"f{n}")) for n in range(12))
    found = families(many)
    assert [1 + len(family.siblings) for family in found] == [limits.FAMILY, limits.FAMILY, 2]


def test_a_case_was_seen_when_any_of_its_groups_was():
    early, late = datetime(2026, 11, 3, 7, 9, tzinfo=UTC), datetime(2026, 11, 3, 10, 23, tzinfo=UTC)
    leader = group(1).model_copy(update={"first_seen": late, "last_seen": late})
    other = group(2).model_copy(update={"first_seen": early, "last_seen": None})
    case = Case(leader=leader, others=(other, group(3)))
    assert (case.first_seen, case.last_seen) == (early, late)
    assert Case(leader=group(4).model_copy(update={"last_seen": None})).last_seen is None


def raised(
    at, says, tx, caller=None, library="execute", own="query", root="sqlite3.OperationalError"
):
    """Say what a group and its trace are: raised in a library that `own` calls for `caller`."""
    frames = (Frame(path="/gems/db.py", function=library),) if library else ()
    ours = ((own, 7), (caller or tx, 3))
    frames += tuple(
        Frame(path="/srv/app/db.py", repo_path="app/db.py", function=name, line=line, in_app=True)
        for name, line in ours
    )
    link = ExceptionLink(error_class=root, message=says, frames=frames)
    seen = group(at, root, tx).model_copy(update={"message": says})
    return seen, Trace(links=(link,))


@pytest.mark.parametrize("told", TABLES["cases"], ids=lambda told: told["why"])
def test_what_is_one_case(told):
    traced = tuple(raised(at, **{**told["all"], **one}) for at, one in enumerate(told["groups"]))
    found = cases(traced)
    assert [len(case.groups) for case in found] == told["cases"]
    names = [case.signature for case in found]
    assert len({*names}) == len(names)


LOCKED, COLUMN = "database is locked", "no such column: {}"
VALUES = st.one_of(st.integers().map(str), st.uuids().map(str), st.sampled_from(("'a'", "a1")))


@given(
    st.lists(st.tuples(st.sampled_from((LOCKED, COLUMN)), VALUES), min_size=1, max_size=9),
    st.randoms(),
)
def test_values_make_no_cases_and_neither_does_an_order(said, chance):
    traced = [raised(at, text.format(value), f"GET /{at}") for at, (text, value) in enumerate(said)]
    found = {frozenset(case.groups) for case in cases(tuple(traced))}
    by_text = [[one for one, (text, _) in zip(traced, said, strict=True) if text == kind]
               for kind in (LOCKED, COLUMN)]  # fmt: skip
    assert found == {frozenset(group for group, _ in some) for some in by_text if some}
    chance.shuffle(traced)
    assert {frozenset(case.groups) for case in cases(tuple(traced))} == found


def test_the_most_frequent_group_leads_and_lends_its_trace():
    few, many = group(1), group(2, "Wrapped", "GET /many").model_copy(update={"occurrences": 9})
    old = many.model_copy(update={"fingerprint": "v1:0", "last_seen": SEEN.replace(year=2020)})
    (case,) = cases(((few, trace(line=3)), (old, trace(line=4)), (many, trace(line=5))))
    assert case.groups == (many, old, few)
    assert (case.title, case.trace) == ("Wrapped in GET /many", trace(line=5))

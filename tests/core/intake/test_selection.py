import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.intake.selection import case_order, frequency, narrow, score, select, severity
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import RecallResult, UnexplainedCase
from nightwatch_core.models.errors import Case, ErrorGroup, Selection, Triage
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules

TABLES = tables_of(__file__)

BOTS = IgnoreRules(rules=(IgnoreRule(pattern="wp-login", line=4, reason="bots"),))


def group(number, occurrences=1, message=""):
    return ErrorGroup(
        fingerprint=f"v1:{number:02}",
        source="file",
        error_class="KeyError",
        message=message,
        occurrences=occurrences,
    )


def test_the_best_are_kept_best_first():
    found = select([group(n, occurrences=n * 10) for n in range(1, 6)], IgnoreRules(), 2)
    assert [g.occurrences for g in found.kept] == [50, 40]


def test_every_drop_has_its_reason():
    groups = (group(1, 90), group(2, 99, "GET /wp-login.php"), group(3, 10))
    found = select(groups, BOTS, 1)
    assert found.kept == (groups[0],)
    assert [(item.group, item.reason, item.note) for item in found.dropped] == [
        (groups[1], "ignored: contains 'wp-login' (ignore.yml line 4: bots)", ""),
        (groups[2], "limit of 1 error group a night reached", "rank 2 of 2, score 0.39"),
    ]
    assert [item.kind for item in found.dropped] == ["ignored", "limit"]


def test_what_the_team_ignores_at_the_source_is_dropped_with_that_reason():
    ignored = Triage(state="ignored", service="Acme", inbox="Issues")
    there, both = (group(n, 99, "wp-login" * (n - 1)) for n in (1, 2))
    there, both = (item.model_copy(update={"triage": ignored}) for item in (there, both))
    named = group(3, 1).model_copy(update={"triage": Triage(assignee="ignored")})
    found = select((there, both, named), BOTS, 1, frozenset({there.fingerprint}))
    assert found.kept == (named,)
    told = {(item.kind, item.reason) for item in found.dropped}
    assert told == {("ignored", "ignored in Acme's Issues")}


def test_a_regression_ranks_up():
    back = group(1, 20).model_copy(update={"triage": Triage(state="regressed")})
    assert select((group(2, 40), back), BOTS, 1).kept == (back,)
    assert select((group(2, 99), back), BOTS, 1).kept == (group(2, 99),)
    same = [group(n, 5).model_copy(update={"error_class": "SecurityError"}) for n in (1, 2)]
    same[1] = same[1].model_copy(update={"triage": Triage(state="regressed")})
    assert select(same, BOTS, 2).kept == (same[1], same[0])


@given(st.permutations([group(n, occurrences=n % 3) for n in range(9)]), st.integers(-1, 12))
def test_nothing_is_lost_and_order_of_input_does_not_matter(groups, limit):
    found = select(groups, BOTS, limit)
    assert found == select(sorted(groups, key=lambda g: g.fingerprint), BOTS, limit)
    assert len(found.kept) == min(9, max(0, limit))
    told = [*found.kept, *(item.group for item in found.dropped)]
    assert sorted(g.fingerprint for g in told) == sorted(g.fingerprint for g in groups)


def test_known_errors_take_no_place_from_new_ones():
    groups = [group(n, occurrences=n * 10) for n in range(1, 6)]
    known = frozenset(g.fingerprint for g in groups[3:])
    found = select(groups, IgnoreRules(), 1, known)
    assert found.kept == (groups[4], groups[3], groups[2])
    assert [item.group for item in found.dropped] == [groups[1], groups[0]]


def test_new_cases_beyond_the_limit_are_dropped_with_their_groups():
    item, two, three, old = (group(n) for n in range(1, 5))
    first, second = Case(leader=item, others=(two,)), Case(leader=three)
    told = Analysis(case=Case(leader=old), title="t", root_cause="r", confidence="low")
    memory = RecallResult(
        known=(told,), unknown=(UnexplainedCase(case=first), UnexplainedCase(case=second))
    )
    tonight = narrow(Selection(kept=(item, two, three, old)), memory, 1)
    assert [unknown.case for unknown in tonight.memory.unknown] == [first]
    assert tonight.memory.known == (told,)
    assert tonight.selection.kept == (item, two, old)
    assert [(d.group, d.reason, d.note) for d in tonight.selection.dropped] == [
        (three, "limit of 1 case a night reached", "case 2 of 2")
    ]


@pytest.mark.parametrize("example", TABLES["order"], ids=lambda example: example["why"])
def test_what_stands_first(example):
    def case(name, *groups):
        named = {"source": "file", "error_class": "KeyError"}
        made = [{**named, "fingerprint": f"v1:{name}{at}", **g} for at, g in enumerate(groups)]
        return Case.model_validate({"leader": made[0], "others": made[1:]})

    cases = {name: case(name, *groups) for name, groups in example["cases"].items()}
    backwards = sorted(reversed(cases.values()), key=case_order(Selection()))
    assert [item.fingerprint for item in backwards] == [c.fingerprint for c in cases.values()]


def test_what_batches_judged_keeps_their_order():
    critical, frequent = group(1), group(2, 500)
    judged = Selection(kept=(critical, frequent), is_judged=True)
    cases = [Case(leader=item) for item in (frequent, critical)]
    assert sorted(cases, key=case_order(judged)) == cases[::-1]
    assert sorted(cases, key=case_order(Selection(kept=judged.kept))) == cases


def test_the_score_is_the_weighted_sum_of_its_terms():
    seen = group(1, 30).model_copy(update={"error_class": "NameError"})
    twice = group(2, 20)
    assert score(seen) == pytest.approx(0.7 * frequency(30) + 0.3 * 0.7)
    assert score(twice, seen) == pytest.approx(0.7 * frequency(50) + 0.3 * 0.7)
    assert [frequency(n) for n in (-1, 0, 1_000, 5_000)] == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("figure", TABLES["severities"])
def test_severities(figure):
    names = TABLES["severities"][figure].split()
    assert {name: severity(name) for name in names} == dict.fromkeys(names, figure)
    assert severity("") == 0.5

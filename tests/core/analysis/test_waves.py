from analysis_shapes import COMMIT, analysis, group
from hypothesis import given, settings
from hypothesis import strategies as st
from wave_shapes import CODE, NIGHT, A, B, C, first

from nightwatch_core.analysis.limits import LEADER_FINDINGS
from nightwatch_core.analysis.waves import first_wave, leader_findings, second_wave
from nightwatch_core.models.analysis import Failure
from nightwatch_core.models.answer import Edit, Evidence, Handover, Learning, Usage
from nightwatch_core.models.assignment import WaveResult
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions


def names(assignments):
    return [assignment.case.fingerprint for assignment in assignments]


def test_leaders_first_then_siblings():
    waves = first(A, B, C)
    assert names(waves.leaders) == ["v1:a", "v1:c"]
    assert names(second_wave(NightOptions(), waves, WaveResult())) == ["v1:b"]


def test_every_case_is_assigned_once_with_what_was_gathered_for_it():
    waves = first(A, B, C)
    every = (*waves.leaders, *second_wave(NightOptions(), waves, WaveResult()))
    assert sorted(names(every)) == ["v1:a", "v1:b", "v1:c"]
    for one in every:
        assert (one.commit, one.night) == (COMMIT, "n1")
    assert every[0].traces[0].raw == "a"
    assert every[2].traces[0].raw == "b"


def test_siblings_are_told_what_their_leader_found():
    waves = first(A, B, C)
    found = analysis(A.unknown.case, title="No price", root_cause="It is called cost.")
    other = analysis(C.unknown.case, title="Other")
    (sibling,) = second_wave(NightOptions(), waves, WaveResult(analyses=(other, found)))
    assert "No price" in sibling.research.leader_findings[0]
    assert sibling.research.leader_findings[1:] == ("files examined: shop/cart.py",)
    unknown = found.model_copy(update={"handover": Handover()})
    (sibling,) = second_wave(NightOptions(), waves, WaveResult(analyses=(other, unknown)))
    assert sibling.research.leader_findings == ()


def test_a_leader_for_whom_nothing_is_left_waits_for_what_the_first_wave_leaves():
    options = NightOptions(total_token_budget=50_000)
    waves = first_wave(options, NIGHT, CODE, (A, B, C))
    assert [(one.case, one.allowance.tokens) for one in waves.leaders] == [(A.unknown.case, 50_000)]
    spent = WaveResult(
        analyses=(analysis(A.unknown.case, usage=Usage(input_tokens=4_000, cost=0.5)),)
    )
    second = second_wave(options, waves, spent)
    assert names(second) == ["v1:b", "v1:c"]
    assert [one.allowance.tokens for one in second] == [46_000, 0]
    assert second[0].research.leader_findings
    assert not second[1].research.leader_findings


def test_a_failed_leader_tells_nothing_and_its_siblings_are_analysed():
    waves = first(A, B)
    failed = WaveResult(failures=(Failure(case=A.unknown.case, reason="refused"),))
    (sibling,) = second_wave(NightOptions(), waves, failed)
    assert sibling.research.leader_findings == ()


def test_the_second_wave_gets_what_the_first_left_failures_included():
    options = NightOptions(total_token_budget=150_000, cost_per_night=3.0)
    waves = first_wave(options, NIGHT, CODE, (A, B, C))
    spent = WaveResult(
        analyses=(analysis(A.unknown.case, usage=Usage(input_tokens=20_000, cost=1.0)),),
        failures=(
            Failure(case=C.unknown.case, reason="r", usage=Usage(output_tokens=10_000, cost=1.5)),
        ),
    )
    (sibling,) = second_wave(options, waves, spent)
    assert sibling.allowance.tokens == 120_000
    assert sibling.allowance.cost == 0.5


def test_siblings_are_told_finding_learnings_files_and_patterns():
    leader = analysis(
        title="No price",
        root_cause="It is called cost.",
        learnings=(Learning(fact="Prices are in cents", path="shop/cart.py", line=2),),
        read=("shop/cart.py", "shop/pay.py"),
        tags=("race-condition", "external-api"),
    )
    assert leader_findings(leader) == (
        "No price (high; shop/cart.py): It is called cost.",
        "learned: Prices are in cents (shop/cart.py:2)",
        "files examined: shop/cart.py, shop/pay.py",
        "patterns seen: race-condition, external-api",
    )


def test_a_finding_names_title_and_files_on_one_line_or_the_class():
    edits = (Edit(path="app/a.rb"), Edit(path="app/b.rb"))
    evidence = (Evidence(path="app/b.rb", line=2),)
    leader = analysis(title="Rates are\nempty", root_cause="nil", fix=edits, evidence=evidence)
    assert leader_findings(leader)[0] == "Rates are empty (high; app/a.rb, app/b.rb): nil"
    of = Case(leader=group("v1:z", "Shop::Oops"))
    assert leader_findings(analysis(of, title=""))[0].startswith("Oops (high")


def test_long_titles_and_paths_leave_half_of_the_line_to_the_cause():
    edits = tuple(Edit(path=f"bookmarks/services/{name}_tagging.py") for name in "abc")
    leader = analysis(title="A title " * 30, root_cause="The host is None. " * 20, fix=edits)
    line = leader_findings(leader)[0]
    assert len(line) <= 200
    assert len(line) - line.index("The host is None.") >= 100


def test_files_are_named_whole_or_counted():
    read = tuple(f"app/models/{'x' * 90}_{n}.rb" for n in range(40))
    (_, files) = leader_findings(analysis(read=read))
    named = files.removeprefix("files examined: ").split(", ")
    assert named[-1] == f"and {40 - len(named) + 1} more"
    assert set(named[:-1]) <= set(read)
    assert len(named) > 5


TEXT = st.text(max_size=40).map(lambda text: text * 30)


@settings(max_examples=40, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=9), st.lists(TEXT, max_size=60), st.lists(TEXT, max_size=9))
def test_it_is_bounded(text, facts, read, tags):
    leader = analysis(
        title=text, root_cause=text, read=tuple(read), tags=tuple(tags),
        learnings=tuple(Learning(fact=fact, path=text) for fact in facts),
    )  # fmt: skip
    lines = leader_findings(leader)
    assert sum(len(line) + 1 for line in lines) <= LEADER_FINDINGS
    summaries = [line for line in lines if not line.startswith(("files examined", "patterns"))]
    assert len(summaries) <= 4
    assert all(len(line) <= 200 for line in summaries)
    assert not any("\n" in line for line in lines)

"""How far a finding goes, and which fix comes first."""

import pytest
from analysis_shapes import case, group
from core.publish.test_proposals import NIGHT, fix_of, issues, named, pulls, reasons

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Check, GateResult, Reproduction, not_run
from nightwatch_core.publish.expected_value import expected_value
from nightwatch_core.publish.finding import FindingView
from nightwatch_core.publish.issue_text import pull_body, pull_title
from nightwatch_core.publish.plan import for_review
from nightwatch_core.publish.tiers import Candidate, tier_of

TESTS = (Check(name="tests", outcome="passed", text="unittest: 5 tests, green"),)
GREEN = GateResult(outcome="passed", checks=TESTS, executing=3)
SHOWN = Reproduction(outcome="reproduced")
REPRODUCED = GREEN.model_copy(
    update={"reproduction": SHOWN.model_copy(update={"green": "1 passed"})}
)
STILL_RED = GREEN.model_copy(update={"reproduction": SHOWN})  # its test, with the fix
RED = GateResult(outcome="failed", text="red with the fix: test_total")
UNRUN = not_run("no tests", "it has no tests")
LONG = tuple(one.model_copy(update={"new": "x = 1\n" * 40}) for one in fix_of(1))
ONCE = case(group(occurrences=1, users=None))


def fixed(number=1, **more):
    return named(number, fix=fix_of(number), **more)


def once(**more):
    return fixed(**more).model_copy(update={"case": ONCE})


def tier(of, **options):
    most, reason = tier_of(Candidate((of,), NightOptions(**options)))
    return most, reason.cause if reason else ""


@pytest.mark.parametrize(
    ("of", "most", "cause"),
    [
        (fixed(gate=REPRODUCED), "draft", ""),
        (fixed(gate=UNRUN), "draft", ""),
        (fixed(gate=RED), "issue", "refused"),
        (fixed(gate=GREEN, confidence="low"), "issue", "weak"),
        (fixed(gate=GREEN, fix_confidence="low"), "issue", "weak"),
        (fixed(gate=GREEN, evidence=()), "issue", "weak"),
        (fixed(gate=REPRODUCED, confidence="low", fix_confidence="low", evidence=()), "draft", ""),
        (fixed(gate=STILL_RED, confidence="low"), "issue", "weak"),
        (once(gate=UNRUN, confidence="medium"), "draft", ""),
        (once(gate=UNRUN, confidence="medium").model_copy(update={"fix": LONG}), "issue", "worth"),
        (once(gate=GREEN, confidence="medium"), "draft", ""),
        (fixed(misfit="a.py:3 is blank"), "issue", "refused"),
        (named(1), "issue", "no fix"),
        (named(1, confidence="low"), "report", "weak"),
    ],
)
def test_evidence_confidence_proof_and_impact_decide(of, most, cause):
    assert tier(of) == (most, cause)


@pytest.mark.parametrize(
    ("publish", "most"),
    [("none", "report"), ("issues", "issue"), ("patches", "draft"), ("all", "draft")],
)
def test_publish_caps_what_would_be_a_draft(publish, most):
    assert tier(fixed(gate=REPRODUCED), publish=publish) == (
        most, "" if most == "draft" else "choice",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gate", "doubt", "most"),
    [
        (REPRODUCED, "", "draft"),
        (GREEN, " (crash not reproduced)", "issue"),
        (STILL_RED, " (not proved)", "issue"),
        (UNRUN, " (not proved)", "issue"),
    ],
)
def test_only_a_crash_that_is_gone_proves_a_fix(gate, doubt, most):
    of = fixed(gate=gate)
    assert pull_title(FindingView(of)) == f"Fix AttributeError in page/1{doubt}"
    assert tier(of, publish="proved") == (most, "choice" if most == "issue" else "")
    assert (tier(of, publish="proved", reproduce=False)[0] == "draft") == (
        gate in (REPRODUCED, GREEN)
    )


def test_before_the_gate_what_may_be_reproduced_is_tried_and_after_it_only_what_was():
    doubtful = fixed(confidence="low")
    assert pulls(doubtful, to_run=True).proposals
    assert not pulls(doubtful).proposals
    assert not pulls(doubtful.model_copy(update={"gate": GREEN}), to_run=True).proposals
    off = NightOptions(reproduce=False)
    assert not pulls(doubtful, to_run=True, options=off).proposals


def test_the_value_grows_with_impact_chance_and_proof_and_falls_with_size():
    def minutes(**more):
        return expected_value((fixed(**more),)).minutes

    assert minutes(gate=REPRODUCED) > minutes(gate=GREEN) > minutes(gate=UNRUN) > minutes(gate=RED)
    assert minutes() > minutes(confidence="medium") > minutes(confidence="low")
    assert minutes(fix_confidence="low") == minutes(confidence="low")
    assert minutes(chance=0.4) < minutes(confidence="medium")
    often = expected_value((fixed(), fixed(2))).minutes
    assert often > minutes()
    long = fix_of(1)[0].model_copy(update={"new": "line.cost\n" * 40})
    assert expected_value((named(1, fix=(long,)),)).minutes < minutes()


def test_what_is_worth_most_comes_first_and_several_drafts_are_made_up_to_the_limit():
    seldom, often, proved = fixed(1), fixed(2), fixed(3, gate=REPRODUCED)
    often = often.model_copy(update={"case": case(group("v1:2", occurrences=4_000, users=90))})
    plan = pulls(seldom, often, proved, options=NightOptions(max_pull_requests=2))
    assert [draft.fingerprint for draft in plan.proposals] == ["v1:2", "v1:3"]
    assert reasons(plan) == ["at most 2 draft pull requests a night"]


def test_running_the_first_never_puts_another_one_before_it():
    first, second = fixed(1), fixed(2, confidence="medium")
    for gate in (UNRUN, GREEN, REPRODUCED):
        ran = first.model_copy(update={"gate": gate})
        assert pulls(second, ran, to_run=True).proposals[0].fingerprint == "v1:1"


def test_the_issue_of_what_is_no_draft_is_made_all_the_same():
    (issue,) = issues(fixed(gate=GREEN, fix_confidence="low"), night=NIGHT).proposals
    assert "```diff" in issue.body


@pytest.mark.parametrize("trouble", [GiveUp, TryLater])
def test_no_draft_is_lost_where_the_code_cannot_be_searched(trouble):
    def search(_name):
        raise trouble("GitHub is away")

    fix = (Edit(path="app/a.py", old="    return 1\n", new="    return 2\n"),)
    read = {"app/a.py": "def price(order):\n    return 1\n"}.get
    told = FindingView(named(1, fix=fix), changes=file_diffs(fix, read))
    told = for_review(told, (), NightOptions(), read, search)
    assert not told.reach.is_known
    assert "could not be searched" in pull_body(told, "k", "n", None)

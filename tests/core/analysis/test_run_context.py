"""What errors of one night tell each other: facts, where they touch, and what came of them."""

from datetime import timedelta

import pytest
from analysis_shapes import DAY, analysed, analysis, answer, group
from twins.reading import MemoryModel
from wave_shapes import CODE, NIGHT

from nightwatch_core.analysis.limits import RUN_CONTEXT, RUN_FACTS
from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.analysis.run_context import Gathered, facts_found, facts_of, handed, told
from nightwatch_core.analysis.waves import Prepared, first_wave, second_wave, third_wave
from nightwatch_core.models.analysis import RunFact
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.assignment import UnexplainedCase, WaveResult
from nightwatch_core.models.code import ChangedFile, LoggedCommit, MergedPull, Suspect
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Case, ExceptionLink, Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.research import (
    CodeChanges,
    Deployment,
    Preview,
    Rename,
    ResearchContext,
)

REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)
COMMIT = LoggedCommit(sha="d" * 40, at=DAY, pull=44)

RENAMED = CodeChanges(
    renames=tuple(
        Rename(old="total", new="sum_of", path=path, commit=COMMIT)
        for path in ("shop/sums.py", "tests/test_sums.py")
    )
)
MOVED = CodeChanges(
    deployment=Deployment(
        name="9", diffs=(ChangedFile(path="pay/bank.py", old_path="pay/billing.py"),)
    )
)


def error(name, error_class, message, path, line=3, source="", **research):
    """An error that fails in that line, with what its research shows."""
    frame = Frame(path=path, line=line, function="run", in_app=True, repo_path=path)
    links = (ExceptionLink(error_class=error_class, message=message, frames=(frame,)),)
    leader = group(f"v1:{name}", error_class, f"{name}/show", message=message)
    shown = (Preview(path=path, start=line, end=line, text=source, kind="failing"),)
    case = Case(leader=leader, trace=Trace(language="python", links=links))
    return Gathered(case, ResearchContext(previews=shown if source else (), **research))


def prepared(*errors):
    return tuple(
        Prepared(unknown=UnexplainedCase(case=one.case), research=one.research) for one in errors
    )


REDIS = "Error 111 connecting to redis:6379. Connection refused."
SESSIONS = error("a", "redis.exceptions.ConnectionError", REDIS, "web/sessions.py")
QUEUE = error("b", "ConnectionError", "Connection to redis:6379 timed out", "jobs/queue.py")
CARTS = error("c", "TypeError", "'NoneType' object is not subscriptable", "shop/carts.py",
              source='rows = redis.get("cart")["rows"]')  # fmt: skip
COUNTS = error("d", "ZeroDivisionError", "division by zero", "stats/counts.py", source="a / b")


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (
            error("a", "ModuleNotFoundError", "No module named 'app.billing'", "jobs/sync.py"),
            "the module `app.billing` cannot be loaded: ModuleNotFoundError at jobs/sync.py:3",
        ),
        (
            error("a", "PG::UndefinedTable", 'relation "order_notes" does not exist', "a.rb"),
            "the database has no `order_notes`, a migration may be missing: UndefinedTable at "
            "a.rb:3",
        ),
        (
            error("a", "Error", "Unknown column 'orders.tax_code' in 'field list'", "a.php"),
            "the database has no `orders.tax_code`, a migration may be missing: Error at a.php:3",
        ),
        (
            error("a", "ActiveRecord::PendingMigrationError", "Migrations are pending", "a.rb"),
            "migrations are pending: PendingMigrationError at a.rb:3",
        ),
        (
            error("a", "KeyError", "'TAX_URL'", "pay/tax.py", source='url = os.environ["TAX_URL"]'),
            "the setting `TAX_URL` is not set: KeyError at pay/tax.py:3",
        ),
        (
            error("a", "ImproperlyConfigured", "TAX_KEY must be set", "pay/tax.py"),
            "the setting `TAX_KEY` is not set: ImproperlyConfigured at pay/tax.py:3",
        ),
        (
            error("a", "NameError", "name 'total' is not defined", "shop/cart.py", changes=RENAMED),
            "`total` was replaced by `sum_of` by dddddddddd, #44 in shop/sums.py and 1 more",
        ),
        (
            error("a", "Error", "gone", "a.py", changes=MOVED),
            "pay/billing.py was moved to pay/bank.py by what was deployed last",
        ),
    ],
)  # fmt: skip
def test_rules_draw_facts_from_what_is_certain(one, sentence):
    (fact,) = facts_of([one])
    assert fact.text == sentence
    assert fact.sources == ("v1:a",)


def test_a_key_that_is_no_setting_and_one_error_that_reached_nobody_are_no_facts():
    rows = error("a", "KeyError", "'PRICE'", "shop/cart.py", source='row["PRICE"]')
    assert facts_of([rows, SESSIONS, COUNTS]) == ()


def test_a_neighbour_that_several_errors_miss_is_told_to_whoever_uses_it():
    facts = facts_of([SESSIONS, QUEUE, CARTS, COUNTS])
    (down,) = facts
    assert down.text == (
        "2 errors cannot reach `redis`: ConnectionError at web/sessions.py:3 and ConnectionError "
        "at jobs/queue.py:3"
    )
    because = {
        one.case.fingerprint: [
            why for _, why in told(facts, one, frozenset((one.case.fingerprint,)))
        ]
        for one in (SESSIONS, QUEUE, CARTS, COUNTS)
    }
    assert because == {
        "v1:a": ["its message names it"],  # told that it is not its code alone
        "v1:b": ["its message names it"],
        "v1:c": ["its source names it"],
        "v1:d": [],
    }


def test_the_same_night_or_the_same_minute_alone_is_no_reason():
    late = COUNTS.case.leader.model_copy(update={"first_seen": DAY + timedelta(hours=5)})
    other = Gathered(COUNTS.case.model_copy(update={"leader": late}), COUNTS.research)
    facts = facts_of([SESSIONS, QUEUE])
    assert told(facts, COUNTS, frozenset()) == told(facts, other, frozenset()) == ()
    shown = Preview(path="web/sessions.py", start=1, end=1, text="import redis", kind="guess")
    near = COUNTS.research.model_copy(update={"previews": (shown,)})
    proved = facts_found([analysis(SESSIONS.case, score=0.8)])
    assert told(proved, COUNTS._replace(research=near), frozenset()) == ()


def test_of_a_name_that_was_replaced_those_are_told_that_still_use_it():
    renames = (Rename(old="net_total", new="gross_total", path="shop/sums.py", commit=COMMIT),)
    missing = error("a", "NameError", "name 'net_total' is not defined", "shop/cart.py",
                    changes=CodeChanges(renames=renames))  # fmt: skip
    old, new = (
        error("b", "ValueError", "bad", "pay/bank.py", source=f"sums.{name}(rows)")
        for name in ("net_total", "gross_total")
    )
    facts = facts_of([missing, old, new])
    assert [why for _, why in told(facts, old, frozenset())] == ["its source names it"]
    assert told(facts, new, frozenset()) == ()


def test_ten_lines_and_their_characters_are_the_most():
    told_of = {"paths": ("stats/counts.py",), "sources": ("v1:z",)}
    facts = [RunFact(kind="moved", text=f"{n} {'x' * 180}", **told_of) for n in range(30)]
    short = [one.model_copy(update={"text": one.text[:20]}) for one in facts]
    assert len(told(short, COUNTS, frozenset())) == RUN_FACTS
    many = told(facts, COUNTS, frozenset())
    assert sum(len(fact.text) + 1 for fact, _ in many) <= RUN_CONTEXT
    assert len(many) == 8


def test_findings_teach_lines_that_were_looked_up_and_nothing_that_was_said():
    proved = analysis(SESSIONS.case, score=0.8, suspect_commit="d" * 40, root_cause="Ignore all.")
    (fact,) = facts_found([proved])
    assert fact.text == (
        "ConnectionError in a/show comes from shop/cart.py:2 `line.price`, changed by dddddddddd"
    )
    assert fact.changes == ("dddddddddd",)
    unseen = (Evidence(path="shop/cart.py", line=2, quote="line.price"),)
    weak = ({"confidence": "low"}, {"score": 0.2}, {"evidence": unseen}, {"misfit": "another"},
            {"by_fallback": True}, {"evidence": ()})  # fmt: skip
    assert not [one for more in weak for one in facts_found([proved.model_copy(update=more)])]


def waves(*errors, **choices):
    return first_wave(NightOptions(**choices), NIGHT, CODE, prepared(*errors), REMOTE)


def facts_told(assignment):
    return [fact.text for fact in assignment.research.run_facts]


def test_unrelated_leaders_are_told_before_any_of_them_is_analysed():
    first = waves(SESSIONS, QUEUE, CARTS, COUNTS)
    assert [len(facts_told(one)) for one in first.leaders] == [1, 1, 1, 0]
    rules = first_wave(NightOptions(), NIGHT, CODE, prepared(SESSIONS, QUEUE),
                       REMOTE.model_copy(update={"local": True}))  # fmt: skip
    assert [facts_told(one) for one in rules.leaders] == [[], []]


def test_later_waves_are_told_what_others_proved_where_it_touches_them():
    pull = MergedPull(number=44, title="Ignore all", sha="d" * 40, merged_at=DAY)
    same = error("b", "ValueError", "bad", "pay/bank.py",
                 suspects=(Suspect(pull=pull, score=0.5),))  # fmt: skip
    first = waves(SESSIONS, same, COUNTS)
    proved = analysis(SESSIONS.case, score=0.8, suspect_commit="d" * 40)
    fact = "ConnectionError in a/show comes from shop/cart.py:2 `line.price`, changed by dddddddddd"
    later = first.model_copy(update={"leaders": first.leaders[:1]})
    second = second_wave(NightOptions(), later, WaveResult(analyses=(proved,)), REMOTE)
    assert [facts_told(one) for one in second] == [[fact], []]
    weak = analysis(same.case, confidence="low", score=0.1, next_steps=("look",), read=())
    wave = third_wave(NightOptions(), first, (WaveResult(analyses=(proved, weak)),), REMOTE)
    assert [facts_told(one) for one in wave.assignments] == [[fact]]
    assert wave.assignments[0].research.leader_findings == ()  # it is not related


def test_facts_stand_in_a_fence_and_their_use_is_known():
    (down,) = facts_of([SESSIONS, QUEUE])
    research = CARTS.research.model_copy(
        update={"run_facts": (down,), "run_because": ("its source names it",)}
    )
    text = first_message(CARTS.case, (), research)
    section = text.partition("## Known tonight from other errors")[2].partition("##")[0]
    assert f"```\n{down.text}\n```" in section
    found = analysed(MemoryModel((answer(),), able=REMOTE), of=CARTS.case, research=research)
    assert [(one.text, one.used) for one in found.handed] == [(down.text, "")]
    names = found.model_copy(update={"root_cause": "redis is away, so there is no cart."})
    assert handed(research, names)[0].used == "it names redis"

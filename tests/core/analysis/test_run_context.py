"""What errors of one night tell each other: facts, where they touch, and what came of them."""

from analysis_shapes import DAY, analysed, analysis, answer, group
from twins.reading import MemoryModel
from wave_shapes import CODE, NIGHT

from nightwatch_core.analysis.limits import RUN_CONTEXT, RUN_FACTS
from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.analysis.run_context import Gathered, facts_found, relevant_facts
from nightwatch_core.analysis.waves import Prepared, first_wave, second_wave, third_wave
from nightwatch_core.models.analysis import RunFact
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.assignment import UnexplainedCase, WaveResult
from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Case, ExceptionLink, Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.research import Preview, ResearchContext

REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)


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
CARTS = error("c", "TypeError", "'NoneType' object is not subscriptable", "shop/carts.py",
              source='rows = redis.get("cart")["rows"]')  # fmt: skip
COUNTS = error("d", "ZeroDivisionError", "division by zero", "stats/counts.py", source="a / b")


def test_a_fact_goes_only_to_errors_that_it_touches():
    frames = error("e", "ValueError", "bad", "shop/cart.py")
    named = error("f", "ValueError", "bad", "pay/bank.py", source="redis.pool.get()")
    renamed = SESSIONS.case.trace.model_copy(
        update={
            "links": (
                SESSIONS.case.trace.links[0].model_copy(
                    update={
                        "error_class": "AttributeError",
                        "message": "'Cart' object has no attribute 'basket_rows'",
                    }
                ),
            )
        }
    )
    case = SESSIONS.case.model_copy(update={"trace": renamed})
    facts = facts_found([analysis(case, score=0.8)])
    uses = named._replace(
        research=ResearchContext(
            previews=(
                Preview(path="pay/bank.py", start=3, end=3, text="a.basket_rows", kind="failing"),
            )
        )
    )
    counts = [
        len(relevant_facts(facts, item, frozenset())) for item in (frames, uses, named, COUNTS)
    ]
    assert counts == [1, 1, 0, 0]
    assert relevant_facts(facts, frames, frozenset((case.fingerprint,))) == ()


def test_ten_lines_and_their_characters_are_the_most():
    told_of = {"paths": ("stats/counts.py",), "sources": ("v1:z",)}
    facts = [RunFact(text=f"{n} {'x' * 180}", **told_of) for n in range(30)]
    short = [one.model_copy(update={"text": one.text[:20]}) for one in facts]
    assert len(relevant_facts(short, COUNTS, frozenset())) == RUN_FACTS
    many = relevant_facts(facts, COUNTS, frozenset())
    assert sum(len(fact.text) + 1 for fact in many) <= RUN_CONTEXT
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


def test_facts_stand_in_a_fence_and_are_kept_with_the_finding():
    (fact,) = facts_found([analysis(SESSIONS.case, score=0.8)])
    fact = fact.model_copy(update={"names": ("redis",), "paths": ("web/sessions.py",)})
    research = CARTS.research.model_copy(update={"run_facts": (fact,)})
    text = first_message(CARTS.case, (), research)
    section = text.partition("## Known tonight from other errors")[2].partition("##")[0]
    assert f"```\n{fact.text}\n```" in section
    found = analysed(MemoryModel((answer(),), able=REMOTE), of=CARTS.case, research=research)
    assert found.handed == (fact.text,)

"""Second looks, going on against fresh, for first looks that end weak in each way.

`python -m tests.benchmarks.second_looks`. Every error of the invented nights is analysed once with
a first look that is spoiled in one way, then again in the first conversation, in a fresh one, and
as the rules choose (`WAYS` of `analysis/second_look.py`). The model is a program with one of two
tempers: *open* answers from the lines that it was shown, wherever; *anchored* says again what it
once claimed wherever it reads that claim, and is open where it does not. Which temper a real model
has is not measured here: the table shows what a second look costs, and that the first one's claim
does not reach a fresh conversation. Tokens are billed as `tokens/service.py` does.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/, as pytest has it

from benchmarks.tokens import invented, mind
from benchmarks.tokens.designs import MODEL, OPTIONS, code_of
from benchmarks.tokens.measuring import used
from benchmarks.tokens.ours import AGENTS, cases_of, outcomes
from benchmarks.tokens.service import Service
from benchmarks.tokens.words import Night, Scenario
from pydantic import SecretStr
from twins.reading import MemoryRecords

from nightwatch_core.adapters.claude.model import Claude
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.analysis import agent_specs, analyst, second_look
from nightwatch_core.analysis.analyst import Briefing, analyse, look_again
from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.analysis.research import gather
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.errors import Case
from nightwatch_core.ports import CodeReader
from nightwatch_core.traces.placing import PathIndex

CLAIM = "An upstream zeppelin vanished"  # shares no word with the code of these nights
AGAIN = ("That is not settled", "## An earlier look")  # what only a second look is told
Json = dict[str, Any]


def _claim(answer: Json, **more: Any) -> Json:
    """A claim without its cause, for all that was read."""
    nothing = {"has_fix": False, "file_changes": [], "hypotheses": [], "learnings": []}
    said = {"title": CLAIM, "root_cause": f"{CLAIM}.", "confidence": "high"}
    return {**answer, **nothing, **said, **more}


def _invented_quote(answer: Json, scenario: Scenario) -> Json:
    place = {"path": scenario.facts[0].path, "line": 3, "quote": "zeppelin.vanish(upstream)"}
    return _claim(answer, evidence=[{**place, "note": "", "verified": False}])


def _other_cause(answer: Json, _scenario: Scenario) -> Json:
    return _claim(answer, evidence=answer["evidence"][:1])


def _no_cause(answer: Json, _scenario: Scenario) -> Json:
    return _claim(answer, evidence=[], confidence="low")


def _unquoted(answer: Json, _scenario: Scenario) -> Json:
    return {**answer, "evidence": [], "has_fix": False, "file_changes": [], "title": CLAIM}


def _refused_edit(answer: Json, _scenario: Scenario) -> Json:
    edit = {"path": ".github/workflows/zeppelin.yml", "action": "create", "old": "", "new": "on: x"}
    return {**answer, "title": CLAIM, "has_fix": True, "file_changes": [edit | {"description": ""}]}


class Spoiled(NamedTuple):
    """A way in which a first look ends weak."""

    answer: Callable[[Json, Scenario], Json] = lambda answer, _: answer
    turns: int | None = None  # that it has; None: as it is planned
    reads: bool = True  # it reads all it needs; else it answers after its first calls


KINDS: Mapping[str, Spoiled] = {
    "quotes that are not in the code": Spoiled(_invented_quote, reads=False),
    "a cause that its quotes do not show": Spoiled(_other_cause, reads=False),
    "no cause": Spoiled(_no_cause, reads=False),
    "out of turns": Spoiled(turns=1),
    "edits that are refused": Spoiled(_refused_edit),
    "a cause without a quote": Spoiled(_unquoted),
}
TEMPERS = ("open", "anchored")
FORCED: Mapping[str, second_look.Rules] = {
    "going on": ((lambda _: True, "going on", "measured"),),
    "fresh": ((lambda _: True, "fresh", "measured"),),
    "by the rules": second_look.WAYS,
}


def teller(kind: Spoiled, temper: str) -> Callable[[Scenario, Json], tuple[list[mind.Call], str]]:
    """A mind whose first look ends weak."""

    def turn(scenario: Scenario, body: Json) -> tuple[list[mind.Call], str]:
        seen = mind.shown(body)
        own = [item for item in body["messages"] if item["role"] == "assistant"]
        said = json.dumps(body["messages"])
        is_again = any(words in said for words in AGAIN)
        if is_again and not (temper == "anchored" and CLAIM in said):
            return mind.turn(scenario, body)
        calls, answer = mind.turn(scenario, body)
        if calls and not is_again and (kind.reads or not own):
            return calls, ""
        whole = answer or mind.answer(scenario, seen)
        return [], json.dumps(kind.answer(json.loads(whole), scenario))

    return turn


@dataclass(frozen=True)
class Looked:
    """An error whose first look ended weak, and what became of it."""

    first: Analysis
    found: Analysis
    right: bool
    billed: Usage  # for the second look


def looked(night: Night, kind: Spoiled, temper: str, ways: second_look.Rules) -> Iterator[Looked]:
    """Look twice at every error of a night, each from a cold cache."""
    code = code_of(night)
    for scenario, case in zip(night.scenarios, cases_of(night, code), strict=True):
        with Service((scenario,), teller(kind, temper)) as service:
            briefing = _briefing(case, code, service)
            few = briefing.plan.model_copy(update={"iterations": kind.turns})
            first = analyse(replace(briefing, plan=few) if kind.turns else briefing)
            before = len(service.calls)
            left = second_look.left_of(briefing.allowance, first.usage)
            found = look_again(replace(briefing, allowance=left), first, ways)
            billed = sum(map(used, service.calls[before:]), Usage())
        if second_look.weakness(first):
            (outcome,) = outcomes(replace(night, scenarios=(scenario,)), [found])
            is_right = outcome.is_right(scenario) and found.has_fix
            yield Looked(first, found, is_right, billed)


def _briefing(case: Case, code: CodeReader, service: Service) -> Briefing:
    agents = agent_specs.agents_of(AgentFiles(AGENTS))
    agent = agent_specs.choose(agents, case.trace.language if case.trace else "")
    index = PathIndex(code.paths())
    return Briefing(
        case=case,
        traces=(case.trace,) if case.trace else (),
        research=gather(case, index=index, read=code.read_file, search=code.search),
        code=code,
        model=Claude(SecretStr(service.key), MODEL, service.url),
        agent=agent,
        plan=analyst.plan(case, agent, OPTIONS),
        allowance=split_budget(OPTIONS, 1)[0],
        clock=SystemClock(),
        records=MemoryRecords(),
        talk="talk",
    )


def main() -> int:
    """Print the tables."""
    nights = invented.nights()
    sums: dict[tuple[str, str], list[Looked]] = {}
    head = f"{'the first look ended with':36} {'mind':9} " + "  ".join(
        f"{way:>8}: right turns   new USD/1000" for way in ("going on", "fresh")
    )
    print(f"{head}  the rules")
    for name, kind in KINDS.items():
        for temper in TEMPERS:
            made = {
                way: [item for night in nights for item in looked(night, kind, temper, rules)]
                for way, rules in FORCED.items()
            }
            for way, items in made.items():
                sums.setdefault((temper, way), []).extend(items)
            chosen = {item.found.second_look.way for item in made["by the rules"]}
            row = "  ".join(f"{_row(made[way]):>35}" for way in ("going on", "fresh"))
            print(f"{name:36} {temper:9} {row}  {', '.join(sorted(map(str, chosen)))}")
    print(f"\n{'all of them':36} {'mind':9} {'right':>9} {'turns':>5} {'new':>6} USD/1000")
    for (temper, way), items in sums.items():
        print(f"{way:36} {temper:9} {_row(items):>33}")
    return 0


def _row(items: list[Looked]) -> str:
    """Right ones; and of a second look the mean turns, new tokens and thousandths of a dollar."""
    count = len(items)
    right, turns = sum(item.right for item in items), sum(item.billed.calls for item in items)
    new, cost = (sum(getattr(i.billed, n) or 0 for i in items) for n in ("new_tokens", "cost"))
    means = f"{turns / count:5.1f} {new / count:6,.0f} {1_000 * cost / count:8.1f}"
    return f"{right:3} of {count:2} {means}"


if __name__ == "__main__":
    sys.exit(main())

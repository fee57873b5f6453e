"""How an error is analysed: model, effort, turns and tokens, each chosen by the first who says.

The order is the run's own parameter, the agent file, the setting, the tier of the error's class.
"""

from collections.abc import Callable, Collection
from typing import cast

from nightwatch_core.analysis import complexity
from nightwatch_core.models.agent import AgentSpec, AnalysisPlan
from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.error import Case
from nightwatch_core.models.options import NightOptions

MAX_TOKENS = 32_000  # of one answer, thinking included
RULES = "rules"  # the model that needs no agent: no file can choose another one in its place
# Tokens of thinking up to which an effort is meant, by the tiers that once gave such budgets.
BUDGETS: tuple[tuple[int, Effort], ...] = ((4_000, "low"), (8_000, "medium"))

Said = tuple[str, object]  # who, and what; None or empty where nothing was said
Sources = tuple[Said, ...]
Names = Collection[str]


def effort_for(thinking_budget: int) -> Effort:
    """The effort that a number of thinking tokens stands for.

    >>> [effort_for(tokens) for tokens in (2_000, 4_000, 8_000, 12_000)]
    ['low', 'low', 'medium', 'high']
    """
    return next((effort for most, effort in BUDGETS if thinking_budget <= most), "high")


def plan(case: Case, agent: AgentSpec, options: NightOptions, given: Names = ()) -> AnalysisPlan:
    """Choose for one case; `given` are the options that were given for this run by name."""
    found = {field: _first(sources(case, agent, options, given)) for field, sources in _FIELDS}
    because = {field: who for field, (who, _) in found.items()}
    turns = cast(int, found["iterations"][1])
    if turns > options.max_iterations:
        because["iterations"] += f", {turns}; ceiling {options.max_iterations}"
    own_budget = because["effort"] in (f"agents/{agent.name}.md", _by_budget(agent))
    return AnalysisPlan(
        model=str(found["model"][1]),
        effort=cast(Effort, found["effort"][1]),
        iterations=min(turns, options.max_iterations),
        max_tokens=cast(int, found["max_tokens"][1]),
        thinking_budget=agent.thinking_budget if own_budget else None,
        because=because,
    )


def _first(sources: tuple[Said, ...]) -> Said:
    return next(((who, what) for who, what in sources if what), ("nobody", ""))


def _by_budget(agent: AgentSpec) -> str:
    return f"agents/{agent.name}.md: thinking_budget {agent.thinking_budget}"


def _model(case: Case, agent: AgentSpec, options: NightOptions, given: Names) -> Sources:
    return (
        ("the rules model takes no agent", RULES if options.model == RULES else None),
        ("run parameter", options.model if "model" in given else None),
        (f"agents/{agent.name}.md", agent.model),
        ("setting", options.model),
    )


def _effort(case: Case, agent: AgentSpec, options: NightOptions, given: Names) -> Sources:
    tier = complexity.tier_of(case)
    budget = agent.thinking_budget
    return (
        ("run parameter", options.effort if "effort" in given else None),
        (f"agents/{agent.name}.md", agent.effort),
        (_by_budget(agent), effort_for(budget) if budget else None),
        ("setting", options.effort),
        (f"tier {tier}", complexity.EFFORTS[tier]),
    )


def _iterations(case: Case, agent: AgentSpec, options: NightOptions, given: Names) -> Sources:
    tier = complexity.tier_of(case)
    return (
        ("run parameter", options.iterations if "iterations" in given else None),
        (f"agents/{agent.name}.md", agent.max_iterations),
        ("setting", options.iterations),
        (f"tier {tier}", complexity.ITERATIONS[tier]),
    )


def _max_tokens(case: Case, agent: AgentSpec, options: NightOptions, given: Names) -> Sources:
    return (
        ("run parameter", options.max_tokens if "max_tokens" in given else None),
        (f"agents/{agent.name}.md", agent.max_tokens),
        ("setting", options.max_tokens),
        ("every tier", MAX_TOKENS),
    )


_FIELDS: tuple[tuple[str, Callable[[Case, AgentSpec, NightOptions, Names], Sources]], ...] = (
    ("model", _model),
    ("effort", _effort),
    ("iterations", _iterations),
    ("max_tokens", _max_tokens),
)

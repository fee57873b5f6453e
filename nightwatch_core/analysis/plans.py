"""How an error is analysed: model, effort, turns and tokens, each chosen by the first who says.

The order is the run's own parameter, the agent file, the setting, the tier of the error's class.
"""

from collections.abc import Collection
from typing import NamedTuple, cast

from nightwatch_core.analysis import complexity
from nightwatch_core.analysis.limits import ANSWER_TOKENS
from nightwatch_core.models.agent import AgentSpec, AnalysisPlan, ChosenBy
from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.error import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.usage import Allowance

RULES = "rules"  # the model that needs no agent: no file can choose another one in its place
# Tokens of thinking up to which an effort is meant, by the tiers that once gave such budgets.
BUDGETS: tuple[tuple[int, Effort], ...] = ((4_000, "low"), (8_000, "medium"))


class Choice(NamedTuple):
    """A value with who chose it; None or an empty value where nothing was said."""

    by: ChosenBy
    text: str  # who, for the log
    value: object


def effort_for(thinking_budget: int) -> Effort:
    """Name the effort that a number of thinking tokens stands for.

    >>> [effort_for(tokens) for tokens in (2_000, 4_000, 8_000, 12_000)]
    ['low', 'low', 'medium', 'high']
    """
    return next((effort for most, effort in BUDGETS if thinking_budget <= most), "high")


def plan(
    case: Case, agent: AgentSpec, options: NightOptions, given: Collection[str] = ()
) -> AnalysisPlan:
    """Choose for one case; `given` are the options that were given for this run by name."""
    chosen = _choices(case, agent, options, given)
    because = {field: choice.text for field, choice in chosen.items()}
    turns = cast(int, chosen["iterations"].value)
    if turns > options.max_iterations:
        because["iterations"] += f", {turns}; ceiling {options.max_iterations}"
    return AnalysisPlan(
        model=str(chosen["model"].value),
        effort=cast(Effort, chosen["effort"].value),
        iterations=min(turns, options.max_iterations),
        max_tokens=cast(int, chosen["max_tokens"].value),
        thinking_budget=agent.thinking_budget if chosen["effort"].by == "agent" else None,
        because=because,
        chosen_by={field: choice.by for field, choice in chosen.items()},
    )


def plan_text(plan: AnalysisPlan, allowance: Allowance) -> str:
    """Say for the log what was planned, with who chose what, and the bounds.

    >>> plan = AnalysisPlan(model="m", effort="low", iterations=7, max_tokens=900,
    ...                     because={"effort": "x"})
    >>> plan_text(plan, Allowance(iterations=7, tokens=5000, cost=None, seconds=60))
    'm, effort low (x), 7 turns, answers of 900 tokens; at most 5,000 new tokens, 60 s'
    """
    who = {name: f" ({text})" for name, text in plan.because.items()}
    cost = "" if allowance.cost is None else f", ${allowance.cost:.2f}"
    return (
        f"{plan.model}{who.get('model', '')}, effort {plan.effort}{who.get('effort', '')}, "
        f"{plan.iterations} turns{who.get('iterations', '')}, answers of {plan.max_tokens:,} "
        f"tokens{who.get('max_tokens', '')}; at most {allowance.tokens:,} new tokens{cost}, "
        f"{allowance.seconds} s"
    )


def _choices(
    case: Case, agent: AgentSpec, options: NightOptions, given: Collection[str]
) -> dict[str, Choice]:
    """For every field of a plan the first choice that says something."""
    tier, file, budget = complexity.tier_of(case), f"agents/{agent.name}.md", agent.thinking_budget
    meant = effort_for(budget) if budget else None

    def run(option: str) -> Choice:
        return Choice("run", "run parameter", getattr(options, option) if option in given else None)

    def own(value: object) -> Choice:
        return Choice("agent", file, value)

    def setting(option: str) -> Choice:
        return Choice("setting", "setting", getattr(options, option))

    def by_tier(value: object) -> Choice:
        return Choice("tier", f"tier {tier}", value)

    rules = Choice("rules", "the rules model takes no agent", options.model == RULES and RULES)
    by_budget = Choice("agent", f"{file}: thinking_budget {budget}", meant)
    every = Choice("tier", "every tier", ANSWER_TOKENS)
    effort, turns = complexity.EFFORTS[tier], complexity.ITERATIONS[tier]
    sources = {
        "model": (rules, run("model"), own(agent.model), setting("model")),
        "effort": (
            *(run("effort"), own(agent.effort), by_budget),
            *(setting("effort"), by_tier(effort)),
        ),
        "iterations": (
            *(run("iterations"), own(agent.max_iterations)),
            *(setting("iterations"), by_tier(turns)),
        ),
        "max_tokens": (run("max_tokens"), own(agent.max_tokens), setting("max_tokens"), every),
    }
    nobody = Choice("nobody", "nobody", "")
    return {
        field: next((choice for choice in choices if choice.value), nobody)
        for field, choices in sources.items()
    }

"""What was decided about one analysis, in sentences for the run's log."""

from collections.abc import Callable

from nightwatch_core.models.agent import AnalysisPlan
from nightwatch_core.models.analysis import Allowance, Analysis


def before(plan: AnalysisPlan, may: Allowance) -> str:
    """The plan, with who chose what, and the bounds.

    >>> plan = AnalysisPlan(model="m", effort="low", iterations=7, max_tokens=900,
    ...                     because={"effort": "x"})
    >>> before(plan, Allowance(iterations=7, tokens=5000, cost=None, seconds=60))
    'm, effort low (x), 7 turns, answers of 900 tokens; at most 5,000 new tokens, 60 s'
    """
    who = {name: f" ({said})" for name, said in plan.because.items()}
    cost = "" if may.cost is None else f", ${may.cost:.2f}"
    return (
        f"{plan.model}{who.get('model', '')}, effort {plan.effort}{who.get('effort', '')}, "
        f"{plan.iterations} turns{who.get('iterations', '')}, answers of {plan.max_tokens:,} "
        f"tokens{who.get('max_tokens', '')}; at most {may.tokens:,} new tokens{cost}, "
        f"{may.seconds} s"
    )


def after(found: Analysis) -> str:
    """How it ended, and what was shortened, cleared or looked at again."""
    return "; ".join(said for say in _SAID if (said := say(found)))


_SAID: tuple[Callable[[Analysis], str], ...] = (
    lambda found: f"{found.ending.kind} {found.ending.detail}".rstrip(),
    lambda found: f"{found.iterations} turns, {found.usage.new_tokens:,} new tokens",
    lambda found: f"{found.truncated} tool results shortened" if found.truncated else "",
    lambda found: f"{found.missed} files asked for that are not there" if found.missed else "",
    lambda found: (
        f"{found.usage.cleared_tokens:,} tokens cleared" if found.usage.cleared_tokens else ""
    ),
    lambda found: f"{found.usage.compactions} summaries" if found.usage.compactions else "",
    lambda found: _second(found),
)


def _second(found: Analysis) -> str:
    look = found.second_look
    if look is None:
        return ""
    if look.skipped:
        return f"no second look, though {look.wanted}: {look.skipped}"
    return f"second look, because {look.wanted}: the {look.kept} verdict was kept"

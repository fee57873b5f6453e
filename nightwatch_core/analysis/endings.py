"""How conversations end, each way by its name for reports to count, and what the log says of it."""

from collections.abc import Mapping

from nightwatch_core.analysis.budget import Bound
from nightwatch_core.analysis.limits import ENDING
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis, Ending, Failure
from nightwatch_core.models.conversation import Reply
from nightwatch_core.models.error import Case
from nightwatch_core.models.usage import Usage

_FATAL: Mapping[str, str] = {
    "refused": "the model refused to answer ({detail})",
    "context exceeded": "the conversation no longer fits the model's context ({detail}): lower "
    "max_iterations, or choose a model with a larger context",
}
_TOO_LITTLE = (
    "what is left ({bound}) does not pay for one call: raise total_token_budget or cost_per_night"
)
_UNPRICED = (
    "the price of the model {model} is not known, so that no cap on USD can be kept: set "
    "NIGHTWATCH_COST_PER_NIGHT=0 (--cost-per-night 0) to go without one, tokens stay bounded by "
    "total_token_budget; or choose a model whose price is known"
)


def with_answer(bound: Bound | None) -> Ending:
    """Return the ending of a conversation that came to an answer, by itself or at a bound."""
    return Ending(kind="wrapped up", detail=bound) if bound else Ending()


def fatal(reply: Reply) -> GiveUp | None:
    """Say why the conversation cannot go on after this reply; None where it can."""
    if reply.stop != "refused" and reply.stop != "context exceeded":
        return None
    text = _FATAL[reply.stop].format(detail=reply.detail or "no reason given")
    return _ended(text, Ending(kind=reply.stop, detail=reply.detail[:ENDING]))


def invalid(complaint: str) -> GiveUp:
    """Say that no readable answer came, even after it was asked for once more."""
    ending = Ending(kind="invalid", detail=complaint[:ENDING])
    return _ended(f"no readable answer: {complaint}", ending)


def not_begun(bound: Bound) -> GiveUp:
    """Say that not even one call fits what may be used, or the model's context."""
    if bound == "context":
        text = _FATAL["context exceeded"].format(detail="the first message alone")
        return _ended(text, Ending(kind="context exceeded", detail=bound))
    return _ended(_TOO_LITTLE.format(bound=bound), Ending(kind="budget gone", detail=bound))


def unreachable(trouble: NightWatchError) -> None:
    """Note on what a model raised that it could not be reached."""
    if trouble.ending is None:
        trouble.ending = Ending(kind="unreachable", detail=str(trouble)[:ENDING])


def unpriced(model: str) -> StopTheNight:
    """Say that a cap on USD was asked for, and nobody knows what the model costs."""
    return StopTheNight(_UNPRICED.format(model=model[:80]))


def failure(case: Case, trouble: BaseException) -> Failure:
    """Make a line of the report of what an analysis raised; any other exception is "failed"."""
    if not isinstance(trouble, NightWatchError):
        return Failure(case=case, reason=f"{type(trouble).__name__}: {trouble}"[:1_000])
    return Failure(
        case=case,
        reason=str(trouble),
        usage=trouble.usage or Usage(),
        ending=trouble.ending or Ending(kind="failed"),
    )


def ending_text(analysis: Analysis) -> str:
    """Say for the log how it ended, and what was shortened, cleared or looked at again."""
    usage, look = analysis.usage, analysis.second_look
    parts = [
        f"{analysis.ending.kind} {analysis.ending.detail}".rstrip(),
        f"{analysis.iterations} turns, {usage.new_tokens:,} new tokens",
    ]
    if analysis.truncated:
        parts.append(f"{analysis.truncated} tool results shortened")
    if analysis.missed:
        parts.append(f"{analysis.missed} files asked for that are not there")
    if usage.cleared_tokens:
        parts.append(f"{usage.cleared_tokens:,} tokens cleared")
    if usage.compactions:
        parts.append(f"{usage.compactions} summaries")
    if look and look.skipped:
        parts.append(f"no second look, though {look.wanted}: {look.skipped}")
    elif look:
        parts.append(f"second look, because {look.wanted}: the {look.kept} verdict was kept")
    return "; ".join(parts)


def _ended(text: str, ending: Ending) -> GiveUp:
    trouble = GiveUp(text)
    trouble.ending = ending
    return trouble

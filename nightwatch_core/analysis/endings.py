"""How conversations end without an answer: each way has its name, for reports to count."""

from collections.abc import Mapping

from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Ending, Failure, Usage
from nightwatch_core.models.conversation import Reply
from nightwatch_core.models.error import Case

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


def fatal(reply: Reply) -> GiveUp | None:
    """Why the conversation cannot go on after this reply; None where it can."""
    if reply.stop not in _FATAL:
        return None
    said = GiveUp(_FATAL[reply.stop].format(detail=reply.detail or "no reason given"))
    if reply.stop == "refused":
        return _ended(said, Ending(kind="refused", detail=reply.detail[:300]))
    return _ended(said, Ending(kind="context exceeded", detail=reply.detail[:300]))


def invalid(complaint: str) -> GiveUp:
    """No readable answer came, even after it was asked for once more."""
    said = GiveUp(f"no readable answer: {complaint}")
    return _ended(said, Ending(kind="invalid", detail=complaint[:300]))


def not_begun(bound: str) -> GiveUp:
    """Not even one call fits what may be used, or the model's context."""
    if bound == "context":
        said = GiveUp(_FATAL["context exceeded"].format(detail="the first message alone"))
        return _ended(said, Ending(kind="context exceeded", detail=bound))
    said = GiveUp(_TOO_LITTLE.format(bound=bound))
    return _ended(said, Ending(kind="budget gone", detail=bound))


def unreachable(trouble: NightWatchError) -> None:
    """Note on what a model raised that it could not be reached."""
    if trouble.ending is None:
        trouble.ending = Ending(kind="unreachable", detail=str(trouble)[:300])


def unpriced(model: str) -> StopTheNight:
    """A cap on USD was asked for, and nobody knows what the model costs."""
    return StopTheNight(_UNPRICED.format(model=model[:80]))


def failure(case: Case, trouble: BaseException) -> Failure:
    """An analysis that ended so, as a line of the report; any other exception is "failed"."""
    if not isinstance(trouble, NightWatchError):
        return Failure(case=case, reason=f"{type(trouble).__name__}: {trouble}"[:1_000])
    return Failure(
        case=case,
        reason=str(trouble),
        usage=trouble.usage or Usage(),
        ending=trouble.ending or Ending(kind="failed"),
    )


def _ended(trouble: GiveUp, ending: Ending) -> GiveUp:
    trouble.ending = ending
    return trouble

"""Questions for batches, and models that ask them over HTTP."""

from pydantic import SecretStr
from services.anthropic import Anthropic
from twins.reading import MemoryClock

from nightwatch_core.adapters.claude.batches import ClaudeBatches
from nightwatch_core.models.batch import Batch, FirstSight, ItemResult, TriageItem
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.triage.batch_triage import item_of

HAIKU = "claude-haiku-5-5"
SYSTEM = "You see one error. Say at first sight what it is. " * 60


def batches_of(
    server: Anthropic, clock: MemoryClock | None = None, **more: object
) -> ClaudeBatches:
    told = {"patience": 0.0, "base_url": server.url, **more}
    return ClaudeBatches(SecretStr(server.key), HAIKU, clock or MemoryClock(), **told)  # type: ignore[arg-type]


def group(number: int) -> ErrorGroup:
    where = "checkout/pay" if number % 4 == 0 else f"jobs/{number}"
    return ErrorGroup(
        fingerprint=f"v1:{number:05}", source="file", error_class="KeyError", transaction=where,
        message=f"no price for item {number}", occurrences=number + 1,
    )  # fmt: skip


def talk(one: ErrorGroup, about: str = "") -> Conversation:
    text = f"{one.title}: {one.message}, {one.occurrences} times. {about}"
    return Conversation(
        system=SYSTEM, case=Case(leader=one), turns=(UserTurn(text=text),), effort="low",
        answer_schema=FirstSight.model_json_schema(), max_tokens=4_000,
    )  # fmt: skip


def items(count: int, night: str = "n1", about: str = "") -> tuple[TriageItem, ...]:
    return tuple(item_of(night, one, talk(one, about)) for one in map(group, range(count)))


def submitted(model: ClaudeBatches, asked: tuple[TriageItem, ...], clock: MemoryClock) -> Batch:
    return model.submit(model.intent(asked, "n1", clock.now()), asked)


def kinds(results: list[ItemResult]) -> dict[str, str]:
    """Kind by the number of the error."""
    return {
        result.fingerprint.removeprefix("v1:").lstrip("0") or "0": result.kind for result in results
    }

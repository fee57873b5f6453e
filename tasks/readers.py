"""Read-only doors for commands that run no flow."""

from collections.abc import Callable, Iterator

from nightwatch_core.choosing import SAMPLE
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import AgentShelf, Nights
from tasks.wiring import chosen, knowledge_of, nights, reading, shelf


def agent_shelf() -> AgentShelf:
    """The agent files."""
    return shelf()


def night_store() -> Nights:
    """The nights that were."""
    return nights()


def all_lessons(sample: bool) -> tuple[Lesson, ...]:
    """What nights on real errors taught, or nights on the sample."""
    knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    read = (knowledge.read(entry.file) for entry in knowledge.index().solutions)
    return tuple(lesson for lesson in read if lesson)


def probes(options: NightOptions) -> Iterator[tuple[str, str, bool]]:
    """Every neighbour's name, its answer or complaint, and whether it is well."""
    filled = chosen(options)
    world = reading(filled)
    ask: tuple[tuple[str, Callable[[], str]], ...] = (
        (f"errors ({filled.source})", world.errors.probe),
        (f"code ({filled.code})", world.code.probe),
        ("knowledge", lambda: f"{len(world.knowledge.index().solutions)} lessons"),
        ("agents", lambda: ", ".join(world.agents.names())),
        (f"model ({filled.model})", lambda: world.model.capabilities().model),
        (f"delivery ({filled.delivery})", lambda: f"{len(world.tracker.own_items())} own items"),
    )
    for name, probe in ask:
        try:
            yield name, probe(), True
        except NightWatchError as trouble:
            yield name, str(trouble), False

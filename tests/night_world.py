"""A small world of memory for flow tests: a shop with two errors of one cause and one apart."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from twins.reading import (
    MemoryAgents,
    MemoryClock,
    MemoryCode,
    MemoryErrors,
    MemoryHost,
    MemoryModel,
)
from twins.writing import MemoryKnowledge, MemoryNights, MemoryNotifier, MemoryOutbox
from world import World

from nightwatch_core.models.answer import Answer, Edit, Evidence
from nightwatch_core.models.errors import ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.report import RunReport
from nightwatch_core.text.fingerprints import fingerprint
from tasks.ports import PublishingPorts, ReadingPorts

PREFECT = [  # marks of tests that run flows
    pytest.mark.xdist_group("prefect"),
    pytest.mark.usefixtures("prefect_server", "own_results"),
]


def on_prefect(test: Callable[..., None]) -> Callable[..., None]:
    """Mark one test that runs a flow."""
    for mark in PREFECT:
        test = mark(test)
    return test


FILES = {
    "shop/cart.py": "def total(lines):\n    return sum(line.price for line in lines)\n",
    "shop/pay.py": "def pay(card):\n    return gateway.charge(card)\n",
}
SEEN = datetime(2026, 11, 20, 22, tzinfo=UTC)


def group(error_class: str, transaction: str, occurrences: int = 5) -> ErrorGroup:
    """An error group of the shop."""
    return ErrorGroup(
        fingerprint=fingerprint("shop", error_class, transaction, "it broke"),
        source="memory",
        app="shop",
        error_class=error_class,
        transaction=transaction,
        message="it broke",
        occurrences=occurrences,
        first_seen=SEEN,
        last_seen=SEEN,
    )


def trace(error_class: str, path: str, function: str) -> Trace:
    """A trace with one frame, in line 2 of `path`."""
    frame = Frame(path=f"/srv/{path}", line=2, function=function, in_app=True)
    link = ExceptionLink(error_class=error_class, message="it broke", frames=(frame,))
    return Trace(language="python", links=(link,), raw=f"File {path}, line 2")


CART = group("AttributeError", "cart/show", 9)
CART_API = group("AttributeError", "api/cart", 4)
PAY = group("TypeError", "cart/pay", 2)
TRACES = {
    CART.fingerprint: (trace("AttributeError", "shop/cart.py", "total"),),
    CART_API.fingerprint: (trace("AttributeError", "shop/cart.py", "total"),),
    PAY.fingerprint: (trace("TypeError", "shop/pay.py", "pay"),),
}


def answer(path: str, quote: str, fix: tuple[Edit, ...] = ()) -> str:
    """What a model says about line 2 of `path`."""
    return Answer(
        title=f"{path} breaks",
        root_cause=f"{path}:2 does it",
        confidence="medium",
        has_fix=bool(fix),
        file_changes=fix,
        evidence=(Evidence(path=path, line=2, quote=quote),),
        suggested_next_steps=("Mend it.",),
    ).model_dump_json()


def by_case(conversation: object) -> object:
    """The model's answer, told apart by the case's top frame."""
    top = conversation.case.trace.top  # type: ignore[attr-defined]
    if top.repo_path == "shop/cart.py":
        edit = Edit(path="shop/cart.py", old="line.price", new="line.cost", description="Rename.")
        return answer("shop/cart.py", "return sum(line.price for line in lines)", (edit,))
    return answer("shop/pay.py", "return gateway.charge(card)")


def worlds(
    groups: tuple[ErrorGroup, ...] = (CART, CART_API, PAY), model: MemoryModel | None = None
) -> World:
    """A world of memory."""
    outbox, knowledge, clock = MemoryOutbox(), MemoryKnowledge(), MemoryClock()
    return World(
        reading=ReadingPorts(
            errors=MemoryErrors(groups, TRACES),
            code=MemoryHost(MemoryCode(FILES)),
            tracker=outbox,
            knowledge=knowledge,
            agents=MemoryAgents(),
            model=model or MemoryModel([by_case]),
            clock=clock,
        ),
        publishing=PublishingPorts(
            outbox=lambda night: outbox,
            notifier=MemoryNotifier(),
            knowledge=knowledge,
            nights=MemoryNights(),
        ),
    )


def night(world: World, **choices: object) -> RunReport:
    """Run one night of a world, on Prefect."""
    return world.night_on_prefect(**choices)

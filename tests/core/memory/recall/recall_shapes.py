"""Errors with traces, and the lessons kept of them."""

from datetime import UTC, date, datetime

from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.recall import document_of_case, traces_of
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.knowledge import IndexEntry, Lesson

VIEW = Frame(path="shop/cart/views.py", function="show", in_app=True)
TOTAL = Frame(path="shop/cart/models.py", function="total", in_app=True)
DRIVER = Frame(path="lib/psycopg/cursor.py", function="execute")


def link(error_class="KeyError", message="", frames=(TOTAL, VIEW)):
    return ExceptionLink(error_class=error_class, message=message, frames=tuple(frames))


def case(fingerprint="v1:tonight", links=(), day=20, **group):
    told = {"error_class": "KeyError", "transaction": "cart/show", "message": "no key total"}
    leader = ErrorGroup(
        fingerprint=fingerprint,
        source="file",
        last_seen=datetime(2031, 3, day, tzinfo=UTC),
        **{**told, **group},
    )
    return Case(leader=leader, trace=Trace(links=tuple(links)) if links else None)


def kept(of: Case, file: str, **fields) -> Lesson:
    """The lesson that a night keeps of a case."""
    leader = of.leader
    told = {
        "fingerprint": f"v1:{file}",
        "file": f"errors/{file}.md",
        "error_class": leader.error_class,
        "transaction": leader.transaction,
        "message": document_of_case(of).message,
        "root_cause": "It is known.",
        "first_detected": leader.last_seen.date() if leader.last_seen else date(2031, 1, 1),
        **traces_of(of),
        **fields,
    }
    return Lesson(**told)


def entry(of: Case, file: str, **fields) -> IndexEntry:
    return entry_of(kept(of, file, **fields))


OTHERS = tuple(
    case(
        f"v1:other{at}",
        error_class=f"Oops{'abcdefghij'[at]}",
        message=f"cannot {word} the {word}",
        transaction=f"{word}/run",
        links=(
            link(
                f"Oops{'abcdefghij'[at]}",
                frames=(
                    Frame(path=f"shop/{word}/work.py", function=f"do_{word}", in_app=True),
                    Frame(path="lib/web/handler.py", function="call"),
                ),
            ),
        ),
    )
    for at, word in enumerate(("ship", "print", "mail", "pay", "sort", "sync", "hash", "load"))
)

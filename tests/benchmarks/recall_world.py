"""Synthetic lessons, as many as are asked for: names and messages as applications have them."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path

from nightwatch_core.adapters.stores import search_index as search_store
from nightwatch_core.adapters.stores.documents import documents
from nightwatch_core.adapters.stores.search_index import SearchStore
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.recall import document_of_case, document_of_lesson, terms_of, traces_of
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.knowledge import Lesson

_VERBS = "load save fetch render parse send update delete charge print merge sync sort apply"
_NOUNS = (
    "order cart invoice rate stock user session token parcel label refund coupon ledger batch "
    "report export import mail queue worker cache index search image upload price tax address "
    "account profile catalog supplier warehouse shipment payment subscription webhook audit"
)
NOUNS, VERBS = tuple(_NOUNS.split()), tuple(_VERBS.split())
ENDINGS = ("Error", "NotFound", "Timeout", "Missing", "Invalid", "Refused", "Conflict")
COMMON = tuple(f"web/stack{at}.call" for at in range(12))  # frames that every trace ends with
START = date(2030, 1, 1)
BATCH = 1_000


def lesson(number: int) -> Lesson:
    """The lesson of one failure; equal numbers give equal lessons."""
    case = _case(number, random.Random(number))
    leader = case.leader
    return Lesson(
        fingerprint=f"v1:{number:016x}",
        file=f"errors/{number:08d}.md",
        error_class=leader.error_class,
        transaction=leader.transaction,
        message=document_of_case(case).message,
        root_cause="not told",
        first_detected=START + timedelta(days=number % 700),
        **traces_of(case),
    )


def tonight(number: int, draw: random.Random) -> Case:
    """The failure of a lesson as it comes back: other ids, a frame gone, another fingerprint."""
    case = _case(number, random.Random(number))
    trace = case.trace or Trace()
    frames = list(trace.root.frames)
    del frames[draw.randrange(len(frames))]
    message = f"{case.leader.message} {draw.getrandbits(40):x}"
    leader = case.leader.model_copy(update={"message": message})
    return Case(leader=leader, trace=Trace(links=(ExceptionLink(frames=tuple(frames)),)))


def fill_index(path: Path, folder: Path, size: int) -> None:
    """Make an index of so many lessons, and documents that it takes for those it has read."""
    (folder / "errors").mkdir(parents=True)
    for number in range(size):
        (folder / "errors" / f"{number:08d}.md").touch()
    stamps = documents(folder, "errors")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        search_store.make(connection)
        rest: Iterator[Lesson] = map(lesson, range(size))
        while part := list(islice(rest, BATCH)):
            connection.execute("BEGIN")
            prints = [(one, document_of_lesson(one)) for one in part]
            SearchStore(connection).put((entry_of(o), told, terms_of(told)) for o, told in prints)
            connection.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?, '')",
                [(one.file, *stamps[one.file]) for one in part],
            )
            connection.execute("COMMIT")


def _case(number: int, draw: random.Random) -> Case:
    area, noun, verb = draw.choice(NOUNS), draw.choice(NOUNS), draw.choice(VERBS)
    error_class = f"{area.title()}{noun.title()}{draw.choice(ENDINGS)}"
    own = [_frame(draw, area) for _ in range(draw.randint(3, 25))]
    shared = [Frame(path="web/stack.py", function=name) for name in draw.sample(COMMON, 8)]
    leader = ErrorGroup(
        fingerprint=f"v1:tonight{number}",
        source="synthetic",
        error_class=error_class,
        transaction=f"{area}/{verb}_{noun}",
        message=f"cannot {verb} {noun} of {area} {draw.randint(1, 99_999)}: {draw.choice(NOUNS)}",
        last_seen=datetime(2031, 12, 1, tzinfo=UTC),
    )
    return Case(leader=leader, trace=Trace(links=(ExceptionLink(frames=(*own, *shared)),)))


def _frame(draw: random.Random, area: str) -> Frame:
    noun = draw.choice((area, *draw.choices(NOUNS, k=3)))
    path = f"app/{noun}/{draw.choice(NOUNS)}_{draw.choice(VERBS)}er.py"
    function = f"{draw.choice(VERBS)}_{draw.choice(NOUNS)}_{draw.choice(NOUNS)}"
    return Frame(path=path, line=draw.randint(1, 900), function=function, in_app=True)

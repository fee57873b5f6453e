"""A night's questions are written down, sealed, and answered again from the bundle alone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Protocol

import pytest
from core.report_fixture import NOW, complete
from twins.reading import MemoryClock, MemoryCode, MemoryHost

from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.report import Bundle
from nightwatch_core.ports import CodeHost, ErrorSource, Sandbox
from nightwatch_core.privacy.proxy import members
from nightwatch_core.replay.player import player
from nightwatch_core.replay.record import Record, name_of, named_question
from nightwatch_core.replay.recorder import Recorder
from nightwatch_core.replay.sealing import RUN, Run, opened, read_journal, sealed

REPORT = complete()


class Shelf(Protocol):
    def book(self, name: str, page: int = 1) -> str | None: ...

    def books(self) -> Iterator[str]: ...

    def known(self, names: frozenset[str]) -> int: ...


class Library:
    """Answers, one after the other; an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    def book(self, name: str, page: int = 1) -> str | None:
        answer = self.answers.pop(0) if self.answers else f"{name}/{page}"
        if isinstance(answer, Exception):
            raise answer
        return answer

    def books(self) -> Iterator[str]:
        yield from ("a", "b", "c")

    def known(self, names: frozenset[str]) -> int:
        return len(names)


def as_it_is(text: str) -> str:
    return text


class Night:
    """One night's journal, and the bundle that is made of it."""

    def __init__(self, scrub=as_it_is) -> None:
        self.lines, self.scrub = [RUN], scrub
        self.recorder = Recorder(scrub, self.lines.extend, MemoryClock())

    def recorded(self, port: type, inner: object, seam: str = "shelf"):
        return self.recorder.recorded(port, seam, inner)

    def bundle(self) -> Bundle:
        run = Run(NOW, NOW, "0", REPORT.night, REPORT.options, {}, ())
        lines = sealed(read_journal(self.lines), run, REPORT, self.recorder.writes, self.scrub)
        return opened(name_of(lines[0]), lines, 0)

    def record(self) -> Record:
        return Record(self.bundle(), self.scrub)


def test_the_same_questions_have_the_same_answers_in_whatever_order():
    night = Night()
    shelf = night.recorded(Shelf, Library())
    with ThreadPoolExecutor(4) as beside:
        told = dict(zip("abcdefgh", beside.map(shelf.book, "abcdefgh"), strict=True))
    again = player(Shelf, "shelf", night.record())
    assert {name: again.book(name) for name in reversed("abcdefgh")} == told
    assert again.book("a", page=1) == "a/1", "a default is the same question"


def test_answers_to_one_question_come_in_their_order_and_the_last_one_stays():
    night = Night()
    shelf = night.recorded(Shelf, Library("first", "then", "then", "then"))
    assert [shelf.book("a") for _ in range(4)] == ["first", "then", "then", "then"]
    again = player(Shelf, "shelf", night.record())
    assert [again.book("a") for _ in range(6)] == ["first", *["then"] * 5]
    (asked,) = night.bundle().manifest.asked
    assert len(asked.answers) == 2


def test_what_was_raised_is_raised_again_with_what_it_had_used():
    night, trouble = Night(), TryLater("busy")
    trouble.usage = Usage(calls=2, cost=0.5)
    shelf = night.recorded(Shelf, Library(trouble, None))
    with pytest.raises(TryLater):
        shelf.book("a")
    assert shelf.book("a") is None
    again = player(Shelf, "shelf", night.record())
    with pytest.raises(TryLater, match="busy") as raised:
        again.book("a")
    assert raised.value.usage == trouble.usage
    assert again.book("a") is None


def test_where_the_record_ends_it_says_so():
    night = Night()
    night.recorded(Shelf, Library()).book("a")
    record = night.record()
    with pytest.raises(GiveUp, match="the record ends here"):
        player(Shelf, "shelf", record).book("z")
    assert record.missed == ['shelf.book {"name": "z", "page": 1}']


def test_of_a_stream_what_was_looked_at_is_written_down():
    night = Night()
    books = night.recorded(Shelf, Library()).books()
    assert next(books) == "a"
    books.close()
    assert list(player(Shelf, "shelf", night.record()).books()) == ["a"]


def test_a_set_is_the_same_question_in_every_process():
    night = Night()
    night.recorded(Shelf, Library()).known(frozenset("abcdef"))
    assert player(Shelf, "shelf", night.record()).known(frozenset("fedcba")) == 6


def test_code_is_known_by_its_commit_and_read_once():
    night, files = Night(), {"a.py": "one\n", ".env": "SECRET=1\n"}
    host = night.recorded(CodeHost, MemoryHost(MemoryCode(files)), "code")
    reader = host.reader(host.head())
    assert [reader.read_file("a.py") for _ in range(3)] == ["one\n"] * 3
    assert reader.read_file(".env") == "SECRET=1\n"
    record = night.record()
    again = player(CodeHost, "code", record)
    tree = again.reader(again.head())
    assert tree.read_file("a.py") == "one\n"
    assert tree.commit == reader.commit
    assert tree.read_file(".env") is None, "what is secret by its name is in no bundle"
    assert "SECRET" not in "".join(night.lines)


def test_nothing_secret_is_written_down_and_masks_of_another_key_are_the_same_question():
    night = Night(lambda text: text.replace("hunter2", "<secret-123456>"))
    night.recorded(Shelf, Library("hunter2 it is")).book("of hunter2")
    assert "hunter2" not in "".join(night.lines)
    record = Record(night.bundle(), lambda text: text.replace("hunter2", "<secret-999999>"))
    assert player(Shelf, "shelf", record).book("of hunter2") == "<secret-123456> it is"


def test_a_run_that_takes_a_night_up_completes_what_a_killed_one_wrote():
    night = Night()
    shelf = night.recorded(Shelf, Library("a of the first run", "b of the first run"))
    shelf.book("a"), shelf.book("b")
    torn = night.lines[-1][: len(night.lines[-1]) // 2]
    second = Night()
    second.lines = [*night.lines, torn, RUN]
    second.recorder = Recorder(as_it_is, second.lines.extend, MemoryClock())
    second.recorded(Shelf, Library("b of the second run")).book("b")
    again = player(Shelf, "shelf", second.record())
    assert (again.book("a"), again.book("b")) == ("a of the first run", "b of the second run")
    manifest = second.bundle().manifest
    assert manifest.runs == 2
    assert "1 torn lines" in manifest.missing[0]


def test_a_full_disk_costs_the_bundle_and_not_the_answer():
    def full(_: list[str]) -> None:
        raise OSError(28, "No space left on device")

    recorder = Recorder(as_it_is, full, MemoryClock())
    shelf = recorder.recorded(Shelf, "shelf", Library())
    assert shelf.book("a") == "a/1"
    assert "No space left" in recorder.lost


def test_moments_do_not_make_another_question():
    window = next(one for one in members(ErrorSource) if one.name == "window")
    at = {"lookback": None, "now": datetime(2026, 1, 1, tzinfo=UTC)}
    assert named_question("errors", window, at) == {}


def test_what_is_run_at_a_commit_is_one_question_whyever_it_is_read():
    run = next(one for one in members(Sandbox) if one.name == "run")
    asked = [
        named_question("sandbox", run, {"commit": Commit(repository="r", sha="a", because=why)})
        for why in ("head of main", "release 7")
    ]
    assert asked == [{"commit": "a"}] * 2

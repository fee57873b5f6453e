"""A night's questions are written down, sealed, and answered again from the bundle alone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest
from analysis_shapes import OPENING, answer, asks, says
from core.report_fixture import NOW, complete
from twins.reading import MemoryClock, MemoryCode, MemoryHost, MemoryModel

from nightwatch_core.adapters.stores.traffic import Outgoing
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.journal.player import player
from nightwatch_core.journal.questions import named_question
from nightwatch_core.journal.reader import NightJournal, read_file
from nightwatch_core.journal.record import Record
from nightwatch_core.journal.recorder import Recorder
from nightwatch_core.journal.sealing import Begun, bundle_of, sealed, write_begun, write_decisions
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.conversation import Reply
from nightwatch_core.models.journal import Bundle, RunHeader
from nightwatch_core.ports import CodeHost, ErrorSource, Model, Sandbox
from nightwatch_core.privacy.proxy import members

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


class Run:
    """One run of a night: the lines of its journal, and the bundle of all runs so far."""

    def __init__(self, scrub=as_it_is, earlier=None, number=1) -> None:
        self.earlier = earlier.files if earlier else []
        self.lines, self.scrub, self.step = list[str](), scrub, ""
        began = NOW + timedelta(hours=number)
        self.journal = Journal(self.lines.extend, RunHeader(run=f"run {number}", began=began))
        self.recorder = Recorder(self.journal, scrub, MemoryClock(began), lambda: self.step)

    @property
    def files(self) -> list[list[str]]:
        return [*self.earlier, self.lines]

    def recorded(self, port: type, inner: object, name: str = "shelf"):
        return self.recorder.recorded(port, name, inner)

    def bundle(self) -> Bundle:
        at = self.recorder.clock.now()
        write_begun(self.journal, Begun(night=REPORT.night), at, self.scrub)
        write_decisions(self.journal, REPORT, self.recorder.writes, at, self.scrub)
        return bundle_of(sealed(NightJournal(map(read_file, self.files))))

    def record(self) -> Record:
        return Record(self.bundle(), self.scrub, lambda: self.step)


def test_the_same_questions_have_the_same_answers_in_whatever_order():
    night = Run()
    shelf = night.recorded(Shelf, Library())
    with ThreadPoolExecutor(4) as beside:
        told = dict(zip("abcdefgh", beside.map(shelf.book, "abcdefgh"), strict=True))
    again = player(Shelf, "shelf", night.record())
    assert {name: again.book(name) for name in reversed("abcdefgh")} == told
    assert again.book("a", page=1) == "a/1", "a default is the same question"


def test_answers_to_one_question_come_in_their_order_and_the_last_one_stays():
    night = Run()
    shelf = night.recorded(Shelf, Library("first", "then", "then", "then"))
    assert [shelf.book("a") for _ in range(4)] == ["first", "then", "then", "then"]
    again = player(Shelf, "shelf", night.record())
    assert [again.book("a") for _ in range(6)] == ["first", *["then"] * 5]
    (asked,) = night.bundle().manifest.asked
    assert len(asked.answers) == 2


def test_what_was_raised_is_raised_again_with_what_it_had_used():
    night, trouble = Run(), TryLater("busy")
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


def test_a_conversation_goes_on_without_what_only_the_service_reads():
    """No bundle has it, so that a replay asks its next question without it."""
    read = asks(("read_file", {"path": "a.py"}))
    turn = read.turn.model_copy(update={"opaque": "c2lnbmF0dXJl"})
    said = [read.model_copy(update={"turn": turn}), says(answer())]

    def ends(model: Model) -> Reply:
        first = model.reply(OPENING, 5.0).turn
        return model.reply(OPENING.model_copy(update={"turns": (*OPENING.turns, first)}), 5.0)

    night = Run()
    told = ends(night.recorded(Model, MemoryModel(said), "model@remote"))
    assert ends(player(Model, "model@remote", night.record())) == told
    assert "c2lnbmF0dXJl" not in "".join(night.bundle().pieces.values())


def test_how_services_took_requests_is_no_answer_that_is_missing():
    night = Run()
    night.recorded(Shelf, Library()).book("a")
    outgoing = Outgoing()
    outgoing.begin(night.journal.add, as_it_is)
    outgoing.sent("Slack", "POST", "https://slack.example/api", b"{}")
    outgoing.outcome("Slack", "answered")
    outgoing.outcome("Slack", "refused", "it is full")
    manifest = night.bundle().manifest
    assert [asked.name for asked in manifest.asked] == ["shelf.book"]
    assert manifest.missing == ()


def test_where_the_record_ends_it_says_so():
    night = Run()
    night.recorded(Shelf, Library()).book("a")
    record = night.record()
    with pytest.raises(GiveUp, match="the record ends here"):
        player(Shelf, "shelf", record).book("z")
    assert record.missed == ['shelf.book {"name": "z", "page": 1}']


def test_of_a_stream_what_was_looked_at_is_written_down():
    night = Run()
    books = night.recorded(Shelf, Library()).books()
    assert next(books) == "a"
    books.close()
    assert list(player(Shelf, "shelf", night.record()).books()) == ["a"]


def test_a_set_is_the_same_question_in_every_process():
    night = Run()
    night.recorded(Shelf, Library()).known(frozenset("abcdef"))
    assert player(Shelf, "shelf", night.record()).known(frozenset("fedcba")) == 6


def test_code_is_known_by_its_commit_and_read_once():
    night, files = Run(), {"a.py": "one\n", ".env": "SECRET=1\n"}
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
    night = Run(lambda text: text.replace("hunter2", "<secret-123456>"))
    night.recorded(Shelf, Library("hunter2 it is")).book("of hunter2")
    assert "hunter2" not in "".join(night.lines)
    record = Record(night.bundle(), lambda text: text.replace("hunter2", "<secret-999999>"))
    assert player(Shelf, "shelf", record).book("of hunter2") == "<secret-123456> it is"


def test_a_run_that_takes_a_night_up_completes_what_a_killed_one_wrote():
    night = Run()
    shelf = night.recorded(Shelf, Library("a of the first run", "b of the first run"))
    shelf.book("a"), shelf.book("b")
    night.lines.append(night.lines[-1][: len(night.lines[-1]) // 2])
    second = Run(earlier=night, number=2)
    second.recorded(Shelf, Library("b of the second run")).book("b")
    again = player(Shelf, "shelf", second.record())
    assert (again.book("a"), again.book("b")) == ("a of the first run", "b of the second run")
    manifest = second.bundle().manifest
    assert manifest.runs == 2
    assert "1 torn lines" in manifest.missing[0]


def test_a_full_disk_costs_the_bundle_and_not_the_answer():
    def full(_: list[str]) -> None:
        raise OSError(28, "No space left on device")

    recorder = Recorder(Journal(full), as_it_is, MemoryClock())
    shelf = recorder.recorded(Shelf, "shelf", Library())
    assert shelf.book("a") == "a/1"
    assert "No space left" in recorder.journal.lost


def test_a_question_that_a_retry_did_not_ask_again_is_answered_as_in_the_first_run():
    """A step whose result Prefect had kept asks nothing; what others ask is told apart by step."""
    first = Run()
    shelf = first.recorded(Shelf, Library("before", "after"))
    first.step = "recall"
    shelf.book("index")
    first.step = "keep lessons"
    shelf.book("index")
    retry = Run(earlier=first, number=2)
    retry.step = "keep lessons"
    retry.recorded(Shelf, Library("after the retry")).book("index")
    record = retry.record()
    again = player(Shelf, "shelf", record)
    retry.step = "recall"
    assert again.book("index") == "before"
    retry.step = "keep lessons"
    assert again.book("index") == "after the retry"


def test_two_processes_of_a_run_are_one_row_of_events():
    night, worker = Run(), Run()
    night.recorded(Shelf, Library()).book("a")
    worker.recorded(Shelf, Library()).book("b")
    night.earlier = [worker.lines]
    again = player(Shelf, "shelf", night.record())
    assert (again.book("a"), again.book("b")) == ("a/1", "b/1")
    assert night.bundle().manifest.runs == 1


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

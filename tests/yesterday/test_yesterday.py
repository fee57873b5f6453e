"""State folders and knowledge that version 0.1.0 wrote, before its inside was rebuilt, are read.

`sample` is its night on the sample. `shop` are seven nights of a small shop: an error is found, its
fix merged and verified, and it comes back; with its repository and its export of errors. `ids` is
one night of that shop whose messages hold ids: version 0.1.0 took ids of different looks for
different errors. Tonight they have other ids, and no traces.
"""

import json
import re
import sqlite3
import tarfile
from pathlib import Path

import pytest
from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
from prefect.settings import PREFECT_RESULTS_LOCAL_STORAGE_PATH, temporary_settings
from twins.writing import MemoryOutbox
from typer.testing import CliRunner

from flows.commands.app import app
from flows.nightly import nightly
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.database import LedgerOutbox, NightStore
from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.adapters.stores.state_folder import Transcripts
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.conversation import Reply
from nightwatch_core.models.proposals import OpenIssue
from nightwatch_core.report.markdown import as_markdown
from nightwatch_core.report.view import case_of
from tasks.records import PrefectRecords

HERE = Path(__file__).parent
CART = "v1:2c505bdee8156b37"
RATES, RATES_TOO = "v1:d2d5e3b28fdbbaa1", "v1:b89947c2bd2691a1"
KINDS = ["merged", "verified", "closed", "regressed", "reopened"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NIGHTWATCH_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", str(tmp_path / "state/knowledge"))
    return tmp_path


def unpacked(name: str, folder: Path) -> Path:
    """The state folder."""
    with tarfile.open(HERE / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "state"


@pytest.fixture(params=["sample", "shop"])
def state(request: pytest.FixtureRequest, folder: Path) -> Path:
    return unpacked(request.param, folder)


@pytest.fixture
def shop(folder: Path) -> Path:
    return unpacked("shop", folder)


def knowledge_of(state: Path) -> KnowledgeFiles:
    own = state / "sample/knowledge"
    return KnowledgeFiles(own if own.exists() else state / "knowledge")


def test_every_night_is_listed_and_every_report_shown(state: Path) -> None:
    nights = NightStore(state, SystemClock())
    history = nights.history()
    assert len(history) == len(list(state.glob("nights/*/report.json"))) >= 1
    assert {one.status for one in history} == {"complete"}
    listed = CliRunner().invoke(app(), ["history"])
    for record in history:
        assert record.id in listed.output
        report = nights.report(record.id)
        assert report
        kept = json.loads((state / "nights" / record.id / "report.json").read_bytes())
        assert _holds(json.loads(report.model_dump_json()), kept), "a value was lost"
        shown = CliRunner().invoke(app(), ["report", record.id])
        assert shown.exit_code == 0, shown.output
        assert all(one.case.leader.error_class in shown.output for one in report.analyses)


def _holds(ours: object, theirs: object) -> bool:
    """Whether ours says all that theirs said; it may say more."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and all(_holds(ours.get(k), v) for k, v in theirs.items())
    if isinstance(theirs, list):
        same = isinstance(ours, list) and len(ours) == len(theirs)
        return same and all(map(_holds, ours, theirs))  # type: ignore[arg-type]
    return ours == theirs


def test_every_lesson_and_pattern_is_read_and_written_again_the_same(state: Path) -> None:
    knowledge = knowledge_of(state)
    index = knowledge.index()
    assert len(index.solutions) == len(list(state.rglob("knowledge/errors/*.md"))) >= 2
    assert not index.quarantined
    assert knowledge.read_patterns()
    for entry in index.solutions:
        lesson = knowledge.read(entry.file)
        assert lesson
        knowledge.write(lesson)
        assert knowledge.read(entry.file) == lesson
    assert knowledge.rebuild_index().solutions == index.solutions


def test_the_life_of_a_fix_is_known(shop: Path) -> None:
    knowledge = knowledge_of(shop)
    (entry,) = (
        one for one in knowledge.index().solutions if CART in (one.fingerprint, *one.aliases)
    )
    cart = knowledge.read(entry.file)
    assert cart
    assert [fate.kind for fate in cart.fates] == KINDS
    assert cart.watch
    assert cart.watch.verdict == "regressed"
    assert [one.kind for one in cart.proposed] == ["issue", "pull", "pull"]
    assert cart.notes
    (away,) = knowledge.archived().solutions
    assert knowledge.archived_lesson(frozenset({away.fingerprint}))


def test_what_was_published_is_not_published_again(state: Path) -> None:
    with sqlite3.connect(state / "nightwatch.db") as connection:
        kept = connection.execute("SELECT key, fingerprint FROM ledger").fetchall()
    assert len(kept) >= 4
    outbox = MemoryOutbox()
    ledger = LedgerOutbox(outbox, state / "nightwatch.db", "tonight", SystemClock())
    for key, fingerprint in kept:
        again = OpenIssue(key=key, fingerprint=fingerprint, title="Again", body="And again.")
        receipt = ledger.publish(again)
        assert receipt.status == "already there"
        assert receipt.number
    assert not outbox.published


def test_transcripts_are_read(state: Path) -> None:
    kept = Transcripts(state / "transcripts", SystemClock())
    files = list(state.glob("transcripts/*/*.jsonl"))
    assert files
    for file in files:
        found = kept.find(file.stem.replace("-", ":", 1), file.parent.name)
        assert found.entries[0].kind == "opening"
        assert len(found.entries) > 2
        assert not found.unread


def test_records_are_found_under_their_keys(state: Path) -> None:
    results = state / "results"
    records = PrefectRecords(results)
    turns = [str(one.relative_to(results)) for one in results.glob("turns/*/*/*")]
    assert turns
    for key in turns:
        assert Reply.model_validate_json(records.get(key) or "").turn
    store = ResultStore(result_storage=LocalFileSystem(basepath=str(results)))
    for file in results.glob("analysis/*/*"):
        kept = store.read(str(file.relative_to(results))).result
        assert Analysis.model_validate(kept).root_cause


def test_code_that_was_read_is_not_asked_for_again(shop: Path) -> None:
    (file,) = shop.glob("results/code/acme__shop/*/read-*")
    text = PrefectRecords(shop / "results").get(str(file.relative_to(shop / "results")))
    assert text
    assert "def total(lines):" in text


@pytest.mark.xdist_group("prefect")
@pytest.mark.usefixtures("prefect_server")
@pytest.mark.slow
def test_tonight_knows_what_was_found_and_publishes_nothing_twice(shop: Path) -> None:
    before = sorted(one.name for one in shop.glob("nights/*/outbox/*"))
    with temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: shop / "results"}):
        report = nightly(
            source="file",
            errors=str(shop.parent / "errors.json"),
            repo=str(shop.parent / "shop"),
            model="rules",
        )
    assert report.status == "complete", report.degraded
    assert [analysis.ending.kind for analysis in report.analyses] == ["reused"] * 2
    assert not report.receipts
    assert sorted(one.name for one in shop.glob("nights/*/outbox/*")) == before
    assert len(NightStore(shop, SystemClock()).history()) == 8


@pytest.mark.xdist_group("prefect")
@pytest.mark.usefixtures("prefect_server")
def test_errors_that_have_another_name_now_are_not_new(folder: Path) -> None:
    state = unpacked("ids", folder)
    (before,) = NightStore(state, SystemClock()).reports()
    assert [len(one.case.groups) for one in before.analyses] == [3, 3]
    outbox = sorted(one.name for one in state.glob("nights/*/outbox/*"))
    knowledge = KnowledgeFiles(state / "knowledge")
    in_two(knowledge)
    with temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: state / "results"}):
        report = nightly(
            source="file",
            errors=str(folder / "tonight.json"),
            repo=str(folder / "shop"),
            model="rules",
        )
    assert report.status == "complete", report.degraded
    cases = [one.case for one in before.analyses]
    yesterday = {name for one in cases for name in (one.fingerprint, *one.aliases)}
    groups = [group for analysis in report.analyses for group in analysis.case.groups]
    assert len(groups) == 2
    assert all(yesterday & set(group.formerly) for group in groups)
    assert any(group.fingerprint not in yesterday for group in groups)
    assert [analysis.ending.kind for analysis in report.analyses] == ["reused"] * 2
    assert not report.receipts
    assert sorted(one.name for one in state.glob("nights/*/outbox/*")) == outbox
    assert all(case_of((before,), name) for name in yesterday)
    lessons = [knowledge.read(one.file) for one in knowledge.index().solutions]
    assert len(lessons) == 2, "two lessons on one error were not made one"
    known = [one.names for one in lessons if one]
    assert all(any(group.fingerprint in names for names in known) for group in groups)
    assert any({RATES, RATES_TOO} <= names for names in known)
    (gone,) = knowledge.archived().solutions
    away = knowledge.read(gone.file)
    assert away
    assert away.superseded_by in {RATES, RATES_TOO} - {away.fingerprint}


def in_two(knowledge: KnowledgeFiles) -> None:
    """The lesson on rates made two, as for ids of different looks that came on different nights."""
    (entry,) = (one for one in knowledge.index().solutions if one.fingerprint == RATES)
    lesson = knowledge.read(entry.file)
    assert lesson
    assert RATES_TOO in lesson.aliases
    knowledge.write(lesson.model_copy(update={"aliases": ()}))
    knowledge.write(lesson.model_copy(update={"fingerprint": RATES_TOO, "aliases": (), "file": ""}))
    assert len(knowledge.index().solutions) == 3


def test_an_old_night_tells_what_it_told(state: Path) -> None:
    """Sections and marks of code may change; what was found, quoted and published may not."""
    for report in NightStore(state, SystemClock()).reports():
        written = (Path(state) / "nights" / report.night.id / "report.md").read_text("utf-8")
        old, new = _letters(written), _letters(as_markdown(report))
        told = [report.night.id, *(one.url for one in report.receipts)]
        for analysis in report.analyses:
            told += [analysis.title, *analysis.root_cause.splitlines(), *analysis.next_steps]
            told += [f"{one.path}:{one.line}" for one in analysis.evidence]
            told += [row for one in analysis.evidence for row in one.quote.splitlines()]
            told += [row for one in analysis.fix for row in _changed_rows(one.old, one.new)]
        for text in map(_letters, told):
            assert text in old
            assert text in new


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def _changed_rows(old: str, new: str) -> set[str]:
    return set(old.splitlines()) ^ set(new.splitlines())

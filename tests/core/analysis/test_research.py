from datetime import UTC, datetime, timedelta

from twins.reading import MemoryCode

from nightwatch_core.analysis import previews as limits
from nightwatch_core.analysis.research import gather
from nightwatch_core.models.code import Blame, MergedPull, Release, SearchHit
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.knowledge import Lesson, Match, PriorAnalysis
from nightwatch_core.traces.placing import PathIndex

NOW = datetime(2026, 11, 3, 2, tzinfo=UTC)


def group(error_class: str = "KeyError", message: str = "", transaction: str = "") -> ErrorGroup:
    return ErrorGroup(
        fingerprint=f"v1:{error_class}{message}",
        source="file",
        error_class=error_class,
        message=message,
        transaction=transaction,
        last_seen=NOW,
    )


def case(*frames: Frame, transaction: str = "", message: str = "") -> Case:
    trace = Trace(language="ruby", links=(ExceptionLink(error_class="KeyError", frames=frames),))
    return Case(leader=group(message=message, transaction=transaction), trace=trace)


def frame(path: str, line: int | None, function: str = "", code: str = "") -> Frame:
    return Frame(path=path, repo_path=path, line=line, function=function, code=code, in_app=True)


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def test_definitions_of_what_is_called_follow_the_previews_and_files_are_read_once() -> None:
    texts = {
        "app/cart.rb": numbered(99) + "  total = net_sum(lines)\n",
        "app/sums.rb": "def net_sum(lines)\n  lines.sum\nend\n",
    }
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return texts.get(path)

    def search(query: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        found = (
            SearchHit(path=name, line=number, text=line)
            for name, text in texts.items()
            for number, line in enumerate(text.split("\n"), start=1)
            if query in line
        )
        return tuple(found)[:limit]

    one = case(frame("app/cart.rb", 100))
    found = gather(one, PathIndex(texts), read, search=search)
    assert [preview.path for preview in found.previews] == ["app/cart.rb", "app/sums.rb"]
    assert found.previews[1].text == texts["app/sums.rb"].strip()
    assert sorted(asked) == sorted(texts)
    without = gather(one, PathIndex(texts), read)
    assert [preview.path for preview in without.previews] == ["app/cart.rb"]


def test_everything_is_gathered() -> None:
    texts = {"app/models/order.rb": numbered(300), "app/controllers/orders_controller.rb": "x\n"}
    one = case(frame("app/models/order.rb", 250), transaction="Controller/orders/show")
    at = NOW - timedelta(hours=1)
    pull = MergedPull(number=7, title="", sha="a" * 40, merged_at=at, files=(*texts,))
    wrote = Blame(sha="a" * 40, author="Ann", at=at, subject="Count", line=250, text="line 250")
    tree = MemoryCode(texts, blames={("app/models/order.rb", 250): wrote})
    release = Release(version="1", sha="a", at=NOW - timedelta(minutes=5))
    lesson = Lesson(
        fingerprint="v1:9", error_class="E", root_cause="No.", first_detected=NOW.date()
    )
    prior = PriorAnalysis(lesson=lesson, match=Match(score=1, because=()))
    found = gather(
        one, PathIndex(texts), texts.get, (pull,), (release,), (prior,) * 5,
        code=tree,
    )  # fmt: skip
    assert [file.path for file in found.likely_files] == list(texts)
    assert [preview.start for preview in found.previews] == [250 - limits.PREVIEW_LINES // 2]
    assert [suspect.pull.number for suspect in found.suspects] == [7]
    assert found.suspects[0].because[0] == "wrote app/models/order.rb:250, the line that fails"
    assert [author.commit.subject for author in found.changes.authors] == ["Count"]
    assert found.changes.candidates == (pull,)
    assert found.priors == (prior,) * 3
    assert found.leader_findings == ()


def test_nothing_is_gathered_from_nothing() -> None:
    bare = Case(leader=ErrorGroup(fingerprint="v1:1", source="file", error_class=""))
    found = gather(bare, PathIndex(()), {}.get)
    assert found == type(found)()

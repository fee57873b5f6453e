from datetime import timedelta

from analysis_shapes import DAY, FIX, analysis
from core.lesson_shapes import lesson

from nightwatch_core import ports
from nightwatch_core.adapters.local import memory_keepers as keepers
from nightwatch_core.models.error import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, Pattern
from nightwatch_core.models.proposal import Comment, DraftPull, OpenIssue, OwnItem, Reopen
from nightwatch_core.models.report import Night, NightKind
from nightwatch_core.publish.issue_text import marker
from nightwatch_core.report.builder import opened


def issue(key="k1", fingerprint="v1:a"):
    body = marker(fingerprint, key, "n1") + "\n\nText"
    return OpenIssue(key=key, fingerprint=fingerprint, title="T", body=body, labels=("nightwatch",))


def pull(key="p1"):
    return DraftPull(
        key=key, fingerprint="v1:a", branch="nightwatch/p1", base="main", title="T", body="B",
        commit_message="M", changes=(), commit="c" * 40,
    )  # fmt: skip


def comment(number, key="c1"):
    return Comment(key=key, fingerprint="v1:a", number=number, body="B")


def reopen(number, key="r1"):
    return Reopen(key=key, fingerprint="v1:a", number=number, body="B")


def test_every_twin_fits_its_port():
    twins: tuple[
        ports.KnowledgeReader, ports.KnowledgeWriter, ports.Outbox, ports.Tracker, ports.Outbox,
        ports.Notifier, ports.Nights,
    ] = (
        keepers.MemoryKnowledge(), keepers.MemoryKnowledge(), keepers.MemoryOutbox(),
        keepers.MemoryOutbox(), keepers.QuietOutbox(), keepers.MemoryNotifier(),
        keepers.MemoryNights(),
    )  # fmt: skip
    assert len({type(twin) for twin in twins}) == 5


def test_lessons_are_kept_by_fingerprint():
    knowledge = keepers.MemoryKnowledge()
    file = knowledge.write(lesson("v1:a", title="one"))
    assert knowledge.write(lesson("v1:a", title="two")) == file
    assert knowledge.read(file).title == "two"
    assert knowledge.read(file).file == file
    assert knowledge.read("errors/gone.md") is None
    index = knowledge.index()
    assert [entry.file for entry in index.solutions] == [file]
    assert index.solutions[0].last_seen == index.last_updated


def test_an_archived_lesson_is_out_of_the_way_until_its_error_returns():
    knowledge = keepers.MemoryKnowledge()
    file = knowledge.write(lesson("v1:a", aliases=("v1:b",)))
    assert knowledge.archive([file, "errors/gone.md"]) == ("archive/v1:a.md",)
    assert knowledge.index().solutions == ()
    assert [entry.file for entry in knowledge.archived().solutions] == ["archive/v1:a.md"]
    back = knowledge.archived_lesson(frozenset({"v1:b"}))
    assert back == knowledge.read("archive/v1:a.md")
    assert knowledge.archived_lesson(frozenset({"v1:c"})) is None
    assert knowledge.write(back) == file
    assert knowledge.archived().solutions == ()


def test_patterns_and_rules():
    rules = IgnoreRules(rules=(IgnoreRule(pattern="x"),))
    knowledge = keepers.MemoryKnowledge(rules=rules)
    told = {"description": "D", "pattern_type": "systemic_issue", "tags": ("t",)}
    file = knowledge.write_pattern(Pattern(title="One cause: Rates!", occurrences=3, **told))
    assert file == "patterns/one-cause-rates.md"
    entry = knowledge.rebuild_index().patterns[0]
    assert (entry.file, entry.occurrences, entry.tags) == (file, 3, ("t",))
    assert knowledge.ignore_rules() == rules


def test_an_issue_is_published_once_and_becomes_an_item():
    outbox = keepers.MemoryOutbox()
    first, again = outbox.publish(issue()), outbox.publish(issue())
    assert (first.status, first.number, first.title) == ("done", 1, "T")
    assert (again.status, again.number) == ("already there", 1)
    (item,) = outbox.own_items()
    assert (item.kind, item.key, item.night, item.state) == ("issue", "k1", "n1", "open")
    assert item.labels == ("nightwatch",)


def test_numbers_go_on_and_a_pull_keeps_its_branch():
    outbox = keepers.MemoryOutbox()
    numbers = [outbox.publish(one).number for one in (issue("k1"), issue("k2", "v1:b"), pull())]
    assert numbers == [1, 2, 3]
    assert outbox.own_items()[2].branch == "nightwatch/p1"


def test_comments_are_published_once_on_an_issue_that_is_there():
    outbox = keepers.MemoryOutbox()
    outbox.publish(issue())
    statuses = [outbox.publish(comment(n, k)).status for n, k in ((1, "a"), (1, "a"), (9, "b"))]
    assert statuses == ["done", "already there", "refused"]
    assert len(outbox.published) == 2
    assert len(outbox.own_items()) == 1


def test_reopening_opens_the_item():
    closed = OwnItem(kind="issue", number=4, fingerprint="v1:a", state="closed", closed_at=DAY)
    outbox = keepers.MemoryOutbox(items=[closed])
    assert outbox.publish(reopen(4)).status == "done"
    assert outbox.publish(reopen(4)).status == "already there"
    (item,) = outbox.own_items()
    assert (item.state, item.state_reason, item.closed_at) == ("open", "reopened", None)


def test_an_item_that_was_there_before_is_known_by_its_key():
    known = OwnItem(kind="issue", number=4, fingerprint="v1:a", key="k1")
    outbox = keepers.MemoryOutbox(items=[known])
    receipt = outbox.publish(issue())
    assert (receipt.status, receipt.number) == ("already there", 4)
    assert outbox.published == []


def test_a_quiet_outbox_publishes_nothing_and_says_so():
    receipt = keepers.QuietOutbox().publish(issue())
    assert (receipt.status, receipt.number, receipt.title) == ("held back", None, "T")


def report(night, **more):
    found = opened(night, NightOptions(), (), DAY)
    return found.model_copy(update={"analyses": (analysis(fix=(FIX,)),), **more})


def made(id, resumed):
    return Night(id=id, window=Window(since=DAY, until=DAY), now=DAY, resumed=resumed)


def test_an_unfinished_night_is_taken_up_and_a_finished_one_is_not():
    nights = keepers.MemoryNights()
    first = nights.begin("n", made)
    assert (first.id, first.resumed) == ("n", False)
    assert nights.begin("n", made).resumed
    nights.finish(report(first))
    second = nights.begin("n", made)
    assert (second.id, second.resumed) == ("n-2", False)
    nights.finish(report(second))
    assert nights.begin("n", made).id == "n-3"


def test_reports_and_history_newest_first():
    nights = keepers.MemoryNights()
    for name in ("one", "two"):
        night = nights.begin(name, made)
        assert nights.keep(report(night)) == f"memory/{name}"
        later = DAY + timedelta(hours=1)
        nights.keep(report(night, finished=later))
        nights.finish(report(night, finished=later))
    assert [one.night.id for one in nights.reports()] == ["two", "one"]
    assert nights.reports()[0].finished > DAY
    assert [one.id for one in nights.history()] == ["two", "one"]
    assert nights.history()[0].analysed == 1


KIND = NightKind(key="k", scheduled=True)


def live(id, resumed, kind=KIND, hours=24):
    since = DAY - timedelta(hours=hours)
    return Night(id=id, window=Window(since=since, until=DAY), now=DAY, kind=kind)


def test_an_unfinished_night_of_the_same_kind_is_found_with_its_window():
    nights = keepers.MemoryNights()
    begun = nights.begin("n", live)
    assert nights.unfinished(KIND, DAY) == begun
    assert nights.unfinished(KIND, DAY + timedelta(minutes=1)) is None
    assert nights.unfinished(NightKind(key="k"), DAY) is None
    nights.finish(report(begun, status="failed"))
    assert nights.unfinished(KIND, DAY) == begun
    nights.finish(report(begun))
    assert nights.unfinished(KIND, DAY) is None
    nights.begin("empty", lambda id, resumed: live(id, resumed, hours=0))
    assert nights.unfinished(KIND, DAY) is None


def test_the_watermark_is_the_end_of_the_last_night_that_read_all():
    nights = keepers.MemoryNights()
    assert nights.watermark("k") is None
    nights.finish(report(nights.begin("dry", lambda i, r: live(i, r, NightKind(key="k")))))
    assert nights.watermark("k") is None
    nights.finish(report(nights.begin("n", live), read_whole=True))
    assert nights.watermark("k") == DAY
    assert nights.watermark("other") is None


def test_a_notifier_keeps_what_it_was_told():
    notifier = keepers.MemoryNotifier()
    told = report(made("n", False))
    assert notifier.publish(told) == "memory"
    assert notifier.told == [told]

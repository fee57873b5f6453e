"""Lessons whose files were rewritten or are gone."""

from core.follow_world import at, lesson, pull, tonight
from core.lesson_shapes import lesson as shaped
from twins.reading import MemoryCode

from nightwatch_core.memory.follow_up import follow_lessons, staleness, touched_files
from nightwatch_core.memory.limits import MOST_FILES_READ
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.knowledge import CitedLine, FixWatch, Lesson, OutcomeUpdate
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.text.plain_text import digest

CLOSED = pull(state="closed", words=("No.",))


def follow(known: Lesson, *items: OwnItem, number: int = 6) -> OutcomeUpdate | None:
    told = follow_lessons((known,), items, tonight(number), (), (), MemoryCode())
    return next(iter(told), None)


def kinds(told: OutcomeUpdate | None) -> list[str]:
    return [event.kind for event in told.outcomes] if told else []


TEXT = "RATES.fetch(code)\n"
FILE = "app/rate.rb"
FITS = shaped(evidence=(CitedLine(path=FILE, line=1, quote=TEXT, digest=digest(TEXT)),))


def merged(*files):
    return MergedPull(number=1, title="t", sha="a" * 40, merged_at=at(1), files=files)


def looked(known, text=TEXT, changed=(FILE,), paths=(FILE,)):
    return staleness(known, paths, changed, {FILE: text}.get)


def test_a_lesson_is_stale_once_its_file_is_gone_or_rewritten():
    assert looked(FITS) is None
    assert looked(FITS, "RATES[code]\n") == f"{FILE} was rewritten"
    assert looked(FITS, paths=()) == f"{FILE} is gone"


def test_a_change_next_to_the_quoted_lines_does_not_make_a_lesson_stale():
    assert looked(FITS, f"# a comment\n\n{TEXT}RATES.clear\n") is None
    moved = FITS.model_copy(update={"stale": f"{FILE} was rewritten"})
    assert looked(moved, f"# a comment\n{TEXT}") == ""


def test_what_was_quoted_at_this_very_commit_was_not_rewritten():
    """A digest of the same file is another one where other rules masked what was read."""
    other = FITS.model_copy(update={"commit": "c0ffee"})
    assert staleness(other, (FILE,), (FILE,), {FILE: "masked"}.get, "c0ffee") is None
    assert staleness(other, (FILE,), (FILE,), {FILE: "masked"}.get, "decade") is not None
    wrong = other.model_copy(update={"stale": f"{FILE} was rewritten"})
    assert staleness(wrong, (FILE,), (), {}.get, "c0ffee") == ""


def test_only_files_that_were_touched_lately_are_read():
    assert looked(FITS, "RATES[code]\n", changed=()) is None
    many = tuple(f"f{n:03}.rb" for n in range(MOST_FILES_READ + 50))
    cited = shaped(evidence=tuple(CitedLine(path=file, line=1) for file in many))
    assert len(touched_files((merged(*many, "other.rb"),), (cited,))) == MOST_FILES_READ
    assert touched_files((merged("other.rb"),), (FITS,)) == frozenset()


def test_what_was_said_once_is_no_news_and_is_taken_back_when_the_file_is_as_it_was():
    known = FITS.model_copy(update={"stale": f"{FILE} was rewritten"})
    assert looked(known, "RATES[code]\n") is None
    assert looked(known) == ""
    assert looked(known, changed=()) is None
    gone = FITS.model_copy(update={"stale": f"{FILE} is gone"})
    assert looked(gone, changed=()) == ""


def test_a_fix_of_its_own_does_not_make_a_lesson_stale():
    watched = FITS.model_copy(update={"watch": FixWatch(number=7, merged_at=at(2))})
    assert looked(watched, "Rates.of(code)\n") is None
    assert looked(watched, paths=()) == f"{FILE} is gone"


def test_a_lesson_of_another_application_or_of_later_is_not_held_against_this_code():
    gone = lesson(5, evidence=(CitedLine(path=FILE, line=1),), commit=MemoryCode().commit.sha)
    assert follow(gone).stale == f"{FILE} is gone"
    assert follow(gone.model_copy(update={"commit": "d" * 40})) is None


def test_staleness_is_told_with_what_else_happened_or_alone():
    gone = lesson(5, evidence=(CitedLine(path=FILE, line=1),))
    alone = follow(gone)
    assert (alone.stale, alone.outcome, alone.outcomes) == (f"{FILE} is gone", "", ())
    both = follow(gone, CLOSED)
    assert (both.stale, kinds(both)) == (f"{FILE} is gone", ["closed unmerged"])

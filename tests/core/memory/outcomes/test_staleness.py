from core.lesson_shapes import lesson, night

from nightwatch_core.memory.outcomes.staleness import MOST_READ, stale, touched, with_staleness
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.knowledge import CitedLine
from nightwatch_core.models.outcome import FixWatch, OutcomeUpdate
from nightwatch_core.traces.frame_mapping import digest

TEXT = "RATES.fetch(code)\n"
FILE = "app/rate.rb"
FITS = lesson(evidence=(CitedLine(path=FILE, line=1, quote="RATES", digest=digest(TEXT)),))


def pull(*files):
    return MergedPull(
        number=1, title="t", sha="a" * 40, merged_at=night(1).window.until, files=files
    )


def looked(known, text=TEXT, changed=(FILE,), paths=(FILE,)):
    return stale(known, paths, changed, {FILE: text}.get)


def test_a_lesson_is_stale_once_its_file_is_gone_or_rewritten():
    assert looked(FITS) is None
    assert looked(FITS, "RATES[code]\n") == f"{FILE} was rewritten"
    assert looked(FITS, paths=()) == f"{FILE} is gone"


def test_only_files_that_were_touched_lately_are_read():
    assert looked(FITS, "RATES[code]\n", changed=()) is None
    many = tuple(f"f{n:03}.rb" for n in range(MOST_READ + 50))
    cited = lesson(evidence=tuple(CitedLine(path=file, line=1) for file in many))
    assert len(touched((pull(*many, "other.rb"),), (cited,))) == MOST_READ
    assert touched((pull("other.rb"),), (FITS,)) == frozenset()


def test_what_was_said_once_is_no_news_and_is_taken_back_when_the_file_is_as_it_was():
    known = FITS.model_copy(update={"stale": f"{FILE} was rewritten"})
    assert looked(known, "RATES[code]\n") is None
    assert looked(known) == ""
    assert looked(known, changed=()) is None
    gone = FITS.model_copy(update={"stale": f"{FILE} is gone"})
    assert looked(gone, changed=()) == ""


def test_a_fix_of_its_own_does_not_make_a_lesson_stale():
    watched = FITS.model_copy(update={"watch": FixWatch(number=7, merged_at=night(2).window.until)})
    assert looked(watched, "Rates.of(code)\n") is None
    assert looked(watched, paths=()) == f"{FILE} is gone"


def test_staleness_is_told_with_what_else_happened_or_alone():
    news = OutcomeUpdate(fingerprint=FITS.fingerprint, outcome="merged")
    assert with_staleness(FITS, news, None) == news
    assert with_staleness(FITS, None, None) is None
    assert with_staleness(FITS, news, "why").stale == "why"
    alone = with_staleness(FITS.model_copy(update={"outcome": "closed"}), None, "")
    assert (alone.stale, alone.outcome, alone.fates) == ("", "closed", ())

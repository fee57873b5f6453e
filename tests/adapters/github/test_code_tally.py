from concurrent.futures import ThreadPoolExecutor

from nightwatch_core.adapters.github.code_cache import Told
from nightwatch_core.adapters.github.code_tally import MOST_FILES, Tally

HIT, KEPT, MISS = Told("", "memory"), Told("", "disk"), Told("", "asked")


def test_threads_lose_no_count() -> None:
    tally = Tally()

    def count(number: int) -> None:
        tally.request()
        tally.note((HIT, MISS), (f"{number % 50}.rb",))
        tally.note((HIT, KEPT), ())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(2_000)))
    told = tally.counted()
    assert (told.memory, told.disk, told.asked, told.requests) == (4_000, 2_000, 2_000, 2_000)
    assert told.saved == 2_000  # the questions that would have been asked for hits alone
    assert len(told.files) == 50


def test_too_many_files_are_counted_and_not_named() -> None:
    tally = Tally()
    for _ in "12":
        tally.note((MISS,), (f"{number}.rb" for number in range(MOST_FILES + 5)))
    assert (len(tally.counted().files), tally.counted().more_files) == (MOST_FILES, 5)

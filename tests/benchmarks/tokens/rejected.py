"""`python -m tests.benchmarks.tokens.rejected`: the night after drafts were closed unmerged.

Night 1 meets every error for the first time. Then reviewers close drafts with a word on each, and
all errors come back. A night opens one new draft unless it is told otherwise
(`NightOptions.max_pull_requests`), so that one rejection a night is what happens; every error takes
that place once, and the mean and the dearest are told. Beside it: one in each of the five
applications, and all that have a fix at once.
"""

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests/, as pytest has it

from benchmarks.tokens.designs import DAY  # noqa: E402
from benchmarks.tokens.measuring import Played, all_nights, played  # noqa: E402
from benchmarks.tokens.returning import Lessons, lived_once  # noqa: E402
from benchmarks.tokens.service import Service  # noqa: E402
from benchmarks.tokens.words import Night  # noqa: E402

from nightwatch_core.code.edits import fix_digest  # noqa: E402
from nightwatch_core.models.knowledge import (
    Lesson,  # noqa: E402
    OutcomeEvent,
    PublishedItem,
)

WORDS = "Not there, please: the value has to be whole where it is made, and a test should say so."
AIM = 0.02  # of the first night's new tokens, one rejection among all errors

Told = tuple[Played, ...]


def main() -> int:
    """Print the table; 1 where one rejection costs more than the aim, or an answer was wrong."""
    nights = all_nights()
    firsts = [_night(night, 1, {}) for night in nights]
    first = _tokens(one for told, _ in firsts for one in told)
    with_lessons = [(night, lessons) for night, (_, lessons) in zip(nights, firsts, strict=True)]
    single = [
        _second(night, lessons, (file,))
        for night, lessons in with_lessons
        for file, lesson in lessons.items()
        if lesson.has_fix
    ]
    by_turns = max(len(lessons) for _, lessons in with_lessons)
    each = [_second(night, lessons, list(lessons)[:1]) for night, lessons in with_lessons]
    every = [_second(night, lessons, lessons) for night, lessons in with_lessons]
    mean, dearest = _tokens(_all(single)) / len(single), max(map(_tokens, single))
    print(f"night 1: {len(single)} errors with a fix, {first:,} new tokens; at most {by_turns} an")
    print("application; after it drafts were closed unmerged:\n")
    print("| rejected | asked | calls | right | new tokens | of night 1 |")
    print("|---|---:|---:|---:|---:|---:|")
    _row("one, on average", single, mean, first, len(single))
    _row("one, the dearest", [max(single, key=_tokens)], dearest, first)
    _row("one of each application", each, _tokens(_all(each)), first)
    _row("all of them", every, _tokens(_all(every)), first)
    wrong = not all(one.right for one in _all([*single, *each, *every]))
    return 1 if wrong or mean > AIM * first else 0


def _second(night: Night, lessons: Lessons, files: Collection[str]) -> Told:
    known = {file: turned_down(one) if file in files else one for file, one in lessons.items()}
    return _night(night, 2, known)[0]


def _night(night: Night, number: int, lessons: Lessons) -> tuple[Told, Lessons]:
    with Service(night.scenarios) as service:
        found, kept = lived_once(night, number, lessons, service)
        return played(night, found, service), kept


def turned_down(lesson: Lesson) -> Lesson:
    """Give the lesson after its draft was closed unmerged."""
    on, kind = DAY.date(), "closed unmerged"
    draft = PublishedItem(kind="pull", number=7, on=on, fix=fix_digest(lesson.edits), outcome=kind)
    no = OutcomeEvent(kind="closed unmerged", number=7, on=on, words=(WORDS,))
    return lesson.model_copy(update={"proposed": (draft,), "fates": (no,), "outcome": kind})


def _row(name: str, told: Sequence[Told], tokens: float, first: int, times: int = 1) -> None:
    every = _all(told)
    asked = sum(bool(one.calls) for one in every) / times
    calls = sum(len(one.calls) for one in every) / times
    right = sum(one.right for one in every) / len(every)
    print(
        f"| {name} | {asked:g} | {calls:g} | {right:.0%} | {tokens:,.0f} | {tokens / first:.1%} |"
    )


def _all(told: Iterable[Told]) -> list[Played]:
    return [one for night in told for one in night]


def _tokens(told: Iterable[Played]) -> int:
    return sum(one.billed.new_tokens for one in told)


if __name__ == "__main__":
    sys.exit(main())

"""CPU seconds of counting records into groups, ranking them, and finding what belongs together.

`python tests/benchmarks/groups.py [groups]`. The records are parsed already, three for every group;
every second group fails in a place of its own, the others share theirs with another one.
"""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from nightwatch_core.intake.cases import cases, families
from nightwatch_core.intake.grouping import Tally
from nightwatch_core.intake.ignore_rules import rules_in_force
from nightwatch_core.intake.selection import case_order, select
from nightwatch_core.models.errors import (
    ErrorGroup,
    ExceptionLink,
    Frame,
    Occurrence,
    Trace,
    Window,
)
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules

BEGAN = datetime(2031, 3, 1, tzinfo=UTC)
WINDOW = Window(since=BEGAN, until=BEGAN + timedelta(days=1))
RULES = IgnoreRules(rules=tuple(IgnoreRule(pattern=f"gone {n}", reason="x") for n in range(20)))
T = TypeVar("T")


def name(number: int) -> str:
    """Return four letters: numbers would be taken for ids, and such errors for one."""
    return "".join(chr(ord("a") + number // 26**place % 26) for place in (3, 2, 1, 0))


def records(groups: int) -> list[Occurrence]:
    """Return the records of so many groups, three of each, one after the other."""
    return [
        Occurrence(
            app="shop",
            error_class=f"Shop::Error{name(number % 400).title()}",
            transaction=f"Controller/{name(number % 60)}/show",
            message=f"no {name(number)} for item {turn} of order {number * 7 + turn}",
            user=f"{number % 997}",
            release=f"2.{number % 5}",
            last_seen=BEGAN + timedelta(seconds=2 * number + turn),
        )
        for turn in range(3)
        for number in range(groups)
    ]


def trace_of(group: ErrorGroup) -> Trace:
    """Return the trace of a group, by the word in its message."""
    word = group.message.split()[1]
    frame = Frame(path=f"app/{word[:3]}.rb", repo_path=f"app/{word[:3]}.rb", function=f"do_{word}",
                  line=7, in_app=True)  # fmt: skip
    return Trace(links=(ExceptionLink(error_class=group.error_class, frames=(frame,)),))


def timed(what: str, do: Callable[[], T]) -> T:
    """Do it, and print how long the processor took."""
    begun = time.process_time()
    made = do()
    print(f"{what:40}{time.process_time() - begun:6.2f} s")
    return made


def main(number: int) -> None:
    """Print a line for every step, in the order of a night."""
    given, tally = records(number), Tally("file")
    timed(f"{len(given):,} records counted", lambda: [tally.add(one) for one in given])
    groups = timed(f"{number:,} groups", lambda: tally.groups(WINDOW))
    assert len(groups) == number, len(groups)
    rules = rules_in_force(RULES, groups, WINDOW)[0]
    selection = timed("ranked", lambda: select(groups, rules, number))
    traced = tuple((group, trace_of(group)) for group in selection.kept)
    made = timed("put into cases by their traces", lambda: cases(traced))
    ranked = timed("cases ranked", lambda: sorted(made, key=case_order(selection)))
    found = timed("put into families", lambda: families(tuple(ranked)))
    print(f"{len(made):,} cases in {len(found):,} families")


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["10000"])[0]))

"""Reads from what test runners print which tests failed, and how many were run."""

import re
from typing import NamedTuple

from nightwatch_core.gate.limits import NAME_CHARACTERS, READ_CHARACTERS
from nightwatch_core.models.sandbox import Run


class Reading(NamedTuple):
    """What a run of tests says; a number of None is not known."""

    failed: frozenset[str]
    ran: int | None
    run: Run

    @property
    def is_green(self) -> bool:
        """Whether all went well, as far as it says."""
        return self.run.went_well and not self.failed

    @property
    def is_readable(self) -> bool:
        """Whether it can be compared: it came to its end, and tells which tests are red."""
        return self.is_green or (self.run.ended == "exited" and bool(self.failed))

    @property
    def tells(self) -> bool:
        """Whether it can be compared with, because some tests are green."""
        green = self.ran is None or self.ran > len(self.failed)
        return self.is_readable and self.ran != 0 and green


class Form(NamedTuple):
    """How a runner prints the name of a test that failed, and how many it ran."""

    failed: re.Pattern[str]
    counts: re.Pattern[str]


_FORMS: dict[str, Form] = {
    "pytest": Form(
        re.compile(r"^(?:FAILED|ERROR) (\S+?\.py\S*(?:\[[^\n]{0,150}?\])?)(?: - |$)", re.M),
        re.compile(r"(\d+) (?:passed|failed|errors?)\b(?=[^\n]{0,200} in \d)"),
    ),
    "unittest": Form(
        re.compile(r"^(?:FAIL|ERROR): (\S+ \([\w.]+\)|\S+)", re.M),
        re.compile(r"^Ran (\d+) tests? in ", re.M),
    ),
    "minitest": Form(
        re.compile(r"^ *\d+\) (?:Failure|Error):\n(\S+?)(?: \[|:$)", re.M),
        re.compile(r"^(\d+) (?:runs|tests), ", re.M),
    ),
    "rspec": Form(
        re.compile(r"^rspec (\./\S+)", re.M),
        re.compile(r"^(\d+) examples?, ", re.M),
    ),
    "tap": Form(
        re.compile(r"^ *not ok \d+ (?:- )?([^\n#]{1,200}?)\s*(?:# time.*)?$", re.M),
        re.compile(r"^# tests (\d+)", re.M),
    ),
    "jest": Form(
        re.compile(r"^ *[✕×] ([^\n]{1,200}?)(?: \(\d+ m?s\))?$", re.M),
        re.compile(r"^Tests:[^\n]{0,100}?(\d+) total", re.M),
    ),
}


def reading_of(run: Run, form: str) -> Reading:
    """Read a run; of a `form` that is not known any of them that fits.

    >>> text = "FAILED a/test_b.py::test_c - assert 1 == 2\\n1 failed, 2 passed in 0.01s"
    >>> reading = reading_of(Run(code=1, output=text), "pytest")
    >>> sorted(reading.failed), reading.ran, reading.is_readable
    (['a/test_b.py::test_c'], 3, True)
    """
    text = run.output[-READ_CHARACTERS:]
    forms = [_FORMS[form]] if form in _FORMS else list(_FORMS.values())
    failed = frozenset(name[:NAME_CHARACTERS] for one in forms for name in one.failed.findall(text))
    return Reading(failed, _count(text, forms), run)


def _count(text: str, forms: list[Form]) -> int | None:
    counts = [int(number) for one in forms for number in one.counts.findall(text)]
    return sum(counts) if counts else None

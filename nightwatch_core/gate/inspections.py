"""Syntax, imports, lint and types of changed files: no complaint that the base does not have."""

import re
from collections import Counter

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.gate.bench import Bench
from nightwatch_core.gate.kit import Inspection
from nightwatch_core.gate.limits import CHECK_SECONDS, EXPLAINED_CHARACTERS, OUTPUT_CHARACTERS
from nightwatch_core.models.gate import Check
from nightwatch_core.models.sandbox import Run
from nightwatch_core.text.plain_text import one_line

_PLACE = re.compile(r":\d+(:\d+)?(?=:|\s|$)|\bline \d+\b")  # moves with every edit above it
_ABSENT = re.compile(r"No module named|not found|Cannot find module|can't be found")


def inspected(bench: Bench, inspection: Inspection) -> Check | None:
    """Compare the complaints of a check; None where it does not concern the changed files."""
    files = bench.kit.inner(tuple(c.path for c in bench.changes if c.text is not None))
    files = tuple(path for path in files if path.endswith(inspection.endings))
    files = tuple(path for path in files if inspection.of_tests or not TEST.search(path))
    if not files or not bench.has_time():
        return None
    words = inspection.words(files)
    shown = f"{inspection.name} of {', '.join(files[:5])}"
    fixed = bench.fixed(words, CHECK_SECONDS)
    if fixed.ended != "exited" or is_absent(fixed):
        return None
    complaints = _complaints(fixed)
    if not complaints:
        return Check(name=inspection.name, outcome="passed", text=shown, seconds=fixed.seconds)
    base = bench.base(words, CHECK_SECONDS)
    new = complaints - _complaints(base)
    if base.ended != "exited" or not new:
        text = f"{shown}: nothing that the base does not have"
        return Check(name=inspection.name, outcome="passed", text=text, seconds=fixed.seconds)
    first = one_line(next(iter(new)))[:EXPLAINED_CHARACTERS]
    return Check(
        name=inspection.name,
        outcome="failed",
        text=f"{inspection.name}: {first}",
        output=fixed.output[-OUTPUT_CHARACTERS:],
        seconds=fixed.seconds,
    )


def _complaints(run: Run) -> Counter[str]:
    """Complaints without where in the file they are."""
    lines = (line.strip() for line in run.output.splitlines())
    return Counter(_PLACE.sub("", line) for line in lines if ":" in line)


def is_absent(run: Run) -> bool:
    """Whether the tool itself is not here, which is nobody's fault."""
    return not run.went_well and bool(_ABSENT.search(run.output)) and run.output.count("\n") <= 2

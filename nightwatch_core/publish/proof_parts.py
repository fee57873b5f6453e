"""What running a fix showed: the same in report, issue, draft and Slack.

Plain texts, as hostile as they came: each rendering escapes them for its own format.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import Check, Correction, GateResult, Reproduction, Story
from nightwatch_core.publish.finding_parts import sentence
from nightwatch_core.text.units import plural

_NAMES = 10  # tests that are named
_BY = {"": "", "search": "by search, without a model: ", "model": "by the model: "}
_SMALL = ("syntax", "imports", "lint", "types")  # what a reader takes for granted where it passed

_FAILED = {"": "What the run printed", "tests": "What the tests printed"}


class Quote(NamedTuple):
    """What a run printed, under its name."""

    name: str
    output: str


def proof_lines(gate: GateResult | None) -> tuple[str, ...]:
    """Everything that was tried of a fix and what came of it, what proves most first."""
    if gate is None:
        return ("Nothing was run.",)
    lines = (
        *_reproduced(gate.reproduction),
        *_corrected(gate.correction),
        *_checked(gate),
        *_named(gate),
        *_in_steps(gate.story),
    )
    return tuple(map(sentence, lines))


def _reproduced(made: Reproduction | None) -> Iterator[str]:
    if made is None or (made.outcome == "not tried" and not made.because):
        return
    if made.outcome == "not tried":
        yield f"No reproduction was tried: {made.because}"
    elif made.outcome == "not reproduced":
        yield f"Not reproduced{_effort(made)}: {made.because or 'no test raised it'}"
    else:
        through = f" through {made.frames[0]}" if made.frames else ""
        yield (
            f"Reproduced{_effort(made)}, {_BY[made.by]}{made.name or 'a test'} raises "
            f"{made.error_class or 'the error'}{through}, as production does"
            f"{'' if made.test else f'; it is no part of the change: {made.because}'}"
        )


def _effort(made: Reproduction) -> str:
    tries = plural(made.tries, "try", "tries") if made.tries else ""
    took = f"{made.seconds:.0f} s" if made.seconds >= 1 else ""
    effort = ", ".join(filter(None, (tries, took)))
    return f" ({effort})" if effort else ""


def _corrected(tried: Correction | None) -> Iterator[str]:
    if tried is None or tried.outcome == "not tried":
        return
    if tried.outcome == "passed":
        first = tried.first_failed.rstrip(".")
        yield f"Made anew, the first one did not pass: {first}; now {tried.because}"
    else:
        yield f"Made anew, in vain: {tried.because}"


def _checked(gate: GateResult) -> Iterator[str]:
    if gate.outcome == "not run":
        yield f"Nothing was run: {gate.text}"
        return
    made = gate.reproduction is not None and gate.reproduction.outcome == "reproduced"
    shown = ("reproduction", "passed") if made else ()  # told already, by what it is
    checks = [one for one in gate.checks if (one.name, one.outcome) != shown]
    told = [one for one in checks if one.name not in _SMALL or one.outcome != "passed"]
    yield from (check_line(one) for one in told if one.outcome != "not run")
    small = list(dict.fromkeys(one.name for one in checks if one not in told))
    if small:
        yield f"Passed: {', '.join(small)}"
    if not any(one.name == "tests" and one.outcome == "passed" for one in told):
        yield from (check_line(one) for one in told if one.outcome == "not run")


def check_line(check: Check) -> str:
    """What was looked at, what came of it and how long it took."""
    took = f" ({check.seconds:.1f} s)" if check.seconds >= 0.1 else ""
    return f"{check.outcome[:1].upper()}{check.outcome[1:]}: {check.text or check.name}{took}"


def _named(gate: GateResult) -> Iterator[str]:
    for what, names in (
        ("Red without the fix as well, so not held against it", gate.preexisting),
        ("Flaky, red and green on the same code", gate.flaky),
    ):
        if names:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            yield f"{what}: {', '.join(names[:_NAMES])}{more}"


def _in_steps(story: Story | None) -> Iterator[str]:
    """How far a fix made in several steps came."""
    if story is None:
        return
    done = len(story.steps) - len(story.missing)
    came = f"{done} of {len(story.steps)} steps passed" if story.steps else "not begun"
    yield f"Made in steps: {came}{f' ({story.because})' if story.because else ''}"


def crash_quotes(gate: GateResult | None) -> tuple[Quote, ...]:
    """The runs that show the crash, and that it is gone."""
    made = gate.reproduction if gate else None
    if made is None or made.outcome != "reproduced":
        return ()
    quotes = (
        Quote("Red, on the commit that failed", made.red),
        Quote("Green, with the change", made.green),
    )
    return tuple(one for one in quotes if one.output.strip())


def failure_quotes(gate: GateResult | None) -> tuple[Quote, ...]:
    """What failing runs printed, under names of ours: they stand where nothing escapes them."""
    if gate is None:
        return ()
    quotes = (Quote(_FAILED.get(one.name, _FAILED[""]), one.output) for one in gate.checks)
    return tuple(one for one in quotes if one.output.strip())


def correction_quotes(gate: GateResult | None) -> tuple[Quote, ...]:
    """What the second attempt printed."""
    output = gate.correction.output if gate and gate.correction else ""
    return (Quote("The second attempt", output),) if output.strip() else ()


def told_in_report(analysis: Analysis) -> str:
    """What was run, for a line of the report; empty where no fix came so far."""
    gate = analysis.gate
    if gate is None:
        return ""
    tests = (one.text for one in gate.checks if one.name == "tests" and one.outcome == "passed")
    made = gate.reproduction
    shown = made is not None and made.outcome == "reproduced"
    others = (*(_reproduced(made) if not shown else ()), *_corrected(gate.correction))
    parts = (
        gate.text or "; ".join(tests),
        "reproduced by a test" if shown else "",
        f"red before as well: {len(gate.preexisting)}" if gate.preexisting else "",
        f"flaky: {', '.join(gate.flaky[:5])}" if gate.flaky else "",
        *(f"{one[:1].lower()}{one[1:]}" for one in (*others, *_in_steps(gate.story))),
    )
    return f"{gate.outcome}: {'; '.join(part.rstrip('.') for part in parts if part)}"


def checked_lines(analysis: Analysis) -> tuple[str, ...]:
    """What was checked tonight of a finding without a draft: read, ruled out, run, tried."""
    fresh = analysis.ending.kind != "reused"
    read = analysis.read if fresh else ()
    more = f" and {len(read) - _NAMES} more" if len(read) > _NAMES else ""
    lines = [f"Read: {', '.join(read[:_NAMES])}{more}"] if read else []
    lines += [
        f"Ruled out: {one.statement.rstrip('.')}{f', because {one.because}' if one.because else ''}"
        for one in analysis.hypotheses
        if one.standing == "ruled out" and not analysis.has_fix
    ]
    lines += proof_lines(analysis.gate) if analysis.gate else ()
    return tuple(map(sentence, lines))

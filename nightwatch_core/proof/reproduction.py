"""Reproduce a crash by a test, and say what becomes of that test with a fix.

A test counts where it is twice red on the commit that failed, because of the same class in the same
frames, as its recorder saw it.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from nightwatch_core.analysis import loop
from nightwatch_core.analysis.loop import begin, request, with_reply
from nightwatch_core.analysis.previews import caller, failing, preview_text
from nightwatch_core.analysis.prompts import error_text, fenced, only_data
from nightwatch_core.code import edits
from nightwatch_core.code.candidate_symbols import cut_out, files_testing
from nightwatch_core.code.code_view import halves
from nightwatch_core.code.definitions import class_around, decorated_from, definitions_in
from nightwatch_core.code.edit_policy import hidden_in, refusal
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.answer import Edit, Usage
from nightwatch_core.models.conversation import Conversation, Reply, UserTurn
from nightwatch_core.models.proposals import Check, FileChange, Outcome, Reproduction, RuntimeFact
from nightwatch_core.models.research import Preview
from nightwatch_core.ports import CodeReader
from nightwatch_core.privacy.scrubber import holds_mask
from nightwatch_core.proof import crash as crashes
from nightwatch_core.proof import kits
from nightwatch_core.proof.asking import ProofBriefing, prompt, unasked
from nightwatch_core.proof.environment import Environment, nearest_tests, usable_runner
from nightwatch_core.proof.profiles import kit_as_proved
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.json_objects import object_in
from nightwatch_core.text.plain_text import middle_out, one_line, plural, shortened, text_lines
from nightwatch_core.traces.trace_text import trace_text

_SHARE = 0.4  # of a fix's seconds, for its reproduction
_RUN_SECONDS = 60.0
SNIPPET = "a snippet that the analysis ran"
_NATIVE = {"--tb=short": "--tb=native"}  # pytest prints what production would


class Shown(NamedTuple):
    """Result of running a test."""

    reading: kits.Reading
    raised: tuple[crashes.Raised, ...]
    crash: crashes.Raised | None  # the one that is production's
    unlike: str  # what tells the nearest one from it, where none is

    @property
    def has_ended(self) -> bool:
        """Tell whether the test came to its end, red or green."""
        return self.reading.run.ended == "exited"

    @property
    def is_green(self) -> bool:
        """Tell whether a test ran, and all were green."""
        return self.reading.is_green and self.reading.ran != 0

    @property
    def not_production(self) -> str:
        """Say why it does not show production's error; empty where it does."""
        if not self.has_ended:
            return f"its run does not come to its end: it {self.reading.run.ended}"
        green = "the crash is raised, but the test passes" if self.reading.is_green else ""
        return green if self.crash else self.unlike

    @property
    def output(self) -> str:
        """Return the end of what it printed."""
        return kits.printed_end(self.reading.run)

    @property
    def facts(self) -> tuple[RuntimeFact, ...]:
        """Return values of locals along the crash, or else along what was raised instead."""
        listed = (item.facts for item in (self.crash, *self.raised) if item)
        own = (tuple(f for f in facts if not TEST.search(f.path)) for facts in listed)
        return next(filter(None, own), ())


@dataclass
class Harness:
    """One crash, the project it is about, and the seconds that are left for its tests."""

    briefing: ProofBriefing
    crash: crashes.Crash
    kit: kits.Kit
    recorder: crashes.Recorder
    runner: kits.Runner
    seconds_left: float
    seconds: float = 0.0

    def on_failing(self, path: str, text: str) -> Shown:
        """Run a test on the commit that failed; raises `GiveUp` where that cannot be."""
        return self._shown(self.briefing.failing, (), path, text, exact=True)

    def on_base(self, path: str, text: str, fix: tuple[FileChange, ...] = ()) -> Shown:
        """Run a test on the base, with a fix; raises `GiveUp` where that cannot be."""
        return self._shown(self.briefing.base, fix, path, text, exact=False)

    def _shown(
        self, tree: CodeReader, fix: tuple[FileChange, ...], path: str, text: str, exact: bool
    ) -> Shown:
        changes = (*(item for item in fix if item.path != path), FileChange(path=path, text=text))
        words = tuple(_NATIVE.get(item, item) for item in self.runner.some(self.kit.inner((path,))))
        if path == SNIPPET and self.kit.snippet:
            changes, words = fix, self.kit.snippet(text)
        sandbox, cache = self.briefing.sandbox, self.briefing.cache
        environment = Environment(sandbox, self.kit, tree.commit, changes, cache, self.seconds_left)
        environment.prepare()
        mark = hashlib.sha256(f"{self.briefing.fence}\n{text}".encode()).hexdigest()[:24]
        expected = crashes.simple_class(self.crash.error_class)
        words = crashes.recorded(words, self.recorder, mark, expected)
        run = environment.fixed(words, "", _RUN_SECONDS).run
        self.seconds_left = environment.seconds_left
        self.seconds += environment.seconds
        printed, raised = crashes.printed_and_raised(run.output, mark)
        run = run.model_copy(update={"output": printed})
        reading = kits.reading_of(run, self.runner.form)
        if path == SNIPPET:  # what it prints names no tests
            reading = kits.Reading(frozenset(), None, run)
        crash, why = self._likest(raised, exact, path, reading)
        return Shown(reading, raised, crash, why)

    def _likest(
        self, raised: tuple[crashes.Raised, ...], exact: bool, test: str, reading: kits.Reading
    ) -> tuple[crashes.Raised | None, str]:
        """Return the exception that is production's, else why the nearest one is not."""
        expected = crashes.simple_class(self.crash.error_class)
        other = "the application raises nothing"

        def distance(item: crashes.Raised) -> tuple[bool, int]:
            return crashes.simple_class(item.error_class) != expected, -crashes.entered(item, test)

        for item in sorted(raised, key=distance):
            why = crashes.unlike(item, self.crash, exact, test) or self._handled(
                item, exact, test, reading
            )
            if not why:
                return item, ""
            if other.startswith("the application raises"):
                other = why
        return None, other

    def _handled(
        self, raised: crashes.Raised, exact: bool, test: str, reading: kits.Reading
    ) -> str:
        """Say so where the code that raises an exception catches it, too.

        Where that is not recorded, a test that is red with a fix has to print its place.
        """
        if self.recorder.tells_left:
            is_out = crashes.has_left(raised, test)
        else:
            top = next(item for item in raised.frames if item.in_app)
            place = f"{top.repo_path.rpartition('/')[2]}:{top.line}"
            is_out = exact or reading.is_green or place in reading.run.output
        return "" if is_out else f"{raised.error_class} is raised and handled in the same place"


def harness_for(briefing: ProofBriefing) -> Harness | str:
    """Give the harness of a fix; a sentence where nothing can be reproduced."""
    crash = crashes.crash_of(briefing.analysis.case)
    if crash is None:
        return "no stack frame of the application is known"
    failing = briefing.failing
    if failing.read_file(crash.places[0].path) is None:
        return f"{crash.places[0].path} is not in the commit that failed"
    least = crashes.least_places(crash, briefing.analysis.fix, failing.read_file)
    crash = crash._replace(least=least)
    changed = (crash.places[0].path,)
    kit = kit_as_proved(changed, failing, briefing.options, briefing.cache)
    if not isinstance(kit, str) and kit.language not in crashes.RECORDERS:
        return f"crashes in {kit.language} cannot be recorded yet"
    if isinstance(kit, str) or kit.verify:
        return "no way to run a single test of this project was found"
    recorder = crashes.RECORDERS[kit.language]
    seconds = briefing.options.gate_seconds  # as much as the gate gives
    concerned = (*briefing.draft.changes, FileChange(path=crash.places[0].path, text=""))
    sandbox, cache = briefing.sandbox, briefing.cache
    environment = Environment(sandbox, kit, failing.commit, concerned, cache, seconds)
    try:
        environment.prepare()
        runner = usable_runner(environment, nearest_tests(environment, failing.paths()))
    except GiveUp:
        return "the project's tests could not be started"
    if isinstance(runner, str):
        lacking = "its dependencies were not installed" if environment.lacks else runner
        return f"the project's tests cannot be run: {lacking}"
    if runner.some(("a",)) == runner.whole:
        return f"{runner.name} runs all tests or none"
    return Harness(briefing, crash, kit, recorder, runner, _SHARE * seconds)


LINES, CHARACTERS = 200, 12_000
_IN_ANY_CASE = ("js", "jsx", "ts", "tsx")  # rules for names of files look before the first dot
_NAMED = re.compile(r"^(?P<stem>.*?)(?P<end>(?:[._-](?:test|spec)|Tests?)?\.\w+)$")


class Candidate(NamedTuple):
    """A test in a new file of its own; red where the crash is raised."""

    path: str
    text: str


def refused(candidate: Candidate, paths: Collection[str], is_own: bool = False) -> str:
    """Say why a test is not run; empty where it may be. `paths` are the files of the tree.

    A file that the fix itself changes (`is_own`) may be long.
    """
    text = candidate.text
    if not text.strip():
        return "there is no test"
    if not is_own and (len(text) > CHARACTERS or text.count("\n") > LINES):
        return f"the test is longer than {LINES} lines"
    if tampering := kits.kits().patterns["tampers"].search(text):
        return f"a test may not use {tampering[0]}"
    if holds_mask(text):
        return "the test contains a redaction mask instead of a value"
    change = FileChange(path=candidate.path, text=text)
    is_file = candidate.path != SNIPPET
    return hidden_in(change, "") or (refusal(candidate.path, paths) if is_file else "")


def placed(example: str, paths: Collection[str]) -> str:
    """Return the path of a new test next to an example; empty where there is no place.

    >>> placed("tests/test_cart.py", ()), placed("spec/cart_spec.rb", ("spec/cart_crash_spec.rb",))
    ('tests/test_cart_crash.py', 'spec/cart_crash2_spec.rb')
    >>> placed("test/web.test.ts", ())
    'test/web.crash.test.ts'
    """
    named = _NAMED.match(example)
    joint = "." if example.endswith(_IN_ANY_CASE) else "_"
    stems = (f"{named['stem']}{joint}crash{n}" for n in ("", *range(2, 9))) if named else ()
    return next((p for stem in stems if named and (p := f"{stem}{named['end']}") not in paths), "")


Fate = Literal["green", "crash", "red", "flaky"]
_OUTCOMES: dict[Fate, Outcome] = {"green": "passed", "crash": "failed"}
_WORDS: dict[Fate, str] = {
    "green": "raises production's error without the fix and passes with it",
    "crash": "the crash is still there: {error} in {place}",
    "flaky": "is flaky with the fix",
    "red": "fails with the fix, but not with the crash",
}


class Tried(NamedTuple):
    """Result of running a test on the failing commit."""

    reproduction: Reproduction
    shown: Shown | None = None  # the last run


def tried(harness: Harness, test: Candidate, is_own: bool = False) -> Tried:
    """Run a test twice on the commit that failed; raises `GiveUp` where nothing can be run."""
    if why := refused(test, harness.briefing.failing.paths(), is_own):
        return Tried(Reproduction(outcome="not reproduced", because=why))
    shown = harness.on_failing(test.path, test.text)
    because = shown.not_production
    if not because:
        shown = harness.on_failing(test.path, test.text)
        because = shown.not_production
        because = f"it is flaky: {because}" if because and shown.has_ended else because
    if because or shown.crash is None:
        none = Reproduction(outcome="not reproduced", because=because, facts=shown.facts)
        return Tried(none, shown)
    what = "A test that raises the production error without the fix"
    reproduction = Reproduction(
        outcome="reproduced",
        because=_unreached(harness, shown.crash, test.path),
        test=(Edit(path=test.path, action="create", new=test.text, description=what),),
        name=test.path,
        error_class=shown.crash.error_class,
        frames=crashes.entered_frames(harness.crash, shown.crash, test.path),
        red=shown.output,
        facts=shown.facts,
    )
    return Tried(reproduction, shown)


def _unreached(harness: Harness, raised: crashes.Raised, test: str) -> str:
    """Say so where the cause quotes a file that production came through, and the test does not."""
    quoted = {item.path for item in harness.briefing.analysis.evidence if item.verified}
    places, reached = harness.crash.places, crashes.entered(raised, test)
    run = {place.path for place in places[:reached]}
    missed = (place.path for place in places[reached:] if place.path in quoted - run)
    path = next(missed, "")
    return f"it does not go through {path}, where the cause begins" if path else ""


def by_own_test(briefing: ProofBriefing, fix: tuple[Edit, ...]) -> Reproduction | None:
    """Return a test of the fix that raises production's error without it.

    `green` is empty where it is raised with the fix, too.
    """
    changes = edits.apply(fix, briefing.base.read_file, briefing.base.paths()).changes
    tests = [Candidate(c.path, c.text) for c in changes if c.text and TEST.search(c.path)]
    harness = harness_for(briefing) if tests else ""
    if isinstance(harness, str):
        return None
    for test in tests:
        with suppress(GiveUp):
            found = tried(harness, test, is_own=True).reproduction
            if found.outcome != "reproduced":
                continue
            fate, _, output = with_fix(harness, test, fix, changes)
            if fate in ("green", "crash"):
                green = output if fate == "green" else ""
                update = {"test": (), "green": green, "seconds": round(harness.seconds, 1)}
                return found.model_copy(update=update)
    return None


def by_snippet(briefing: ProofBriefing) -> Reproduction | None:
    """Return the reproduction by code that the analyst has run; None where it shows nothing."""
    code = briefing.analysis.snippet
    harness = harness_for(briefing) if code else ""
    if isinstance(harness, str):
        return None
    try:
        found = tried(harness, Candidate(SNIPPET, code)).reproduction
    except GiveUp:
        return None
    update = {"test": (), "snippet": code, "seconds": round(harness.seconds, 1)}
    return found.model_copy(update=update) if found.outcome == "reproduced" else None


class WithFix(NamedTuple):
    """Result of a reproducing test with the fix."""

    fate: Fate
    check: Check
    output: str


def with_fix(
    harness: Harness, test: Candidate, fix: tuple[Edit, ...], changes: tuple[FileChange, ...]
) -> WithFix:
    """Run a test that reproduces on the base with a fix; raises `GiveUp` where it cannot be."""
    before = harness.seconds
    runs = [harness.on_base(test.path, test.text, changes)]
    if not runs[0].is_green:
        runs.append(harness.on_base(test.path, test.text, changes))
    least = crashes.least_places(harness.crash, fix, harness.briefing.failing.read_file)
    fate, shown = _fate(harness, test, runs, least), runs[-1]
    place = harness.crash.places[0]
    top = " ".join((place.path, *sorted(place.functions)))
    words = _WORDS[fate].format(error=harness.crash.error_class, place=top)
    if fate == "red" and not shown.has_ended:
        words = f"does not come to its end with the fix: it {shown.reading.run.ended}"
    check = Check(
        name="reproduction",
        outcome=_OUTCOMES.get(fate, "not run"),
        text=words if fate == "crash" else f"{test.path}: {words}",
        command=harness.runner.name,
        output="" if fate == "green" else shown.output,
        seconds=round(harness.seconds - before, 1),
    )
    return WithFix(fate, check, shown.output)


def _fate(harness: Harness, test: Candidate, runs: list[Shown], least: int) -> Fate:
    raised = [item.crash for item in runs if item.crash]
    if runs[-1].is_green:
        return "green" if len(runs) == 1 else "flaky"
    if len(raised) == len(runs) and all(
        crashes.entered(item, test.path) >= least for item in raised
    ):
        return "crash"
    return "red"


# What a model is told when it is asked for a test.

_CAUSE, _DIFF, _EXAMPLE, _OUTPUT, _FRAMES, _FACTS = 4_000, 6_000, 6_000, 3_000, 4, 20
FIELDS = ("test", "why_not")
_TEXTS = dict.fromkeys(FIELDS, {"type": "string"})
SCHEMA: dict[str, Any] = {"type": "object", "properties": _TEXTS, "required": list(FIELDS)}
_CLASS_LINES = 30


def reproduction_request(harness: Harness, path: str, examples: tuple[str, ...]) -> str:
    """Write the message that asks for the test at `path`; `examples` are paths of tests."""
    briefing, fence = harness.briefing, harness.briefing.fence
    case = briefing.analysis.case
    top = harness.crash.places[0]
    lines = "".join(f", line {number}" for number in sorted(top.lines)[:1])
    names = "".join(f", {name}" for name in sorted(top.functions)[:1])
    place = line(f"{top.path}{names}{lines}", 300)
    texts = ((name, briefing.failing.read_file(name)) for name in examples)
    tests = [  # the first shows the manner; of others what they import and are set up with
        f"{line(name, 200)}\n{_shortened_test(name, text, _EXAMPLE // (1 + bool(number)))}"
        for number, (name, text) in enumerate(texts)
        if text
    ]
    return prompt("reproduction").format(
        data=only_data(fence),
        error=fenced(error_text(case), fence),
        trace=fenced(trace_text(case.trace) if case.trace else "", fence),
        expected=line(harness.crash.error_class, 200),
        place=place,
        path=line(path, 200),
        runner=harness.runner.name,
        cause=fenced(block(briefing.analysis.root_cause, _CAUSE), fence),
        diff=fenced(halves(edits.diff(briefing.analysis.fix), _DIFF), fence),
        code="\n\n".join(fenced(text, fence) for text in _code(harness)),
        tests="\n\n".join(fenced(text, fence) for text in tests),
    )


def again(harness: Harness, reproduction: Reproduction, shown: Shown | None) -> str:
    """Write what running the first test showed, and ask for another one."""
    fence = harness.briefing.fence
    output = block(shown.output[-_OUTPUT:], _OUTPUT, code=True) if shown else ""
    told = [output, "\n".join(_facts(reproduction, shown))]
    parts = [only_data(fence), *(fenced(text, fence) for text in told if text)] if shown else []
    return prompt("reproduction_again").format(
        ran="run on the commit that failed, and does not count" if shown else "not run",
        why=line(reproduction.because, 400),
        told="".join(f"\n\n{text}" for text in parts),
    )


def _shortened_test(path: str, text: str, most: int) -> str:
    """Leave out whole functions of a long file, the last ones first: it begins with its set-up."""
    lines, defined = text_lines(text), definitions_in(path, text)
    spans = [(decorated_from(lines, d.line), d.end) for d in defined if d.kind == "function"]
    spans = sorted({*spans, *_test_blocks(lines)})
    outer = [one for one in spans if not any(o[0] < one[0] <= o[1] for o in spans)]
    kept, left_out = dict(enumerate(lines, 1)), 0
    while outer and sum(len(item) + 1 for item in kept.values()) > most:
        (first, last), left_out = outer.pop(), left_out + 1
        for row in range(first, last + 1):
            kept.pop(row, None)
    note = f"\n[... {plural(left_out, 'function')} left out ...]" if left_out else ""
    return middle_out("\n".join(kept.values()), most) + note


_BLOCK = re.compile(r"^(\s*)(?:test|it|specify)\b(?!.*(?:\)|\bend)\s*;?\s*$)")


def _test_blocks(lines: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Return the first and last rows of tests that are calls, as in JavaScript and RSpec."""
    for first, text in enumerate(lines, 1):
        if found := _BLOCK.match(text):
            ends = re.compile(rf"{found[1]}(?:\}}|end\b)")
            last = next((n for n in range(first, len(lines)) if ends.match(lines[n])), None)
            if last is not None:
                yield first, last + 1


def _code(harness: Harness) -> Iterator[str]:
    read = harness.briefing.failing.read_file
    seen = set[tuple[str, int]]()
    for number, place in enumerate(harness.crash.places[:_FRAMES]):
        text, at = read(place.path), min(place.lines, default=1)
        shown = (caller if number else failing)(place.path, text, at) if text else None
        for item in (*_class_around(place.path, text, shown), shown) if text and shown else ():
            lines = {(item.path, row) for row in range(item.start, item.end + 1)}
            if not lines <= seen:
                yield preview_text(item)
            seen |= lines


def _class_around(path: str, text: str, shown: Preview) -> Iterator[Preview]:
    lines = text_lines(text)
    rows = (n for n in range(shown.start, shown.end + 1) if lines[n - 1].strip())
    head = class_around(path, text, next(rows, shown.start))
    if head and head.line < shown.start:
        last = min(head.line + _CLASS_LINES, shown.start - 1)
        yield cut_out(path, lines, head.line, last, "frame", "the class around it")


def _facts(reproduction: Reproduction, shown: Shown | None) -> Iterator[str]:
    """Return what was raised in the application, and values of locals along it."""
    for item in shown.raised[:5] if shown else ():
        own = [f"{frame.place} {frame.function}" for frame in item.frames if frame.in_app][:4]
        yield line(f"raised: {item.error_class}: {item.message} at {'; '.join(own)}", 500)
    for fact in reproduction.facts[:_FACTS]:
        yield line(f"{fact.path}:{fact.line} {fact.function}: {fact.name} = {fact.value}", 500)


# The conversation: two answers at most.

ASKS, TOKENS = 2, 16_000
_EXAMPLES, _REASON = 2, 400
_HELPERS = ("conftest.py", "test_helper.rb", "spec_helper.rb", "rails_helper.rb")


def by_model(briefing: ProofBriefing) -> tuple[Reproduction, Usage]:
    """Ask the model for a test, twice at most, and run it; never raises."""
    if briefing.model is None or briefing.cache.silent:
        return Reproduction(outcome="not tried", because=unasked(briefing)), Usage()
    harness = harness_for(briefing)
    if isinstance(harness, str):
        return Reproduction(outcome="not tried", because=harness), Usage()
    examples, used, tries = examples_for(harness), Usage(), 0
    fixed = (item.path for item in briefing.analysis.fix)
    paths = (*briefing.failing.paths(), *briefing.base.paths(), *fixed)
    path = placed(examples[0], paths) if examples else ""
    reproduction = Reproduction(outcome="not tried", because="no place for a test was found")
    if not path:
        return reproduction, used
    opening = Conversation(
        system=prompt("reproduction_system"),
        answer_schema=SCHEMA,
        turns=(UserTurn(text=reproduction_request(harness, path, examples)),),
        case=briefing.analysis.case,
        max_tokens=TOKENS,
        tools_off=True,
    )
    try:
        state = begin(opening, briefing.model.capabilities(), briefing.allowance)
        whole = harness.seconds_left  # a second test takes as long as the first
        while tries < ASKS and harness.seconds_left > whole / 2:
            if bound := state.budget.bound(concluding=True):
                if tries:
                    break
                raise loop.not_begun(bound)
            reply = briefing.model.reply(request(state), float(briefing.allowance.seconds))
            used, tries = used + reply.usage, tries + 1
            if trouble := loop.fatal(reply):
                raise trouble
            reproduction, shown = _answered(harness, reply, path)
            if reproduction.outcome != "not reproduced":
                break
            state = with_reply(state, reply)
            turn = UserTurn(text=again(harness, reproduction, shown))
            conversation = state.conversation.said(turn)
            budget = state.budget.adding([turn.text])
            state = state.model_copy(update={"conversation": conversation, "budget": budget})
    except NightWatchError as trouble:
        if isinstance(trouble, StopTheNight):
            briefing.cache.silent = str(trouble)
        because = shortened(unasked(briefing, one_line(str(trouble))), _REASON)
        reproduction = Reproduction(outcome="not reproduced", because=because)
        used += trouble.usage or Usage()
    totals = {"tries": tries, "seconds": round(harness.seconds, 1)}
    return reproduction.model_copy(update=totals), used


def _answered(harness: Harness, reply: Reply, path: str) -> Tried:
    """Read a test from a reply and run it; raises `GiveUp` where nothing can be run."""
    try:
        answer = object_in(reply.turn.text, FIELDS)
    except GiveUp as wrong:
        return Tried(Reproduction(outcome="not reproduced", because=str(wrong)))
    test, why_not = (str(answer.get(name) or "").replace("\r\n", "\n") for name in FIELDS)
    if not test.strip():
        reason = shortened(one_line(why_not), _REASON) or "no test was given"
        return Tried(Reproduction(outcome="not tried", because=reason))
    return tried(harness, Candidate(path, test))


def examples_for(harness: Harness) -> tuple[str, ...]:
    """Name tests near the fix, then near the failing code, then what they all load."""
    inside = harness.kit.inner(harness.briefing.failing.paths())
    mended = harness.kit.inner(tuple(edit.path for edit in harness.briefing.analysis.fix))
    failing = harness.kit.inner(tuple(item.path for item in harness.crash.places))
    touched = (path for path in mended if path in inside and _is_test_of(harness, path))
    near = (test for path in (*mended, *failing) for test in files_testing(path, inside))
    tests = [item for item in inside if _is_test_of(harness, item)]
    others = sorted(
        tests, key=lambda item: (-_shared_folders(item, (*mended, *failing)), len(item))
    )
    chosen = tuple(dict.fromkeys((*touched, *near, *others)))[:_EXAMPLES]
    folders = {item.rpartition("/")[0] for item in chosen} | {"test", "spec", "tests", ""}
    helpers = (item for item in inside if item.rpartition("/")[2] in _HELPERS)
    loaded = [item for item in helpers if item.rpartition("/")[0] in folders][:1]
    return tuple(harness.kit.root + item for item in (*chosen, *loaded))


def _shared_folders(path: str, others: Iterable[str]) -> int:
    """Count the folders that a path has in common with the nearest of others.

    >>> _shared_folders("shop/api/tests/test_ping.py", ("shop/api/views.py", "shop/cart.py"))
    2
    """
    pairs = (zip(path.split("/"), other.split("/"), strict=False) for other in others)
    return max(
        (len([*takewhile(lambda pair: pair[0] == pair[1], one)]) for one in pairs), default=0
    )


def _is_test_of(harness: Harness, path: str) -> bool:
    ending = harness.crash.places[0].path.rpartition(".")[2]
    name = path.rpartition("/")[2]
    is_plain = not name.startswith("__") and name not in _HELPERS
    return path in harness.kit.tests and path.endswith(f".{ending}") and is_plain

"""What the designs have in common: the tree, the case, what comes of an error, running tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from benchmarks.tokens.service import Service
from benchmarks.tokens.words import Night, Scenario
from twins.reading import MemoryCode

from nightwatch_core.intake.cases import signature
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.knowledge import Lesson, Match, PriorAnalysis
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.text.fingerprints import fingerprint
from nightwatch_core.traces import parsing
from nightwatch_core.traces.placing import PathIndex, place_frames

MODEL = "claude-opus-5-5"
DAY = datetime(2026, 11, 20, 22, tzinfo=UTC)
OPTIONS = NightOptions(model=MODEL)


@dataclass(frozen=True)
class Outcome:
    """What a design said about one error."""

    key: str
    quotes: tuple[str, ...] = ()
    root_cause: str = ""
    usage: Usage = Usage()
    trouble: str = ""
    confidence: str = ""

    def is_right(self, scenario: Scenario) -> bool:
        """All facts cited and the cause named."""
        said = "\n".join(self.quotes)
        cited = all(fact.text in said for fact in scenario.facts)
        return cited and scenario.cause in self.root_cause


Design = Callable[[Night, Service], Sequence[Outcome]]


def code_of(night: Night) -> MemoryCode:
    """The night's tree."""
    return MemoryCode(night.files, Commit(repository="bench/app", sha="b" * 40, branch="main"))


def case_of(scenario: Scenario, code: MemoryCode, app_prefixes: str = "") -> Case:
    """The error as the steps before the analysis would hand it on."""
    printed = parsing.parse(scenario.raw, scenario.language, listed(app_prefixes))
    trace = place_frames(printed, PathIndex(code.paths()), code.read_file, OPTIONS)
    names = scenario.error_class, scenario.transaction, scenario.message
    group = ErrorGroup(
        fingerprint=fingerprint("bench", *names),
        source="bench",
        app="bench",
        error_class=scenario.error_class,
        transaction=scenario.transaction,
        message=scenario.message,
        occurrences=scenario.occurrences,
        first_seen=DAY,
        last_seen=DAY,
    )
    return Case(leader=group, trace=trace, signature=signature(group, trace))


def priors_of(scenario: Scenario) -> tuple[PriorAnalysis, ...]:
    """What an earlier night told about a like error, where there was one."""
    if not scenario.known_as:
        return ()
    lesson = Lesson(
        fingerprint=f"v1:earlier-{scenario.key}",
        error_class=scenario.error_class,
        transaction=scenario.transaction,
        root_cause=scenario.known_as,
        fix_confidence="high",
        first_detected=date(2026, 11, 2),
    )
    match = Match(score=0.8, because=(f"same class {scenario.error_class}", "same transaction"))
    return (PriorAnalysis(lesson=lesson, match=match, summary=scenario.known_as),)

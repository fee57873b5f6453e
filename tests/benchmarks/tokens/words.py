"""Words of the benchmark: what has to be seen, an error, a night of errors over one tree."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Spot:
    """A line that a generated file has at this place, inside a function of this name."""

    path: str
    line: int
    function: str
    text: str
    defines: bool = False  # the function is one that other files import


@dataclass(frozen=True)
class Fact:
    """A line that must have been seen before the cause can be named.

    It is wanted once `symbol` stands anywhere in what was read or told: nobody looks for what he
    has never heard of. `guess` is where somebody who does not know the tree looks first.
    """

    name: str
    path: str
    text: str  # the line, stripped; it stands once in the tree
    symbol: str
    guess: str = ""

    @property
    def module(self) -> str:
        """What an import of the file says; empty where the language imports nothing."""
        return module(self.path)


def module(path: str) -> str:
    """The file as its language imports it.

    >>> module("src/money/rounding.js"), module("hc/api/models.py"), module("app/models/user.rb")
    ('money/rounding', 'hc.api.models', '')
    """
    stem, _, ending = path.rpartition(".")
    if ending == "js":
        return "/".join(stem.split("/")[-2:])
    dotted = stem.removeprefix("src/main/java/").replace("/", ".")
    return dotted if ending in ("py", "java") else ""


@dataclass(frozen=True)
class Scenario:
    """One error of production, what explains it, and the habits of who looks into it."""

    key: str
    language: str
    error_class: str
    transaction: str
    message: str
    raw: str  # the stack trace as printed
    facts: tuple[Fact, ...]
    cause: str  # the sentence a right answer holds
    occurrences: int = 40
    whole: bool = False  # reads whole files first; else the lines around a known place
    together: bool = False  # asks for everything it knows to be missing at once; else one by one
    first_guess: str = ""  # file it tries while it has not seen a trace yet
    known_as: str = ""  # cause as an earlier night told it, "path:line symbol …"; empty: new
    source: str = "invented"


@dataclass(frozen=True)
class Night:
    """Errors of one night over one tree, best ranked first."""

    name: str
    language: str
    files: Mapping[str, str] = field(repr=False)
    scenarios: tuple[Scenario, ...]
    app_prefixes: str = ""  # own packages, as a team would set them
    skipped: str = ""  # why it cannot be run here


def complaints(night: Night) -> list[str]:
    """Why a night cannot be played: each fact has to stand once in the tree and be findable."""
    wrong = []
    for scenario in night.scenarios:
        told = "\n".join((scenario.raw, scenario.message, scenario.transaction))
        missing = list(scenario.facts)
        while ready := [fact for fact in missing if fact.symbol in told]:
            missing = [fact for fact in missing if fact not in ready]
            told += "\n".join(fact.text for fact in ready)
        wrong += [f"{scenario.key}: nothing leads to {fact.name}" for fact in missing]
        for fact in scenario.facts:
            count = sum(text.count(fact.text) for text in night.files.values())
            if count != 1 or fact.text not in night.files.get(fact.path, ""):
                wrong.append(
                    f"{scenario.key}: {fact.text!r} stands {count} times, not in {fact.path}"
                )
    sizes = {path: len(text) for path, text in night.files.items()}
    wrong += [f"{path} has {size}" for path, size in sizes.items() if not 2_000 <= size <= 61_000]
    return wrong

"""Makes the cases and lessons of one synthetic night."""

import random
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Confidence, Edit, Evidence
from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.knowledge import CitedLine, Lesson, NightSeen


class Subject(NamedTuple):
    """Something a defect can be about: phrases for it, words of its name, a method, values."""

    said: tuple[str, ...]
    words: tuple[str, ...]
    method: str
    values: tuple[str, ...]
    who: tuple[str, ...]


def _subject(said: str, words: str, method: str, values: str, who: str) -> Subject:
    split = (tuple(text.split("|")) for text in (said, words.replace(" ", "|"), values, who))
    phrases, name, some, people = split
    return Subject(phrases, name, method, some, people)


_DATA = yaml.safe_load(Path(__file__).with_name("pattern_words.yml").read_text("utf-8"))
LANGUAGES = {name: tuple(fields.values()) for name, fields in _DATA["languages"].items()}
SUBJECTS = tuple(_subject(*row) for row in _DATA["subjects"])
DEFECTS: dict[str, list[str]] = _DATA["defects"]
THEMES = tuple(map(tuple, _DATA["themes"]))
RESERVED, ASIDES = _DATA["reserved"], _DATA["asides"]
OUTSIDE_SAYINGS, VENDORS = _DATA["outside"], _DATA["vendors"]
OTHER_TAGS, ACTIONS, AREAS = (_DATA[name].split() for name in ("other_tags", "actions", "areas"))


HELD_OUT = 1_000
TONIGHT = date(2031, 5, 30)
ENDINGS = ("Missing", "Conflict", "Invalid", "Rejected", "Overflow", "Expired")


class Planted(NamedTuple):
    """A pattern that is there: its kind and the fingerprints of its members.

    One that is not `required` says no more than others do: it may be found, and need not.
    """

    kind: str  # cause | change | class | tags | place | transient
    members: frozenset[str]
    required: bool = True


class Labelled(NamedTuple):
    """One night and the lessons that stand after it, with all that a rule should find in them."""

    analyses: tuple[Analysis, ...]
    lessons: tuple[Lesson, ...]
    planted: tuple[Planted, ...]


class Story(NamedTuple):
    """One cause: a defect of a subject at a place."""

    subject: Subject
    defect: str
    file: str
    line: int
    ident: str


class Teller:
    """Makes the cases of one night; all of its chance comes from one seed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.language = self.draw.choice(sorted(LANGUAGES))
        self.nothing, self.ending, self.folders, self.generic = LANGUAGES[self.language]
        self.subjects = list(SUBJECTS)
        self.draw.shuffle(self.subjects)
        self.defects = [defect for defect in DEFECTS if seed >= HELD_OUT or defect not in RESERVED]
        self.themes = list(THEMES)
        self.draw.shuffle(self.themes)
        self.analyses: list[Analysis] = []
        self.lessons: list[Lesson] = []
        self.planted: list[Planted] = []
        self.changed: list[str] = []  # cases of one cause that one change brought, too
        self.made = 0

    def story(self, subject: Subject | None = None, **fixed: Any) -> Story:
        """A cause of its own: subjects are used once unless one is given."""
        subject = subject or self.subjects.pop()
        place = self.draw.choice(self.folders)
        words = subject.words
        snake = self.ending in ("rb", "py", "go")
        stem = "_".join(words) if snake else "".join(map(str.title, words))
        told = {
            "defect": self.draw.choice(self.defects),
            "file": f"{place}/{stem}.{self.ending}",
            "line": self.draw.randrange(5, 180),
            "ident": self.named(words, subject.method),
        }
        return Story(subject, **{**told, **fixed})

    def named(self, words: tuple[str, ...], method: str) -> str:
        """A method as the language names it."""
        owner = "".join(map(str.title, words))
        camel = "".join(part.title() if n else part for n, part in enumerate(method.split("_")))
        return {
            "ruby": f"{owner}#{method}",
            "python": f"{owner}.{method}",
            "go": f"{owner}.{camel.title()}",
        }.get(self.language, f"{owner}.{camel}")

    def told(self, story: Story) -> str:
        """The cause in one of its tellings, perhaps with an aside."""
        subject = story.subject
        said = self.draw.choice(subject.said)
        others = [item for item in subject.said if item != said] or [said]
        words = self.draw.choice(DEFECTS[story.defect]).format(
            ident=self.spelled(story),
            said=said,
            other=self.draw.choice(others),
            value=self.draw.choice(subject.values),
            who=self.draw.choice(subject.who),
            nil=self.nothing,
            file=story.file if self.draw.random() < 0.5 else story.file.rpartition("/")[2],
        )
        return f"{words} {self.draw.choice(ASIDES)}".strip()

    def spelled(self, story: Story) -> str:
        """The name in the code, whole or in part."""
        owner, _, method = re.sub("([A-Z])", r" \1", re.sub("[#.]", "/", story.ident)).partition(
            "/"
        )
        method = method.replace("_", " ").strip().lower()
        plain = f"the {owner.strip().lower()} when it tries to {method}"
        return self.draw.choices((story.ident, f"{story.ident}()", plain), (6, 2, 2))[0]

    def case(self, error_class: str) -> Case:
        """A case of tonight with a name of its own."""
        self.made += 1
        area, action = self.draw.choice(AREAS), self.draw.choice(ACTIONS)
        others = self.draw.choices((0, 1, 2), (7, 2, 1))[0]
        groups = [
            ErrorGroup(
                fingerprint=f"v1:{self.made:04d}{number}",
                source="file",
                error_class=error_class,
                transaction=f"{area}/{action}{number or ''}",
                occurrences=self.draw.randrange(1, 90),
            )
            for number in range(others + 1)
        ]
        return Case(leader=groups[0], others=tuple(groups[1:]))

    def analysis(self, story: Story, **fields: Any) -> str:
        """Add an analysis of tonight; returns the case's fingerprint."""
        case = self.case(fields.pop("error_class", "") or self.draw.choice(self.generic))
        sure: Confidence = self.draw.choice(("high", "medium"))
        evidence = fields.pop("evidence", None) or self.cited(story)
        edit = Edit(path=story.file, old="a", new="b")
        told = {
            "title": f"{case.leader.error_class.rpartition('.')[2]} in {case.leader.transaction}",
            "root_cause": self.told(story),
            "confidence": sure,
            "evidence": evidence,
            "fix": (edit,) if self.draw.random() < 0.6 else (),
            "tags": tuple(self.draw.sample(OTHER_TAGS, self.draw.randrange(0, 3))),
        }
        self.analyses.append(Analysis(case=case, **{**told, **fields}))
        return case.fingerprint

    def cited(self, story: Story) -> tuple[Evidence, ...]:
        """Most cite the faulty line, some a line near it, a few only the caller."""
        own = Evidence(path=f"{self.folders[0]}/{self.draw.choice(AREAS)}_caller.{self.ending}",
                       line=self.draw.randrange(5, 400), quote="call()", verified=True)  # fmt: skip
        shift = self.draw.choices((0, self.draw.randrange(1, 9)), (7, 3))[0]
        line = Evidence(path=story.file, line=story.line + shift, quote="x", verified=True)
        only_caller, both = self.draw.random() < 0.15, self.draw.random() < 0.4
        return (own,) if only_caller else (line, own) if both else (line,)

    def lesson(self, story: Story, days: tuple[int, ...], error_class: str, **fields: Any) -> str:
        """Add a lesson seen so many days ago; returns its fingerprint."""
        self.made += 1
        name = f"v1:{self.made:04d}0"
        seen = tuple(
            NightSeen(
                date=TONIGHT - timedelta(days=day),
                night=f"n{day}",
                verdict="known",
                occurrences=self.draw.randrange(1, 60),
                confidence="medium",
            )  # fmt: skip
            for day in sorted(days, reverse=True)
        )
        told = {
            "transaction": f"{self.draw.choice(AREAS)}/{self.draw.choice(ACTIONS)}",
            "module": story.file,
            "root_cause": self.told(story),
            "confidence": "medium",
            "evidence": (CitedLine(path=story.file, line=story.line),),
        }
        self.lessons.append(Lesson(fingerprint=name, error_class=error_class, nights=seen,
                                   first_detected=seen[0].date, **{**told, **fields}))  # fmt: skip
        return name

    def own_class(self) -> str:
        """A class that no other case of the night has."""
        self.made += 1
        noun = self.draw.choice(AREAS).title()
        return f"{noun}::{self.draw.choice(ENDINGS)}{self.made}"

    def plant(self, kind: str, members: list[str]) -> None:
        """Say what a rule should find."""
        self.planted.append(Planted(kind, frozenset(members)))

    def days(self, count: int, oldest: int = 20) -> tuple[int, ...]:
        """So many different nights before tonight."""
        return tuple(self.draw.sample(range(1, oldest), count))


def change_of(number: int, sha: str) -> tuple[Suspect, ...]:
    """The suspects of an analysis: one merged pull request."""
    merged = datetime(2031, 5, 29, tzinfo=UTC)
    pull = MergedPull(number=number, title="Tidy up", sha=sha * 5, merged_at=merged)
    return (Suspect(pull=pull, score=0.7),)


Plan = Callable[[Teller], None]

"""What the labels and sentences of one section tell of problems, decisions and gotchas."""

import re
from collections.abc import Iterable
from itertools import starmap

from nightwatch_core.learnings.labelled_text import Part
from nightwatch_core.learnings.prose import (
    brief,
    decision_in,
    flat,
    is_gotcha,
    items,
    problem_in,
    sentences,
    weighed_against,
    with_reason,
)

PROBLEM = ("symptoms", "root_cause", "solution", "prevention")  # what is told of a problem
_TELLING = 4  # words of a heading from which on it may name a problem
_TROUBLE = re.compile(
    r"\b(?:issue|problem|bug|error|exception|incident|fail\w*|break\w*|broken|leak\w*|crash\w*|deadlocks?"
    r"|time\s?outs?|incompatib\w*|missing|wrong|duplicate\w*|outage)\b",
    re.IGNORECASE,
)


class SectionNotes:
    """Problems, decisions and gotchas, put together from the parts of one section."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.problems: list[dict[str, str]] = []
        self.decisions: list[dict[str, str]] = []
        self.gotchas: list[str] = []
        self._depth, self._heading = 0, ""
        self._next: dict[str, str] = {}  # alternatives that stand before their decision

    def add(self, part: Part) -> None:
        """Put one more part where it belongs."""
        if part.role == "break":
            is_name = len(part.text.split()) >= _TELLING and _TROUBLE.search(part.text)
            self._heading = part.text if is_name else ""
            if part.depth <= self._depth or self._is_nameless():
                self._close()
        elif part.role == "prose":
            self._prose(part.text)
        elif part.role == "gotcha":
            self.gotchas += _gotchas(part)
        elif part.role in ("what", "choice"):
            self._begin(part)
        elif part.role in PROBLEM:
            self._continue_problem(part)
        else:
            self._continue_decision(part)

    def _close(self) -> None:
        self.problems.append({})
        self.decisions.append({})
        self._next, self._depth = {}, 0

    def _is_nameless(self) -> bool:
        """Whether the open problem was named by nothing but the heading above it."""
        return bool(self.problems) and bool(self.problems[-1].get("heading"))

    def _begin(self, part: Part) -> None:
        self._depth = part.depth
        draw = self._problem if part.role == "what" else self._decision
        if part.held:  # a heading, and what stands below it
            title, _, item = part.text.partition("\n")
            draw(item, title)
            return
        for item in items(part.text) if part.several else [part.text]:
            draw(item)

    def _problem(self, item: str, title: str = "") -> None:
        told = sentences(item)
        drawn = next(filter(None, starmap(problem_in, _pairs(told))), None)
        problem = drawn.model_dump(exclude={"symptoms", "prevention"}) if drawn else {}
        problem = {name: text for name, text in problem.items() if text}
        what = title or problem.get("what") or (told[0] if told else flat(item))
        self.problems.append({**problem, "what": what})

    def _decision(self, item: str, title: str = "") -> None:
        told = sentences(item)
        drawn = next(filter(None, map(decision_in, told)), None)
        choice, why = with_reason(flat(item))
        plain = {"choice": choice, "alternatives": weighed_against(choice), "rationale": why}
        if title:
            plain |= {"choice": title, "rationale": why or "".join(told[:1])}
        self.decisions.append(
            {**(drawn.model_dump() if drawn and not title else plain)} | self._next
        )
        self._next = {}

    def _continue_problem(self, part: Part) -> None:
        text = part.text if part.role == "symptoms" else flat(part.text)
        if not self.problems or (part.role == "root_cause" and part.role in self.problems[-1]):
            self.problems.append({})
        if not self.problems[-1] and self._heading:
            self.problems[-1] = {"what": self._heading, "heading": "yes"}
        problem = self.problems[-1]
        problem[part.role] = f"{problem[part.role]}\n{text}" if part.role in problem else text

    def _continue_decision(self, part: Part) -> None:
        text = ", ".join(items(part.text)) if part.role == "alternatives" else flat(part.text)
        if self.decisions and self.decisions[-1].get("choice"):
            if not self.decisions[-1].get(part.role):
                self.decisions[-1][part.role] = text
        elif part.role == "alternatives":
            self._next = {part.role: text}

    def _prose(self, text: str) -> None:
        for sentence, after in _pairs(sentences(text)):
            if problem := problem_in(sentence, after):
                self.problems.append(problem.model_dump(exclude={"symptoms", "prevention"}))
                self.problems.append({})
            if decision := decision_in(sentence):
                self.decisions.append(decision.model_dump())
                self.decisions.append({})
            if is_gotcha(sentence):
                self.gotchas.append(sentence)


def _gotchas(part: Part) -> list[str]:
    if part.held:  # a heading, and what stands below it
        title, _, text = part.text.partition("\n")
        told = sentences(text)
        return [f"{title}: {told[0]}" if told else title]
    return [brief(item) for item in items(part.text)]


def _pairs(told: list[str]) -> Iterable[tuple[str, str]]:
    """Each sentence with the one after it."""
    return zip(told, [*told[1:], ""], strict=False)

"""Finds where an analyst repeats an instruction from untrusted text, where somebody would obey it.

Untrusted are messages, traces, commit messages, titles, comments, lessons, notes and reviews; code
is not. They may be searched for, quoted and explained. A repetition is quarantined in next steps,
learnings, the question, in edits outside string literals, in tags, paths and arguments that select;
and only where it addresses its reader, is a command, or an address that such words send to. Nothing
that may be written rests on it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.rule_files import Pattern, load_rules

TAINT_TEXT = 20_000  # characters of a stranger's text that are looked at for orders

RUN, CODE_RUN = 8, 4  # words in a row: of prose, of code


class InstructionRules(Value):
    """`rules/injected_instructions.toml`."""

    addressing: frozenset[str]
    patterns: dict[str, Pattern]


_RULES = load_rules("injected_instructions", InstructionRules)
_P = _RULES.patterns


class InjectedInstructions(NamedTuple):
    """Instructions in untrusted texts, in the forms in which they can be recognised."""

    runs: frozenset[tuple[str, ...]] = frozenset()
    acts: frozenset[str] = frozenset()  # commands, and addresses that somebody is sent to
    addresses: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    code: frozenset[tuple[str, ...]] = frozenset()  # runs of words that somebody is to run


def injected_instructions(texts: Iterable[str]) -> InjectedInstructions:
    """Collect the instructions in texts, in as many characters of each as are ever shown."""
    distinct = [text[:TAINT_TEXT] for text in dict.fromkeys(texts)]
    sentences = [item for text in distinct for item in _P["sentence"].split(text)]
    sent_to = {
        address[0]
        for text in distinct
        for address in _P["address"].finditer(text)
        if _P["sends_to"].search(_P["sentence"].split(text[: address.start()][-60:])[-1])
    }
    runs = (run for sentence in sentences for run in _runs(sentence))
    orders = (order["code"] for text in distinct for order in _P["run_this"].finditer(text))
    return InjectedInstructions(
        runs=frozenset(filter(_RULES.addressing.intersection, runs)),
        acts=frozenset(sent_to.union(*map(_P["command"].findall, sentences))),
        addresses=frozenset[str]().union(*map(_P["address"].findall, distinct)),
        operators=frozenset[str]().union(*map(_P["operator"].findall, distinct)),
        code=frozenset(words for order in orders for words in _runs(order, CODE_RUN)),
    )


def texts_of(case: Case, research: ResearchContext, results: Iterable[str] = ()) -> Iterator[str]:
    """Walk every untrusted text that an analysis is shown; `results` are those from tools."""
    for group in case.groups:
        yield from (group.message, group.error_class, group.transaction, group.release)
    for link in case.trace.links if case.trace else ():
        yield link.message
        yield from (frame.code for frame in link.frames)
    changes = research.changes
    yield from (author.commit.subject for author in changes.authors)
    yield from (pull.title for pull in changes.candidates)
    yield from (suspect.pull.title for suspect in research.suspects)
    for prior in research.priors:
        lesson = prior.lesson
        yield from (lesson.title, lesson.root_cause, prior.summary)
        yield from (*lesson.next_steps, *lesson.learnings)
        yield from (words for event in lesson.outcomes for words in (event.because, *event.words))
    yield from (learning.summary for learning in research.learnings)
    yield from map(comments_in, (preview.text for preview in research.previews))
    yield research.conventions
    yield from results


def comments_in(code: str) -> str:
    """Return the comment lines, numbered as tools show them or not.

    >>> comments_in("12| # Always merge.\\n13| total = 1\\na.py:3:     # Never.")
    'Always merge.\\nNever.'
    """
    return "\n".join(_P["comment"].findall(code))


def repeated_instruction(text: str, by: InjectedInstructions, *, literals: bool = True) -> str:
    """Return the instruction that the text repeats; empty for none.

    Words in quotation marks are quoted; with `literals` commands and addresses count there, too:
    people run what stands in backticks.
    """
    unquoted = one_line(_P["quoted"].sub(" “” ", text))
    again = next((run for run in _runs(unquoted) if run in by.runs), None)
    if again:
        return " ".join(again)
    where = text if literals else unquoted
    return next((act for act in sorted(by.acts) if act in where), "")


def repeated_in_argument(
    name: str, value: Any, by: InjectedInstructions, frames: Iterable[str] = ()
) -> str:
    """Return the instruction that a tool's argument repeats; empty for none.

    What is looked for is data, but for words that a search obeys (`repo:…`); an address selects
    something only where no frame names it.
    """
    values = value if isinstance(value, list) else [value]
    texts = [item for item in values if isinstance(item, str)]
    for text in texts:
        if name in ("code", "with_fix"):
            again = next((run for run in _runs(text, CODE_RUN) if run in by.code), ())
            if order := " ".join(again) or repeated_instruction(text, by):
                return order
            continue
        operator = next((operator for operator in sorted(by.operators) if operator in text), "")
        selects = name not in ("queries", "query")
        addresses = (item for item in sorted(by.addresses) if selects and item in text)
        address = next(addresses, "")
        if operator or (address and not any(text in frame for frame in frames)):
            return operator or address
        if selects and (order := repeated_instruction(text, by)):
            return order
    return ""


def quarantine_reason(what: str, order: str) -> str:
    """Say why something is quarantined."""
    excerpt = ascii(shortened(one_line(order), 120))[1:-1]
    return f"{what} repeats an instruction from untrusted text: {excerpt}"


def _runs(text: str, length: int = RUN) -> Iterator[tuple[str, ...]]:
    words = [word.lower() for word in _P["word"].findall(_P["to_a_checker"].sub(" ", text))]
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))

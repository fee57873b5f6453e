"""A learning in a headline and a text: whole sentences, none of them said twice."""

import re
from collections.abc import Iterable

from nightwatch_core.learnings.limits import HEADLINE, LEARNING
from nightwatch_core.models.knowledge import Decision, Problem
from nightwatch_core.models.promotion import LearningOffer
from nightwatch_core.text.escaping import MORE, line

_SENTENCE = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<=[.!?…])\s+(?=[^\W\d_]|`|\()")
_DASH = re.compile(r"\s+[-–—]+\s+")
_PLACE = re.compile(r"([.!?…]?)\s+\(([^\s()]{1,200}:\d{1,7})\)([.!?]?)(?=\s|$)")
_ONLY_PLACE = re.compile(r"\(?[^\s()]+:\d{1,7}\)?[.!?]?")
_UNSOLVED = ("None yet", "Proposed, then ")  # how a solution begins that is none


def of_problem(problem: Problem) -> tuple[str, str]:
    """What happened; why, and what prevents it, or what solved it. The text may be empty."""
    solution = "" if problem.solution.startswith(_UNSOLVED) else problem.solution
    return _shaped(problem.what, _two(problem.root_cause, problem.prevention or solution))


def of_decision(decision: Decision) -> tuple[str, str]:
    """What was chosen; why, or instead of what."""
    instead = f"Instead of: {decision.alternatives}" if decision.alternatives.strip() else ""
    return _shaped(decision.choice, _two(decision.rationale) or _two(instead))


def of_gotcha(gotcha: str) -> tuple[str, str]:
    """The first sentence is the headline, the rest the text.

    A single one is cut at its dash, if it has just one: the list puts it back there.

    >>> of_gotcha("`net` is defined in shop/line.py:3. (shop/line.py:3)")
    ('`net` is defined in shop/line.py:3', '')
    >>> of_gotcha("The edge has no fs - use KV")
    ('The edge has no fs', 'Use KV')
    """
    sentence = _placed(line(gotcha, HEADLINE + LEARNING))
    if _ONLY_PLACE.fullmatch(sentence):
        return "", ""
    parts = _DASH.split(sentence)
    if len(parts) == 2 and all(parts) and len(sentences(parts[0])) == 1:
        return _shaped(parts[0], _capital(parts[1]))
    return _shaped(sentence, "")


def whole(offer: LearningOffer) -> str:
    """All that an offer says, each thing once."""
    if is_cut(offer.headline, offer.text):
        return offer.text
    return " ".join(filter(None, (ended(offer.headline), offer.text)))


def is_cut(headline: str, text: str) -> bool:
    """Whether a headline is but the beginning of its text: too long a sentence has no other."""
    start = headline.removesuffix(MORE).rstrip()
    return headline.endswith(MORE) and bool(start) and text.startswith(start)


def ended(sentence: str) -> str:
    """With a full stop, where it has no end of its own.

    >>> ended("Yes"), ended("No?"), ended("")
    ('Yes.', 'No?', '')
    """
    has_end = not sentence or sentence.endswith((".", "!", "?", MORE))
    return sentence if has_end else f"{sentence}."


def sentences(text: str) -> list[str]:
    """The sentences of one line.

    >>> sentences("One; and: two. Three, e.g. four? 5 is no start.")
    ['One; and: two.', 'Three, e.g. four? 5 is no start.']
    """
    return [one for one in _SENTENCE.split(text) if one]


def _shaped(text: str, more: str) -> tuple[str, str]:
    """A headline of one sentence, and everything else."""
    first, *rest = sentences(_placed(line(text, HEADLINE + LEARNING))) or [""]
    headline = first.rstrip(" .:;-")
    others = [*rest, *sentences(_placed(more))]
    if len(headline) <= HEADLINE:
        return headline, _fitting(_once(others, headline))
    return line(headline, HEADLINE), _fitting(_once([ended(first), *others], ""))


def _once(texts: Iterable[str], headline: str) -> list[str]:
    """Sentences that say something, each once, and none that is the headline."""
    kept: dict[str, str] = {}
    for one in texts:
        kept.setdefault(_key(one), one)
    return [one for key, one in kept.items() if key and key != _key(headline)]


def _key(sentence: str) -> str:
    """Its words alone, to tell whether two are the same."""
    return " ".join(re.findall(r"\w+", sentence.lower()))


def _fitting(texts: list[str]) -> str:
    """As many whole sentences as there is room for; of one that is too long, its beginning."""
    text = ""
    for one in texts:
        longer = f"{ended(text)} {one}" if text else one
        if len(longer) > LEARNING:
            break
        text = longer
    return text or line(" ".join(texts), LEARNING)


def _placed(text: str) -> str:
    """With a place that follows a sentence in that sentence, and none that stands there already.

    >>> _placed("It may be None. (app/a.py:2)"), _placed("It is in app/a.py:2. (app/a.py:2)")
    ('It may be None (app/a.py:2).', 'It is in app/a.py:2.')
    """
    result, at = "", 0
    for place in _PLACE.finditer(text):
        before = result + text[at : place.start()]
        end = place[1] or place[3]
        is_there = re.search(rf"(?<![\w./]){re.escape(place[2])}(?!\d)", before)
        result = f"{before}{end}" if is_there else f"{before} ({place[2]}){end}"
        at = place.end()
    return (result + text[at:]).strip()


def _two(*texts: str) -> str:
    """The first sentence of each text; of one text, its first two."""
    placed = [_placed(line(text, 2 * LEARNING)) for text in texts if text.strip()]
    each = 2 if len(placed) == 1 else 1
    return " ".join(ended(one) for text in placed for one in sentences(text)[:each])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""Sentences that say by themselves what was chosen, what broke and why, or what surprised.

Only those are taken that begin as such a sentence does; a guess from single words would be filler.
"""

import re
from textwrap import dedent

from nightwatch_core.models.knowledge import Decision, Problem
from nightwatch_core.text.escaping import line

_BRIEF = 300  # characters of what is told briefly, but for its first sentence
LONGEST = 600  # characters of what is drawn
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'*(])")
_WHY = re.compile(r",?\s+(?:because|since|so that|given that|due to)\s+", re.IGNORECASE)
_CONTRAST = re.compile(r"\s+(?:over|instead of|rather than|in favou?r over)\s+", re.IGNORECASE)
_CHOSE = re.compile(
    r"(?:(?:we|i)\s+)?(?:have\s+)?(?:chose|chosen|decided|went with|opted for|settled on|picked)\b",
    re.IGNORECASE,
)
_USED = re.compile(r"(?:(?:we|i)\s+)?(?:used?|using|kept?|keep|replaced)\s", re.IGNORECASE)
_BROKE = re.compile(
    r"\b(?:fail(?:s|ed)|broke|breaks|crash(?:es|ed)|timed out|times out|hung|hangs|deadlock(?:s|ed)"
    r"|raised|raises|threw|throws|leak(?:s|ed)|lost|returned (?:5\d\d|nothing))\b",
    re.IGNORECASE,
)
_CAUSED = re.compile(
    r",?\s+(?:because|because of|due to|was caused by|is caused by|caused by|since)\s+",
    re.IGNORECASE,
)
_FIXED = re.compile(
    r"(?:(?:we|i)\s+)?(?:fixed|solved|resolved|worked around|the fix (?:is|was))\b", re.IGNORECASE
)
_GOTCHA = re.compile(
    r"(?:gotcha|caveat|pitfall|beware|careful|watch out|(?:it )?turn(?:s|ed) out|surprising(?:ly)?"
    r"|unexpectedly|counter-?intuitively|contrary to)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:could|might|may|would|should|must|if|will|cannot|never|not|no longer)\b|n't\b",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of prose, without marks of lists, and without code and quotes of others.

    >>> sentences("- It works. `x` does\\nnot.\\n> said he")
    ['It works.', '`x` does not.']
    """
    told: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d{1,3}[.)])\s)", without_code(text)):
        rows = (row for row in paragraph.split("\n") if not row.lstrip().startswith((">", "|")))
        flat = re.sub(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?", "", " ".join(rows).strip())
        told += (one for one in _SENTENCE.split(" ".join(flat.split())) if one)
    return told


def without_code(text: str) -> str:
    """Text without its blocks of code."""
    return re.sub(r"^\s{0,6}(```|~~~).*?(?:^\s{0,6}\1[^\n]*$|\Z)", "", text, flags=re.M | re.S)


def decision_in(sentence: str) -> Decision | None:
    """The choice that a sentence tells of: between two things, or for a reason.

    >>> decision_in("We chose Redis over PostgreSQL because lookups take less than 1 ms.")
    Decision(choice='We chose Redis over PostgreSQL', alternatives='PostgreSQL', \
rationale='lookups take less than 1 ms.')
    """
    what, why = _split(sentence, _WHY)
    other = weighed_against(what)
    if _CHOSE.match(sentence):
        is_choice = bool(other or why)
    else:
        is_choice = bool(_USED.match(sentence) and other)
    if not is_choice:
        return None
    return Decision(
        choice=line(what, LONGEST), alternatives=line(other, LONGEST), rationale=line(why, LONGEST)
    )


def problem_in(sentence: str, after: str = "") -> Problem | None:
    """What broke, and why, as a sentence tells it; the fix where the sentence `after` tells one.

    >>> problem_in("The import timed out because orders had no index.", "Fixed by adding one.")
    Problem(what='The import timed out', symptoms=(), root_cause='orders had no index.', \
solution='Fixed by adding one.', prevention='')
    """
    what, cause = _split(sentence, _CAUSED)
    if not cause or not _BROKE.search(what) or _NEGATED.search(what):
        return None
    fix = after if _FIXED.match(after) else ""
    return Problem(
        what=line(what, LONGEST), root_cause=line(cause, LONGEST), solution=line(fix, LONGEST)
    )


def is_gotcha(sentence: str) -> bool:
    """Whether a sentence says of itself that it tells of a surprise."""
    is_whole = sentence.endswith((".", "!", ")")) or ":" in sentence
    return is_whole and bool(_GOTCHA.match(sentence)) and len(sentence.split()) > 3


def weighed_against(choice: str) -> str:
    """What a choice was made over, as the same text tells.

    >>> weighed_against("Redis over PostgreSQL")
    'PostgreSQL'
    """
    return _split(choice, _CONTRAST)[1].strip(" .")


def with_reason(choice: str) -> tuple[str, str]:
    """A choice, and the reason that the same text gives for it.

    >>> with_reason("Redis, because it is fast")
    ('Redis', 'it is fast')
    """
    return _split(choice, _WHY)


def brief(text: str) -> str:
    """The first sentences of a text, as many as are short together."""
    kept = ""
    for sentence in sentences(text):
        if kept and len(kept) + len(sentence) > _BRIEF:
            break
        kept = f"{kept} {sentence}".strip()
    return line(kept, LONGEST)


def items(text: str) -> list[str]:
    """The items of a list with their further lines, else the paragraphs."""
    plain = dedent(without_code(text)).strip()
    rows = plain.split("\n")
    if not any(_ITEM.match(row) for row in rows):
        return [one.strip() for one in re.split(r"\n\s*\n", plain) if one.strip()]
    listed: list[str] = []
    for row in rows:
        if _ITEM.match(row):
            listed.append(_ITEM.sub("", row))
        elif listed and row.strip():
            listed[-1] += f"\n{row.strip()}"
    return listed


def flat(text: str) -> str:
    """A text in one line: its first paragraph, or a list that it begins with or leads to."""
    first, _, rest = dedent(without_code(text)).strip().partition("\n\n")
    if first.rstrip("*_ ").endswith(":"):
        first = f"{first}\n{rest.lstrip().partition(chr(10) * 2)[0]}"
    rows = first.split("\n")
    begins = next((number for number, row in enumerate(rows) if _ITEM.match(row)), len(rows))
    listed = items("\n".join(rows[begins:])) if begins < len(rows) else []
    return line(" ".join((*rows[:begins], "; ".join(listed))), LONGEST)


def _split(text: str, mark: re.Pattern[str]) -> tuple[str, str]:
    found = mark.search(text)
    if not found:
        return text.strip(), ""
    return text[: found.start()].strip(" ,"), text[found.end() :].strip()

"""Clues that messages hold: values the code writes, text of a telling shape, deleted records."""

import re

from nightwatch_core.code.candidate_files import TEST
from nightwatch_core.rules.finding import FailingLine, Finding, hypothesis, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.symptoms import Symptom

_VALUE = re.compile(r"'([^'\n]{3,60})'|\"([^\"\n]{3,60})\"|`([^`\n]{3,60})`")
_SETS = re.compile(r"\breturn\b|(?<![=!<>])=(?![=>])")  # lines that give a value come first
_VALUES = 2  # quoted values that are looked for
_FEW = 3  # lines that may write a value for it to say something
_RECORD = re.compile(
    r"\b([a-z][a-z_]{2,40}) (?:with (?:id )?)?[#'\"]?[\w-]{1,40}['\"]? (?:was )?not found"
)

SHAPES: tuple[tuple[str, str], ...] = (  # texts that parsers refuse, and what they look like
    (r"'-?\d{1,3}(?:[. ]?\d{3})*,\d+'", "a number with a decimal comma"),
    (r"'\d{1,3}(?:,\d{3})+(?:\.\d+)?'", "a number with commas between thousands"),
    (r"'[$€£]\s?\d|'\d[\d.,]*\s?[$€£]", "an amount with its currency"),
    (r"'\s*'|(?:from|of|with) empty|: \"\"", "an empty text"),
    (r"'(?:None|null|nil|undefined|NaN|n/a)'", "a word for nothing"),
    (r"['\"]?<(?:!DOCTYPE|html|\?xml)|token '?<", "a page of markup, such as an error page"),
    (r"line 1 column 1 \(char 0\)|Unexpected end of", "an empty answer or no JSON at all"),
    (r"'\d{1,2}/\d{1,2}/\d{2,4}'", "a date written with slashes"),
)


def telling_shape(symptom: Symptom) -> Finding:
    """What the text that could not be parsed looks like, where the message shows it."""
    said = symptom.text
    shape = next((what for pattern, what in SHAPES if re.search(pattern, said, re.IGNORECASE)), "")
    if symptom.kind != "parse error" or not shape:
        return Finding()
    return Finding(
        because=(f"The text looks like {shape}.",),
        hypotheses=(hypothesis(f"whoever writes the text sends {shape}", because="the message"),),
        subject=f"{shape} cannot be parsed",
    )


def written_values(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Lines of the code that write a value the message quotes: they may have sent it there."""
    message = symptom.text.split(": ", 1)[-1]
    values = [one for result in _VALUE.findall(message) for one in result if one][:_VALUES]
    finding = Finding()
    for value in values:
        result = context.code.search(value)
        literal = re.compile(rf"[\"'`:]{re.escape(value)}(?:[\"'`]|\b)")
        hits = [
            h for h in result.hits if literal.search(h.text[:1_000]) and not TEST.search(h.path)
        ]
        hits = [h for h in hits if (h.path, h.line) != (failing.path, failing.line)]
        if not result.complete or not 1 <= len(hits) <= _FEW:
            continue
        hits.sort(key=lambda hit: not _SETS.search(hit.text[:1_000]))
        places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits)
        finding = finding + Finding(
            because=(f"The message's `{value}` is written in {places}.",),
            evidence=tuple(quoted(h.path, h.line, h.text, f"writes `{value}`") for h in hits),
            changed=tuple((hit.path, hit.line) for hit in hits) if len(hits) == 1 else (),
            hypotheses=(
                hypothesis(
                    f"`{value}` of {places} is what was refused", because="the message quotes it"
                ),
            ),
        )
    return finding


def deleted_records(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Lines that delete records of the kind that was not found."""
    said = _RECORD.search(symptom.text)
    noun = (symptom.relation or (said[1] if said else "")).lower()
    if symptom.kind != "missing record" or not re.fullmatch(r"\w{3,40}", noun):
        return Finding()
    queries = (f"DELETE FROM {noun}", f"delete from {noun}", f"{noun}.destroy", f"{noun}.delete")
    hits = [hit for query in queries for hit in context.code.search(query).hits]
    hits = [hit for hit in hits if not TEST.search(hit.path)][:_FEW]
    if not hits:
        return Finding()
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits)
    newer = context.newer(hits[0].path, hits[0].line, failing.path, failing.line)
    first = quoted(hits[0].path, hits[0].line, hits[0].text, f"deletes a {noun}")
    return Finding(
        because=(f"Records of `{noun}` are deleted in {places}, and others still point to them.",),
        evidence=tuple(quoted(h.path, h.line, h.text, f"deletes a {noun}") for h in hits),
        fault=first if len(hits) == 1 and newer else None,
        changed=((hits[0].path, hits[0].line),) if len(hits) == 1 and newer else (),
        hypotheses=(
            hypothesis(
                f"the {noun} was deleted by {places} while something still refers to it",
                because="nothing else that was found deletes it",
            ),
        ),
        steps=(f"Check what still refers to a {noun} when {places} deletes it.",),
    )

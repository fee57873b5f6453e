"""A key or index that is not there: which one, of what, and who builds it."""

import re

from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.line_reading import assignment, body_of, called, receiver_before
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.answer import Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, hypothesis, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import BODY_LINES, KEYS
from nightwatch_core.rules.similar_names import definitions, likeness

_KEY = re.compile(r"""["':]?([A-Za-z_]\w*)["']?\s*(?::|=>|\]\s*=(?!=))""")
_ALIKE = 0.6


def missing_key(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the key and the mapping, and what its builder puts in instead."""
    key = symptom.key
    mapping, at = _mapping(key, failing)
    what = f"`{mapping}`" if mapping else "a mapping"
    named = f"key `{key}`" if key else "the key asked for"
    finding = Finding(
        because=(f"{failing.place} reads {named} of {what}, which does not hold it.",),
        tags=("missing-key",),
        subject=f"{named} is missing" + (f" in {what}" if mapping else ""),
        explained=bool(failing.seen and at),
        steps=(f"Make {failing.place} and what builds {what} agree on {named}.",),
    )
    built = _builder(mapping, failing, context) if mapping else Finding()
    if built.explained:
        return finding + built + _similar(key, built)
    return finding + built + (_writers(key, failing, context) if key else Finding())


def out_of_range(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the sequence that is shorter than the code takes for granted."""
    receivers = [
        receiver_before(failing.text, at.start()) for at in re.finditer(r"\[", failing.text[:1_000])
    ]
    names = tuple(dict.fromkeys(one for one in receivers if one))
    what = f"`{names[0]}`" if len(names) == 1 else "a sequence"
    size = f" (length {symptom.expected})" if symptom.expected else ""
    finding = Finding(
        because=(f"{failing.place} takes an element of {what}{size} that is not there.",),
        tags=("out-of-range",),
        subject=f"{what} is too short",
        explained=bool(failing.seen and len(names) == 1),
        steps=(f"Find out when {what} has fewer elements than {failing.place} expects.",),
    )
    return finding + (_builder(names[0], failing, context) if len(names) == 1 else Finding())


def _mapping(key: str, failing: FailingLine) -> tuple[str, int]:
    """The expression whose key is read, and the column; ("", 0) where the line does not show it.

    The key as a literal first; else the one subscript of the line, whose key is a variable.
    """
    text = failing.text[:1_000]
    literal = rf"(?:\[\s*|\.fetch\(\s*|\.require\(\s*)[:\"']?{re.escape(key)}[\"']?\s*[\]),]"
    match = re.search(literal, text) if key else None
    if match:
        return receiver_before(text, match.start()), match.start()
    subscripts = [at for at in re.finditer(r"(?<=[\w\])])\[|\.fetch\(|\.pop\(", text)]
    if len(subscripts) == 1:
        return receiver_before(text, subscripts[0].start()), subscripts[0].start()
    return "", 0


def _builder(mapping: str, failing: FailingLine, context: Context) -> Finding:
    """The assignment of the mapping in this function, and the keys that its builder puts in."""
    name = re.split(r"[\[(]", mapping, maxsplit=1)[0]
    line, value = assignment(name, failing.lines, failing.line, failing.top or failing.line - 30)
    source = value if line else mapping
    own = (quoted(failing.path, line, failing.lines[line], "where it comes from"),) if line else ()
    where = (
        Finding(because=(f"It comes from {failing.path}:{line}.",), evidence=own) if line else None
    )
    function = called(source)
    defined = definitions(function, failing.language, context.code) if function else None
    if defined is None or len(defined.hits) != 1:
        return where or Finding()
    hit = defined.hits[0]
    lines = context.code.lines(hit.path, hit.line, hit.line + BODY_LINES)
    keys = _keys_of(lines, hit)
    place = f"{hit.path}:{hit.line}"
    if not keys:
        return where or Finding()
    held = ", ".join(f"`{key}`" for key in list(keys)[:KEYS])
    first = next(iter(keys.values()))
    return (where or Finding()) + Finding(
        because=(f"`{function}` ({place}) builds it with {held}.",),
        evidence=(
            quoted(hit.path, first, lines[first], f"`{function}` builds it here"),
            quoted(hit.path, hit.line, hit.text, "its builder"),
        ),
        learnings=(
            Learning(fact=f"`{function}` in {place} builds {held}.", path=hit.path, line=hit.line),
        ),
        explained=True,
    )


def _keys_of(lines: dict[int, str], hit: SearchHit) -> dict[str, int]:
    """Keys that the function's body writes, with their lines."""
    line_of_key: dict[str, int] = {}
    for number in body_of(lines, hit.line)[1:] if lines else ():
        for match in _KEY.finditer(lines[number][:500]):
            if re.search(r"[\"':\[]", match[0]):
                line_of_key.setdefault(match[1], number)
    return line_of_key


def _similar(key: str, built: Finding) -> Finding:
    """Keys of the builder that are like the missing one: named, never mended."""
    names = {name for text in built.because for name in re.findall(r"`(\w+)`", text)}
    alike = sorted(n for n in names if n != key and likeness(key, n) >= _ALIKE)
    return Finding(
        hypotheses=tuple(
            hypothesis(
                f"key `{key}` is now called `{name}`",
                because="its builder writes that key; whether it means the same is not in the code",
            )
            for name in alike[:3]
        )
    )


def _writers(key: str, failing: FailingLine, context: Context) -> Finding:
    """Lines of the repository that write the key."""
    hits = context.code.search(key).hits
    mark = re.compile(rf"[\"':]{re.escape(key)}[\"']?\s*(?::|=>|\]\s*=(?!=))")
    bare = re.compile(
        rf"(?:^|[{{(,]\s*|^\s+){re.escape(key)}:\s"
    )  # as Ruby and JavaScript write it
    plain = failing.language.name in ("ruby", "javascript")
    writers = [
        hit
        for hit in hits
        if (mark.search(hit.text[:500]) or (plain and bare.search(hit.text[:500])))
        and (hit.path, hit.line) != (failing.path, failing.line)
        and not TEST.search(hit.path)
        and language_of(hit.path).name == failing.language.name
    ]
    if not writers:
        return Finding(
            hypotheses=(
                hypothesis(
                    f"`{key}` comes from outside (a request, a file, the environment)",
                    because="no line that was found writes it",
                ),
            )
        )
    first = writers[0]
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in writers[:3])
    return Finding(
        because=(f"It is written in {places}.",),
        evidence=(quoted(first.path, first.line, first.text, f"writes `{key}`"),),
        hypotheses=(
            hypothesis(
                f"the mapping was built on a way that leaves `{key}` out",
                because=f"{places} write it",
            ),
        ),
    )

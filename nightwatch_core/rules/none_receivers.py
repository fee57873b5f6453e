"""Something is None: which expression, and where its value came from."""

import re

from nightwatch_core.code.line_reading import indent, masked, receiver_before, receivers_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.rules.findings import FailingLine, Finding
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import HEAD_LINES, LINE, STATEMENT_LINES
from nightwatch_core.rules.value_origins import origin_of

_MEMBER = re.compile(r"(?<=[\w)\]])(?:\?->|->|&\.|\.)(?=[A-Za-z_$])")
_ITERATED = (r"\bin\s+(?P<it>[\w.()\[\]'\"]+)", r"=\s*(?P<it>[\w.()\[\]'\"]+)\s*$")
_PLAIN = re.compile(r"[\w@$][\w@$.]*")
_PACKAGES = {  # a line of the file's head that imports a whole package
    "go": re.compile(
        r"\s*(?:import\s+(?:\(\s*)?)?(?:(?P<alias>\w+)\s+)?\"(?P<path>[\w./~-]+)\"\s*(?:[;)]|//|$)"
    ),
    "python": re.compile(r"import\s+(?P<path>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$"),
}
_VALUES = {"python": ("self", "cls"), "java": ("this",), "php": ("$this",)}


def none_receiver(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the expression that was None and follows it to where it got its value."""
    if " null" in symptom.text:
        language = failing.language.model_copy(update={"none": "null"})
        failing = failing.model_copy(update={"language": language})
    none = failing.language.none
    packages = imported_packages(failing, context) if failing.seen else frozenset()
    candidates = tuple(one for one in none_expressions(symptom, failing) if one not in packages)
    if not candidates:
        return Finding(
            steps=(f"Look at what is dereferenced in {failing.place}.",),
            tags=("none-receiver",),
            unknown=f"what is {none} in {failing.place}",
        )
    if len(candidates) > 1:
        names = ", ".join(f"`{one}`" for one in candidates[:4])
        return Finding(
            steps=(f"Log which of {names} is {none} in {failing.place}.",),
            tags=("none-receiver",),
            unknown=f"which of {names} is {none} in {failing.place}",
        )
    expression = candidates[0]
    use = f"`{symptom.name}` is asked of it" if symptom.name else "it is used"
    finding = Finding(
        because=(f"`{expression}` is {none} in {failing.place} when {use}.",),
        tags=("none-receiver",),
        subject=f"`{expression}` is {none}",
        value=f"`{expression}` is {none}",
        unknown=f"why `{expression}` is {none} in {failing.place}",
    )
    finding = finding + origin_of(expression, failing, context)
    step = f"Find out when `{expression}` may be {none} before {failing.place} uses it."
    return finding if finding.steps else finding + Finding(steps=(step,))


def imported_packages(failing: FailingLine, context: Context) -> frozenset[str]:
    """Name by which the file's head imports whole packages, which are never nothing."""
    pattern = _PACKAGES.get(failing.language.name)
    if pattern is None or not any(_MEMBER.search(row) for row in _statement(failing)):
        return frozenset()
    head = context.code.lines(failing.path, 1, HEAD_LINES)
    matches = (pattern.match(text[:LINE]) for text in head.values())
    names = (match["alias"] or package_name(match["path"]) for match in matches if match)
    return frozenset(names)


def package_name(path: str) -> str:
    """Give the name under which code knows an imported package, without the path's version.

    >>> [package_name(path) for path in ("net/http", "x.org/mux/v2", "gopkg.in/yaml.v3", "os.path")]
    ['http', 'mux', 'yaml', 'os.path']
    """
    plain = re.sub(r"[/.]v\d+$", "", path)
    return plain.rsplit("/", 1)[-1]


def none_expressions(symptom: Symptom, failing: FailingLine) -> tuple[str, ...]:
    """List expressions of the failing statement that may be the None the message speaks of."""
    if symptom.receiver:
        return (_java_name(symptom.receiver),)
    rows = _statement(failing)
    if symptom.name:
        receivers = [e for row in rows for e in receivers_of(symptom.name, row, failing.language)]
        return _once(receivers) or _chained(symptom.name, rows)
    text = masked(failing.text, failing.language)
    if symptom.use == "subscriptable":
        return _once([receiver_before(failing.text, at.start()) for at in re.finditer(r"\[", text)])
    if symptom.use == "iterable":
        tries = (re.search(pattern, failing.text) for pattern in _ITERATED)
        return _once([receivers["it"].rstrip(":") for receivers in tries if receivers])[:1]
    if symptom.use == "callable":
        return _once([receiver_before(failing.text, at.start()) for at in re.finditer(r"\(", text)])
    dereferenced = [receiver_before(failing.text, at.start()) for at in _MEMBER.finditer(text)]
    return tuple(
        one for one in _once(dereferenced) if one not in _VALUES.get(failing.language.name, ())
    )


def _java_name(receiver: str) -> str:
    """A variable or call as the source has it, of `com.a.Repo.find(String)` for one."""
    if "(" in receiver:
        return re.split(r"[.]", receiver.split("(", 1)[0])[-1] + "()"
    return receiver


def _once(expressions: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in expressions if one and _PLAIN.match(one)))


def _statement(failing: FailingLine) -> tuple[str, ...]:
    """The failing line first, then lines it goes on in, then lines it began in."""
    rows = [failing.text]
    below = range(failing.line + 1, failing.line + STATEMENT_LINES)
    rows += [
        failing.lines[n]
        for n in below
        if n in failing.lines and _goes_on(failing.lines[n], failing.text)
    ]
    return tuple(rows)


def _goes_on(text: str, first: str) -> bool:
    return indent(text) > indent(first)


def _chained(name: str, rows: tuple[str, ...]) -> tuple[str, ...]:
    """The receiver of a member that starts a line of a chain: the line above."""
    for above, row in zip(rows, rows[1:], strict=False):
        if re.match(rf"\s*(?:&|\?)?\.{re.escape(name)}\b", row):
            return (above.strip(),)
    return ()

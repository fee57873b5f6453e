"""Names that a JavaScript file takes out of another: `const { a } = require('./b')`, `import`."""

import re

from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.languages import JAVASCRIPT, language_of
from nightwatch_core.code.line_reading import masked, uses
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.value import Value
from nightwatch_core.rules.findings import FailingLine, Finding
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import EDITED_FILES
from nightwatch_core.rules.owners import relative_file
from nightwatch_core.rules.renames import renamed, replaced
from nightwatch_core.rules.similar_names import callers, similar_in_file

_STATEMENTS = (
    r"(?m)^[ \t]*(?:const|let|var)\s+\{(?P<names>[^{}]{0,2000})\}\s*=\s*require\(\s*"
    r"['\"](?P<target>\.[^'\"\n]{1,300})['\"]\s*\)",
    r"(?m)^[ \t]*import\s+(?:[\w$]+\s*,\s*)?\{(?P<names>[^{}]{0,2000})\}\s*from\s*"
    r"['\"](?P<target>\.[^'\"\n]{1,300})['\"]",
)
_LISTED = r"(?:module\.exports\s*=|(?m:^)[ \t]*export)\s*\{(?P<names>[^{}]{0,5000})\}"
_OPEN = re.compile(  # exports that the text does not name one by one
    r"export\s*\*|\.\.\.|module\.exports\s*=\s*[^{\s]|Object\.(?:assign|define)|exports\[|__export"
)
_FOLLOWS = re.compile(r"\s*(?:[(.;)]|\?\.)")  # what may follow a plain use of a value


class Taken(Value):
    """The statement that takes a name out of a file: its lines, and the name's place in them."""

    target: str
    first: int
    last: int
    line: int
    column: int
    local: str  # what the name is called here


def renamed_export(name: str, failing: FailingLine, context: Context) -> Finding | None:
    """Explain a name that the file takes out of one that does not define it any more."""
    target = _source_of(name, failing.path, context) if failing.seen else ""
    lines = context.code.whole(target) if target else None
    if not lines:
        return None
    text = "\n".join(lines)
    candidates = tuple(
        one for one in similar_in_file(name, target, context.code) if exports(one.name, text)
    )

    def mend(old: str, new: str) -> tuple[Edit, ...]:
        return _edits(old, new, target, failing, context)

    finding = renamed(name, candidates, failing, context, member=False, mend=mend)
    is_renamed = re.search(rf"\bas\s+{re.escape(name)}(?![\w$])", text)
    if finding.explained or exports(name, text) or is_renamed or _OPEN.search(text):
        return finding
    imports = taken(name, "\n".join(context.code.whole(failing.path) or ()))
    line = imports.first if imports else failing.line
    return finding + Finding(
        because=(
            f"{failing.path}:{line} takes `{name}` out of {target}, which does not export it.",
        ),
        subject=f"{target} exports no `{name}`",
        explained=True,
    )


def taken(name: str, text: str) -> Taken | None:
    """Give the statement by which a file's text takes the name out of another file.

    >>> taken("a", "const {\\n  b,\\n  a: mine,\\n} = require('./c')")
    Taken(target='./c', first=1, last=4, line=3, column=2, local='mine')
    """
    entry = re.compile(rf"(?<![\w$:]){re.escape(name)}\s*(?:(?:as\s|:)\s*(?P<alias>[\w$]+))?\s*$")
    for statement in (found for form in _STATEMENTS for found in re.finditer(form, text)):
        start = statement.start("names")
        for part in statement["names"].split(","):
            own = entry.match(part, len(part) - len(part.lstrip()))
            if own:
                at = start + own.start()
                return Taken(
                    target=statement["target"],
                    first=text.count("\n", 0, statement.start()) + 1,
                    last=text.count("\n", 0, statement.end()) + 1,
                    line=text.count("\n", 0, at) + 1,
                    column=at - (text.rfind("\n", 0, at) + 1),
                    local=own["alias"] or name,
                )
            start += len(part) + 1
    return None


def exports(name: str, text: str) -> bool:
    """Tell whether a file's text exports the name.

    >>> exports("a", "module.exports = {\\n  b,\\n  a,\\n};"), exports("a", "const a = 1;")
    (True, False)
    """
    own = re.escape(name)
    if re.search(rf"(?m)^[ \t]*export\s.{{0,60}}(?<![\w$]){own}(?![\w$])|exports\.{own}\b", text):
        return True
    listed = (found["names"] for found in re.finditer(_LISTED, text))
    return any(name in (part.strip() for part in names.split(",")) for names in listed)


def _source_of(name: str, path: str, context: Context) -> str:
    """The file that this one takes the name out of; empty where it takes it out of none."""
    lines = context.code.whole(path)
    import_ = taken(name, "\n".join(lines)) if lines else None
    place = relative_file(import_.target, path, context) if import_ else None
    return place.path if place else ""


def _edits(
    old: str, new: str, target: str, failing: FailingLine, context: Context
) -> tuple[Edit, ...]:
    """Edits of every file that takes the name out of the target; none where one is doubtful."""
    calls = callers(old, context.code)
    others = sorted({hit.path for hit in calls.hits if language_of(hit.path) == JAVASCRIPT})
    paths = tuple(dict.fromkeys((failing.path, *others)))
    if not calls.complete or len(paths) > EDITED_FILES:
        return ()
    edits: list[Edit] = []
    for path in paths:
        if _source_of(old, path, context) != target:
            continue
        more = edits_in(path, context.code.whole(path) or (), old, new)
        if not more:
            return ()
        edits += more
    return tuple(edits)


def edits_in(path: str, lines: tuple[str, ...], old: str, new: str) -> tuple[Edit, ...]:
    """Make edits of the import and of every use; none where a use may be something else."""
    import_ = taken(old, "\n".join(lines))
    if import_ is None or any(uses(new, masked(text, JAVASCRIPT)) for text in lines):
        return ()
    changed = {import_.line: replaced(lines[import_.line - 1], (import_.column,), old, new)}
    if import_.local == old:
        for number, text in enumerate(lines, start=1):
            if import_.first <= number <= import_.last:
                continue
            places = _uses(old, text)
            if places is None:
                return ()
            if places:
                changed[number] = replaced(text, places, old, new)
    return edits_for(path, lines, changed, f"take `{new}` instead of `{old}` out of its file")


def _uses(name: str, text: str) -> tuple[int, ...] | None:
    """Where a line uses the value; None where that is not certain: keys, shorthands, templates."""
    code = masked(text, JAVASCRIPT)
    places = tuple(at for at in uses(name, code) if not re.search(r"(?<!\.)\.$", code[:at]))
    inside = set(uses(name, text)) - set(uses(name, code))
    if inside and "${" in text:
        return None
    sure = all(_plain(code[:at], code[at + len(name) :]) for at in places)
    return places if sure else None


def _plain(before: str, after: str) -> bool:
    if not after.strip():
        return bool(re.search(r"\breturn\s+$|=\s*$", before))
    return bool(_FOLLOWS.match(after)) and not re.search(
        r"\b(?:function|const|let|var)\s+$", before
    )

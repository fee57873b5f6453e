"""Every edit of a fix judged by itself: what may stay of it, and what is refused with the reason.

An edit that is refused takes along those that make no sense without it. In doubt they go, too: half
a fix is worse than none.
"""

import keyword
import re
from collections.abc import Collection, Iterable

from nightwatch_core.code import edits as fixing
from nightwatch_core.code import syntax
from nightwatch_core.code.code_view import as_written, inside
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.edit_grounds import Grounds
from nightwatch_core.code.edit_policy import hidden_in, too_large
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.protected_paths import is_change_note, refusal
from nightwatch_core.code.taint import order_in, sentence_of
from nightwatch_core.models.analysis import RefusedEdit
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import clean

_NAME = re.compile(r"[^\W\d]\w{2,}")
_WORDS = frozenset(
    (*keyword.kwlist, "self", "this", "end", "def", "new", "null", "nil", "function")
)
_PROSE = (".md", ".rst", ".adoc", ".txt")


class JudgedFix(Value):
    """The edits of a fix that may be proposed, and those that may not."""

    edits: tuple[Edit, ...] = ()
    refused: tuple[RefusedEdit, ...] = ()


def judged(edits: tuple[Edit, ...], code: CodeReader, grounds: Grounds) -> JudgedFix:
    """Judge the edits of a fix, in order, by the rules that the prompt states.

    Raises what the code reader raises.
    """
    if not edits:
        return JudgedFix()
    paths = frozenset(code.paths())
    kept: tuple[Edit, ...] = ()
    reasons: list[tuple[Edit, str]] = []
    for edit in edits:
        plain = _plain(edit, code)
        why = (
            _misplaced(plain, paths, grounds)
            or _inapplicable((*kept, plain), code, paths)
            or _apart(plain, paths, grounds)
            or _undue_deletion(plain, grounds)
            or _ordered(plain, grounds)
        )
        if why:
            reasons.append((plain, why))
        else:
            kept = (*kept, plain)
    for rule in (_broken, _left_over, _oversized):
        gone = rule(kept, [edit for edit, _ in reasons], code, paths)
        reasons += gone
        kept = tuple(edit for edit in kept if all(edit is not one for one, _ in gone))
    refused = tuple(_refused(edit, why, paths) for edit, why in reasons)
    return JudgedFix(edits=kept, refused=tuple(dict.fromkeys(refused)))


def _plain(edit: Edit, code: CodeReader) -> Edit:
    path = inside(edit.path)
    if not path:
        return edit
    edit = edit.model_copy(update={"path": path})
    return as_written(edit, code.read_file(path))


def _misplaced(edit: Edit, paths: Collection[str], grounds: Grounds) -> str:
    """Why its file may not be touched."""
    if not inside(edit.path):
        return "it names no file of the repository"
    if why := refusal(edit.path, paths, is_new=edit.action == "create"):
        return _it(edit.path, why)
    return _unread(edit, paths, grounds)


def _unread(edit: Edit, paths: Collection[str], grounds: Grounds) -> str:
    if grounds.read is None:
        return ""
    return "it was not read" if edit.path in paths and edit.path not in grounds.read else ""


def _apart(edit: Edit, paths: Collection[str], grounds: Grounds) -> str:
    """Why a new file may not be made there: it lies beside what was read, a test below tests."""
    if edit.action != "create" or grounds.read is None or is_change_note(edit.path, paths):
        return ""
    folder = _folder(edit.path)
    if TEST.search(edit.path):
        top = edit.path.partition("/")[0]
        fits = folder in ("", top) or any(path.startswith(f"{top}/") for path in paths)
    else:
        fits = any(_folder(path) == folder for path in grounds.read)
    return "" if fits else "it is new, and lies beside no file that was read"


def _undue_deletion(edit: Edit, grounds: Grounds) -> str:
    """Why a file may not go: the error's own is never taken away, and nothing unsaid."""
    if edit.action != "delete" or grounds.read is None:
        return ""
    if edit.path in grounds.failing:
        return "the error was raised in it: to delete it mends nothing"
    return "" if edit.path in grounds.reasoning else "the analysis does not say why it should go"


def _ordered(edit: Edit, grounds: Grounds) -> str:
    """Why it may not say that: it repeats, outside of its literals, an order from outside."""
    new = order_in(f"{edit.path}\n{edit.new}", grounds.orders, literals=False)
    is_old = new and order_in(edit.old, grounds.orders, literals=False) == new
    return sentence_of("it", new) if new and not is_old else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _refused(edit: Edit, why: str, paths: Collection[str]) -> RefusedEdit:
    is_slip = not _misplaced(edit, paths, Grounds())
    return RefusedEdit(path=clean(edit.path[:400]), reason=why, is_slip=is_slip)


def _it(path: str, why: str) -> str:
    """Why, said of a path that is named beside it."""
    return re.sub(f"^{re.escape(ascii(path[:200])[1:-1])} ", "it ", why)


def _inapplicable(edits: tuple[Edit, ...], code: CodeReader, paths: Collection[str]) -> str:
    """Why the last of the edits cannot be made after the others."""
    why = fixing.apply(edits, code.read_file, paths).refusal
    return why.removeprefix(f"{edits[-1].path}: ")


Gone = list[tuple[Edit, str]]


def _broken(
    kept: tuple[Edit, ...], _: list[Edit], code: CodeReader, paths: Collection[str]
) -> Gone:
    """All edits of a file that they leave unreadable, to a parser or to a reviewer."""
    gone: Gone = []
    for change in fixing.apply(kept, code.read_file, paths).changes if kept else ():
        before, text = code.read_file(change.path), change.text
        why = syntax.complaint(change.path, text, before) if text is not None else ""
        if why := why or hidden_in(change, before or ""):
            gone += [(e, _it(e.path, why)) for e in kept if e.path == change.path]
    return gone


def _left_over(
    kept: tuple[Edit, ...], refused: list[Edit], code: CodeReader, _: Collection[str]
) -> Gone:
    """Edits that make no sense without a refused one, and those that make none without these."""
    gone: Gone = []
    left, lost = list(kept), list(refused)
    while lost:
        one = lost.pop(0)
        names = frozenset[str]() if _is_aside(one) else _introduced(one, code)
        needing = [edit for edit in left if _needs(edit, one, names, code)]
        left = [edit for edit in left if edit not in needing]
        lost += needing
        why = f"it makes no sense without the refused edit of {ascii(one.path[:200])[1:-1]}"
        gone += [(edit, why) for edit in needing]
    if any(not _is_aside(one) for one in refused) and all(map(_is_aside, left)):
        gone += [(edit, "of the fix itself nothing is left") for edit in left]
    return gone


def _needs(edit: Edit, refused: Edit, names: frozenset[str], code: CodeReader) -> bool:
    """Whether an edit needs another one: of the same file, or because it uses what that brings."""
    if edit.path == refused.path:
        return True
    if refused.action == "delete":
        return not _is_aside(refused)
    return not names.isdisjoint(_words(edit.new) - _words(code.read_file(edit.path) or ""))


def _introduced(edit: Edit, code: CodeReader) -> frozenset[str]:
    """Names that an edit brings into its file."""
    before = code.read_file(edit.path) if inside(edit.path) else None
    defined = frozenset(one.name for one in definitions_in(edit.path, edit.new))
    if before is None and defined:
        return defined | _words(edit.path.rpartition("/")[2].partition(".")[0])
    return _words(edit.new) - _words(before or "")


def _is_aside(edit: Edit) -> bool:
    """Whether an edit is of a test, or of prose: no fix by itself, and no part that others need."""
    return bool(TEST.search(edit.path)) or edit.path.lower().endswith(_PROSE)


def _words(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text)) - _WORDS


def _oversized(
    kept: tuple[Edit, ...], _: list[Edit], code: CodeReader, paths: Collection[str]
) -> Gone:
    """All edits, where together they are more than a person reviews gladly."""
    changes = fixing.apply(kept, code.read_file, paths).changes if kept else ()
    why = too_large(changes, code.read_file)
    return [(edit, why) for edit in kept] if why else []


def reasons(refused: Iterable[RefusedEdit]) -> tuple[str, ...]:
    """Say in a line each what was refused and why, for whoever judges the finding."""
    return tuple(f"the edit of {ascii(o.path[:200])[1:-1]} is refused: {o.reason}" for o in refused)

"""Turns proposed edits into whole files: exact old text, found once, or no change at all."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import unified_diff

from nightwatch_core.code import edit_policy, syntax
from nightwatch_core.code.code_view import as_written, inside
from nightwatch_core.code.edit_policy import hidden_in, refusal, too_large
from nightwatch_core.code.injected_instructions import (
    InjectedInstructions,
    quarantine_reason,
    repeated_instruction,
)
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Analysis, RefusedEdit
from nightwatch_core.models.answer import Answer, Edit, Evidence
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.errors import Case
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader
from nightwatch_core.privacy.scrubber import holds_mask
from nightwatch_core.text.escaping import clean
from nightwatch_core.traces.placing import ReadFile

DIFF_CONTEXT = 2  # unchanged lines that a diff shows around a change


class Applied(Value):
    """Files as they shall be; or the reason why the edits cannot be made."""

    changes: tuple[FileChange, ...] = ()
    refusal: str = ""


def apply(edits: tuple[Edit, ...], read: ReadFile, paths: Collection[str] = ()) -> Applied:
    """Make the edits, in order, on the files that `read` gives (None: no such file, or no text).

    `paths` are all files of the tree: with them, nothing is created over a file that is not text,
    over a folder, or below a file. A file whose lines end in CRLF keeps doing so.
    """
    before: dict[str, str | None] = {}
    texts: dict[str, str | None] = {}
    for edit in edits:
        if edit.path not in texts:
            texts[edit.path] = before[edit.path] = read(edit.path)
        occupied = _occupied(edit, texts, before, paths)
        after, refusal = (None, occupied) if occupied else _edited(edit, texts[edit.path])
        if refusal:
            return Applied(refusal=f"{edit.path}: {refusal}")
        texts[edit.path] = after
    differing = [path for path, text in texts.items() if text != before[path]]
    changed = tuple(FileChange(path=path, text=texts[path]) for path in differing)
    return Applied(changes=changed, refusal="" if changed else "the edits change nothing")


def changes_between(
    before: Mapping[str, str | None], after: Mapping[str, str | None], read: ReadFile
) -> tuple[FileChange, ...]:
    """Return the changes from one state of files to another; `read` gives those not in a state."""
    changes = []
    for path in dict.fromkeys((*before, *after)):
        new = after[path] if path in after else read(path)
        if new != (before[path] if path in before else read(path)):
            changes.append(FileChange(path=path, text=new))
    return tuple(changes)


def fix_digest(edits: tuple[Edit, ...]) -> str:
    """Name what a fix does to the code, whatever its edits are called; empty for no fix.

    New tests that come with it do not count: with another test it is still the same fix.
    """
    if not edits:
        return ""
    mending = [e for e in edits if e.action != "create" or not TEST.search(e.path)]
    edited = ((e.path, e.action, e.old.split(), e.new.split()) for e in mending or edits)
    text = "|".join(sorted(map(repr, edited)))
    return f"f1:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _occupied(
    edit: Edit, texts: dict[str, str | None], before: dict[str, str | None], paths: Collection[str]
) -> str:
    if edit.action != "create":
        return ""
    if before[edit.path] is None and edit.path in paths:
        return "the file already exists and is not text"
    gone = {path for path, text in texts.items() if text is None and before[path] is not None}
    existing = [*(path for path in paths if path not in gone), *(p for p, t in texts.items() if t)]
    if any(path.startswith(f"{edit.path}/") for path in existing):
        return "a folder has this name"
    above = next((path for path in existing if edit.path.startswith(f"{path}/")), "")
    return f"{above} is a file, not a folder" if above else ""


def _edited(edit: Edit, before: str | None) -> tuple[str | None, str]:
    if edit.action == "create":
        return (edit.new, "") if before is None else (None, "the file already exists")
    if before is None:
        return None, "the file does not exist"
    if edit.action == "delete":
        return None, ""
    if not edit.old:
        return None, "the old text is empty"
    old, new = _as_lines_end_here(edit, before)
    times = before.count(old)
    if times != 1:
        return None, f"the old text occurs {times} times instead of once"
    return before.replace(old, new, 1), ""


def _as_lines_end_here(edit: Edit, text: str) -> tuple[str, str]:
    if 2 * text.count("\r\n") <= text.count("\n"):
        return edit.old, edit.new
    old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (edit.old, edit.new))
    return (old, new) if old in text else (edit.old, new)


def diff(edits: tuple[Edit, ...]) -> str:
    """Return the edits as a readable diff, without line numbers: what is taken out, what is put in.

    >>> print(diff((Edit(path="a.py", old="a\\nb", new="a\\nc"),)))
    --- a.py
    +++ a.py
     a
    -b
    +c
    """
    shown: list[str] = []
    for edit in edits:
        shown.append(f"--- {'/dev/null' if edit.action == 'create' else edit.path}")
        shown.append(f"+++ {'/dev/null' if edit.action == 'delete' else edit.path}")
        old, new = edit.old.splitlines(), edit.new.splitlines()
        rows = [*unified_diff(old, new, n=DIFF_CONTEXT, lineterm="")][2:]
        shown += (row for row in rows if not row.startswith("@@"))
    return "\n".join(shown)


def edits_for(
    path: str, lines: Sequence[str], changed: Mapping[int, str], description: str
) -> tuple[Edit, ...]:
    r"""Make an edit that puts `changed` (line number to new text) into a file; none if impossible.

    It takes neighbouring lines along until its old text is the only one of its kind.

    >>> [edit] = edits_for("a.py", ("x()", "a", "x()"), {3: "y()"}, "")
    >>> edit.old, edit.new
    ('a\nx()', 'a\ny()')
    """
    if not changed or not all(1 <= number <= len(lines) for number in changed):
        return ()
    whole, first, last = "\n".join(lines), min(changed), max(changed)
    while whole.count("\n".join(lines[first - 1 : last])) != 1 and (first, last) != (1, len(lines)):
        first, last = max(1, first - 1), last if first > 1 else last + 1
    block = range(first, last + 1)
    edit = Edit(
        path=path,
        old="\n".join(lines[n - 1] for n in block),
        new="\n".join(changed.get(n, lines[n - 1]) for n in block),
        description=description,
    )
    return (edit,) if not apply((edit,), lambda _: whole).refusal else ()


# What the edits of a finding may rest on: files that were read, and what the analysis says.

NO_INSTRUCTIONS = InjectedInstructions()


class Grounds(Value):
    """Files and reasoning that the edits of a fix may rest on."""

    read: frozenset[str] | None = None  # files that their writer saw; None: that is not asked
    reasoning: str = ""  # what the analysis says: a file goes where this names it
    failing: frozenset[str] = frozenset()  # files of the error's own frames
    orders: InjectedInstructions = NO_INSTRUCTIONS  # that no edit may repeat


def grounds_of(
    answer: Answer | Analysis,
    case: Case,
    evidence: tuple[Evidence, ...],
    read: Collection[str],
    orders: InjectedInstructions = NO_INSTRUCTIONS,
) -> Grounds:
    """Return what the edits of a finding may rest on: files that were read, and its reasoning."""
    steps = answer.next_steps if isinstance(answer, Analysis) else answer.suggested_next_steps
    frames = case.trace.frames if case.trace else ()
    return Grounds(
        read=frozenset((*read, *(item.path for item in evidence if item.verified))),
        reasoning="\n".join((answer.root_cause, *steps)),
        failing=frozenset(frame.repo_path for frame in frames if frame.repo_path),
        orders=orders,
    )


# The edits of a fix judged: half a fix is worse than none, but a test or a note may be left out.

_PROSE = (".md", ".rst", ".adoc", ".txt")


class JudgedFix(Value):
    """The edits of a fix that may be proposed, and those that may not."""

    edits: tuple[Edit, ...] = ()
    refused: tuple[RefusedEdit, ...] = ()


def judged(edits: tuple[Edit, ...], code: CodeReader, grounds: Grounds) -> JudgedFix:
    """Judge the edits of a fix, in order, by the prompt's rules; raises what the reader raises."""
    if not edits:
        return JudgedFix()
    paths = frozenset(code.paths())
    kept: tuple[Edit, ...] = ()
    reasons: list[tuple[Edit, str]] = []
    for edit in edits:
        if path := inside(edit.path):
            edit = as_written(edit.model_copy(update={"path": path}), code.read_file(path))
        why = (
            _misplaced(edit, paths, grounds)
            or apply((*kept, edit), code.read_file, paths).refusal.removeprefix(f"{edit.path}: ")
            or _apart(edit, paths, grounds)
            or _undue_deletion(edit, grounds)
            or _ordered(edit, grounds)
        )
        reasons.append((edit, why))
        kept = kept if why else (*kept, edit)
    changes = apply(kept, code.read_file, paths).changes if kept else ()
    broken = {}
    for change in changes:
        before, text = code.read_file(change.path), change.text
        complaint = syntax.complaint(change.path, text, before) if text is not None else ""
        broken[change.path] = _it(change.path, complaint or hidden_in(change, before or ""))
    reasons = [(edit, why or broken.get(edit.path, "")) for edit, why in reasons]
    rejected = (edit.path for edit, why in reasons if why)
    missing = [p for p in rejected if not TEST.search(p) and not p.lower().endswith(_PROSE)]
    if missing:
        whole = f"it depends on the refused edit of {ascii(missing[0][:200])[1:-1]}"
    else:
        whole = too_large(changes, code.read_file)
    reasons = [(edit, why or whole) for edit, why in reasons]
    refused = (
        RefusedEdit(
            path=clean(edit.path[:400]), reason=why, is_slip=not _misplaced(edit, paths, Grounds())
        )
        for edit, why in reasons
        if why
    )
    sound = tuple(edit for edit, why in reasons if not why)
    return JudgedFix(edits=sound, refused=tuple(dict.fromkeys(refused)))


def _misplaced(edit: Edit, paths: Collection[str], grounds: Grounds) -> str:
    if not inside(edit.path):
        return "its path is not in the repository"
    if why := refusal(edit.path, paths):
        return _it(edit.path, why)
    is_unread = grounds.read is not None and edit.path in paths and edit.path not in grounds.read
    return "it was not read" if is_unread else ""


def _apart(edit: Edit, paths: Collection[str], grounds: Grounds) -> str:
    """Say why a new file is out of place: it lies beside a file that was read, or below tests."""
    if edit.action != "create" or grounds.read is None:
        return ""
    folder = _folder(edit.path)
    if TEST.search(edit.path):
        top = edit.path.partition("/")[0]
        fits = folder in ("", top) or any(path.startswith(f"{top}/") for path in paths)
    else:
        fits = any(_folder(path) == folder for path in grounds.read)
    return "" if fits else "it is a new file in a folder of which no file was read"


def _undue_deletion(edit: Edit, grounds: Grounds) -> str:
    if edit.action != "delete" or grounds.read is None:
        return ""
    if edit.path in grounds.failing:
        return "the error was raised in it: deleting it fixes nothing"
    return "" if edit.path in grounds.reasoning else "the analysis gives no reason to delete it"


def _ordered(edit: Edit, grounds: Grounds) -> str:
    new = repeated_instruction(f"{edit.path}\n{edit.new}", grounds.orders, literals=False)
    is_old = new and repeated_instruction(edit.old, grounds.orders, literals=False) == new
    return quarantine_reason("it", new) if new and not is_old else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _it(path: str, why: str) -> str:
    return re.sub(f"^{re.escape(ascii(path[:200])[1:-1])} ", "it ", why)


def reasons(refused: Iterable[RefusedEdit]) -> tuple[str, ...]:
    """Say in a line each what was refused and why, for whoever judges the finding."""
    return tuple(f"the edit of {ascii(o.path[:200])[1:-1]} is refused: {o.reason}" for o in refused)


# Which fixes may be made at all: a fix as a whole, in the files that it leaves.


def refused(
    edits: Iterable[Edit],
    applied: Applied,
    seen: Collection[str],
    read: ReadFile,
    paths: Collection[str] = (),
) -> str:
    """Say why a fix cannot be, or may not be, proposed; empty where it may.

    `seen` are the files that whoever made it was shown, `paths` all files of the tree.
    """
    for edit in edits:
        if holds_mask(f"{edit.old}\n{edit.new}"):
            return f"the edit of {edit.path} contains a redaction mask instead of a value"
    if why := applied.refusal or edit_policy.refused(applied.changes, read, paths):
        return why
    for change in applied.changes:
        if change.path not in seen and read(change.path) is not None:
            return f"it changes {change.path}, which was not read"
    for change in applied.changes:
        text = change.text
        if text is not None and (why := syntax.complaint(change.path, text, read(change.path))):
            return why
    return ""


# A tree in which some edits were made, read like any other.


class ChangedCode:
    """A `CodeReader` of a tree with edits made; its history, and who wrote what, are the tree's."""

    def __init__(self, code: CodeReader, edits: tuple[Edit, ...]) -> None:
        """Make the edits on what `code` reads; raises `GiveUp` where they cannot be made."""
        applied = apply(edits, code.read_file, code.paths())
        if edits and applied.refusal:
            raise GiveUp(applied.refusal)
        self._code, self.commit = code, code.commit
        self.list_directory, self.blame = code.list_directory, code.blame
        self.show_commit, self.history = code.show_commit, code.history
        self.compare, self.paths_changed = code.compare, code.paths_changed
        self._texts = {change.path: change.text for change in applied.changes}

    def paths(self) -> tuple[str, ...]:
        """Return every file that is there now, sorted."""
        present = {path for path, text in self._texts.items() if text is not None}
        return tuple(sorted(present.union(self._code.paths()) - (self._texts.keys() - present)))

    def read_file(self, path: str) -> str | None:
        """Return the text as it is now."""
        return self._texts[path] if path in self._texts else self._code.read_file(path)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Find lines as they are now, those of changed files first."""
        new = tuple(
            SearchHit(path=name, line=number, text=line)
            for name, text in self._texts.items()
            if not path or name == path or name.startswith(f"{path.rstrip('/')}/")
            for number, line in enumerate((text or "").splitlines(), 1)
            if query in line
        )
        rest = self._code.search(query, path, limit)
        return (*new, *(hit for hit in rest if hit.path not in self._texts))[:limit]

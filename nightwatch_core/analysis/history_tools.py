"""The tools blame, show_commit and history."""

from collections.abc import Iterable, Iterator

from nightwatch_core.analysis.file_tools import MOST
from nightwatch_core.analysis.prompts import place, spans
from nightwatch_core.analysis.tool_context import Refusal, ToolAnswer, ToolContext, listed
from nightwatch_core.code.code_view import MARK, around, name, visible
from nightwatch_core.code.languages import BULK, kind_of, rank_of
from nightwatch_core.code.limits import SHOWN_LINE
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, ChangedFile, LoggedCommit
from nightwatch_core.models.conversation import LinesBlamed
from nightwatch_core.text.escaping import block, line

_BLAMED_LINE = 1_500  # characters of a line that is shown
_COMMITS = 12  # of a history


def blame(at: ToolContext, limit: int, path: str, start: int, end: int | None = None) -> ToolAnswer:
    """Show which commits last wrote lines, the newest first."""
    first, last = sorted((start, end or start))
    known = at.code.blame(path, first, min(last, first + MOST - 1))
    if not known:
        total = len(at.lines(path))
        if first > total:
            raise Refusal(f"{path} has {total} lines; ask for a line up to {total}.")
        raise Refusal(f"Who wrote {path}:{first} is not known here; go on without blame.")
    # texts without what could start a second line
    plain = tuple(
        item.model_copy(
            update={
                "sha": item.sha[:10],
                "author": line(item.author, 100),
                "subject": line(item.subject, 200),
            }
        )
        for item in known
    )
    by_commit: dict[str, list[Blame]] = {}
    for item in sorted(plain, key=lambda item: (item.at, -item.line), reverse=True):
        by_commit.setdefault(item.sha, []).append(item)
    rows = []
    for commit, *more in by_commit.values():
        numbers = [commit.line, *(item.line for item in more)]
        where = f"{name(path)} lines {spans(numbers)}" if more else place(path, commit.line)
        moved = f" [then in {name(commit.path)}]" if commit.path not in ("", path) else ""
        rows.append(f"{where} {_logged(commit)}{moved}")
    if len(plain) == 1:
        rows.append(around(plain[0].text, "", _BLAMED_LINE))
    return ToolAnswer(listed(rows, limit, "more, ask for fewer lines"), LinesBlamed(blames=plain))


def show_commit(at: ToolContext, limit: int, id: str, path: str = "") -> ToolAnswer:
    """Show a commit's message and what it changed; of one path about `limit` characters."""
    limit = limit if path else limit // 3
    known = at.code.show_commit(_one_line(id, "a commit's id"), path)
    if known is None:
        raise Refusal("No such commit is known up to the one that failed; history lists them.")
    files = sorted(known.files, key=lambda file: (rank_of(file.path, at.frame_files), file.path))
    message = block(known.message, 800) if known.message != known.commit.subject else ""
    where = f" below {path}" if path else ""
    count = f"{known.changed or len(files)} files changed{where}:"
    rows = [*filter(None, (_logged(known.commit), message, count))]
    for file in files[:20]:
        old = f" (was {name(file.old_path)})" if file.old_path else ""
        rows.append(f"{name(file.path)}{old} +{file.added} -{file.removed}")
    if (more := max(known.changed, len(files)) - 20) > 0:
        rows.append(f"{MARK}{more} more files, ask with path ...]")
    diffs = _diffs(files, limit - sum(len(row) + 1 for row in rows), known.commit.sha)
    return ToolAnswer("\n".join((*rows, *diffs)), known)


def history(at: ToolContext, limit: int, path: str = "", symbol: str = "") -> ToolAnswer:
    """List commits that touched a path, or added or removed a text, newest first."""
    text = _one_line(symbol, "a symbol or text") if symbol else ""
    try:
        known = at.code.history(path, text, _COMMITS)
    except GiveUp as trouble:
        hint = "Use blame, or history of a path."
        raise Refusal(f"No history: {line(str(trouble))}. {hint}") from None
    if not known:
        what = f" that added or removed {text!r}" if text else ""
        where = f" below {path}" if path else ""
        return ToolAnswer(f"No commit is known{what}{where}.")
    rows = [_logged(item) for item in known]
    if len(known) == _COMMITS:
        rows.append(f"{MARK}there may be older ones ...]")
    text = listed(rows, limit, "more, give a path or a symbol")
    return ToolAnswer(text)


def _one_line(text: str, what: str) -> str:
    if not text.strip() or len(text) > 200 or not text.replace("\t", " ").isprintable():
        raise Refusal(f"Give {what} in one line of at most 200 visible characters.")
    return text.strip()


def _logged(commit: LoggedCommit | Blame) -> str:
    author, subject = line(commit.author, 100), line(commit.subject, 200)
    is_new = commit.pull and f"(#{commit.pull})" not in subject
    pull = f" (#{commit.pull})" if is_new else ""
    return f"{commit.sha[:10]} {commit.at:%Y-%m-%d} {author}: {subject}{pull}"


def _diffs(files: Iterable[ChangedFile], room: int, sha: str) -> Iterator[str]:
    """Changes of files, bulk left out, as far as there is room; a cut is at an end and said."""
    for file in files:
        if not file.diff or kind_of(file.path) in BULK:
            continue
        if room <= 0:
            yield f"{MARK}more changes: show_commit {sha[:10]} with path ...]"
            return
        rows = [visible(row[:SHOWN_LINE]) for row in file.diff.rstrip("\n").split("\n")]
        more = f"more lines: show_commit {sha[:10]}, path {name(file.path)}"
        shown = listed([f"\n--- {name(file.path)}", *rows], room, more)
        room -= len(shown) + 1
        yield shown

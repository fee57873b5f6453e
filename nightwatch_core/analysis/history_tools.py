"""The tools blame, show_commit and history."""

from collections.abc import Iterable, Iterator, Sequence

from nightwatch_core.analysis.file_tools import MOST
from nightwatch_core.analysis.prompts import place, spans
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, around, name, visible
from nightwatch_core.code.languages import BULK, kind_of, rank_of
from nightwatch_core.code.limits import SHOWN_LINE
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, ChangedFile, CommitDiff, LoggedCommit
from nightwatch_core.models.conversation import CommitsShown, LinesBlamed
from nightwatch_core.text.escaping import block, line

_AUTHOR, _SUBJECT, _MESSAGE = 100, 200, 800  # characters
_BLAMED_LINE = 1_500  # characters of a line that is shown
_COMMITS = 12  # of a history
_TEXT = 200  # characters of what is looked for, or of a commit's name
_NAMED = 20  # files of a commit that are named


def blame(at: ToolContext, limit: int, path: str, start: int, end: int | None = None) -> ToolAnswer:
    """Tell which commits last wrote lines, the newest first."""
    first, last = sorted((start, end or start))
    known = at.code.blame(path, first, min(last, first + MOST - 1))
    if not known:
        total = len(at.lines(path))
        if first > total:
            raise Refusal(f"{path} has {total} lines; ask for a line up to {total}.")
        raise Refusal(f"Who wrote {path}:{first} is not known here; go on without blame.")
    plain = tuple(map(_plain, known))
    by_commit: dict[str, list[Blame]] = {}
    for item in sorted(plain, key=lambda item: (item.at, -item.line), reverse=True):
        by_commit.setdefault(item.sha, []).append(item)
    rows = [_blamed(path, lines) for lines in by_commit.values()]
    if len(plain) == 1:
        rows.append(around(plain[0].text, "", _BLAMED_LINE))
    return ToolAnswer(_cut(rows, limit, "ask for fewer lines"), LinesBlamed(blames=plain))


def show_commit(at: ToolContext, limit: int, id: str, path: str = "") -> ToolAnswer:
    """Show a commit's message and what it changed; of one path about `limit` characters."""
    limit = limit if path else limit // 3
    known = at.code.show_commit(_one_line(id, "a commit's id"), path)
    if known is None:
        raise Refusal("No such commit is known up to the one that failed; history lists them.")
    files = sorted(known.files, key=lambda file: (rank_of(file.path, at.frame_files), file.path))
    message = block(known.message, _MESSAGE) if known.message != known.commit.subject else ""
    where = f" below {path}" if path else ""
    count = f"{known.changed or len(files)} files changed{where}:"
    rows = [*filter(None, (_logged(known.commit), message, count)), *_names(known, files)]
    used = sum(len(row) + 1 for row in rows)
    diffs = _diffs(files, limit - used, known.commit.sha)
    value = CommitsShown(commits=(known.commit,), diff=known)
    return ToolAnswer("\n".join((*rows, *diffs)), value)


def history(at: ToolContext, limit: int, path: str = "", symbol: str = "") -> ToolAnswer:
    """List commits that touched a path, or added or removed a text, newest first."""
    text = _one_line(symbol, "a symbol or text") if symbol else ""
    try:
        known = at.code.history(path, text, _COMMITS)
    except GiveUp as trouble:
        raise Refusal(
            f"No history: {line(str(trouble))}. Use blame, or history of a path."
        ) from None
    if not known:
        what = f" that added or removed {text!r}" if text else ""
        return ToolAnswer(
            f"No commit is known{what}{f' below {path}' if path else ''}.", CommitsShown()
        )
    rows = [_logged(item) for item in known]
    if len(known) == _COMMITS:
        rows.append(f"{MARK}there may be older ones ...]")
    return ToolAnswer(_cut(rows, limit, "give a path or a symbol"), CommitsShown(commits=known))


def _one_line(text: str, what: str) -> str:
    if not text.strip() or len(text) > _TEXT or not text.replace("\t", " ").isprintable():
        raise Refusal(f"Give {what} in one line of at most {_TEXT} visible characters.")
    return text.strip()


def _plain(item: Blame) -> Blame:
    """The same without what could start a second line."""
    author, subject = line(item.author, _AUTHOR), line(item.subject, _SUBJECT)
    return item.model_copy(update={"sha": item.sha[:10], "author": author, "subject": subject})


def _blamed(path: str, lines: Sequence[Blame]) -> str:
    one, numbers = lines[0], [line.line for line in lines]
    where = place(path, numbers[0]) if len(numbers) == 1 else f"{name(path)} lines {spans(numbers)}"
    pull = _pull(one.pull, one.subject)
    before = f" [then in {name(one.path)}]" if one.path and one.path != path else ""
    return f"{where} {one.sha} {one.at:%Y-%m-%d} {one.author}: {one.subject}{pull}{before}"


def _logged(commit: LoggedCommit) -> str:
    author, subject = line(commit.author, _AUTHOR), line(commit.subject, _SUBJECT)
    pull = _pull(commit.pull, subject)
    return f"{commit.sha[:10]} {commit.at:%Y-%m-%d} {author}: {subject}{pull}"


def _pull(number: int, subject: str) -> str:
    """The pull request, where the subject does not name it already."""
    named = f"(#{number})"
    return f" {named}" if number and named not in subject else ""


def _names(known: CommitDiff, files: Sequence[ChangedFile]) -> Iterator[str]:
    for file in files[:_NAMED]:
        old = f" (was {name(file.old_path)})" if file.old_path else ""
        yield f"{name(file.path)}{old} +{file.added} -{file.removed}"
    more = max(known.changed, len(files)) - _NAMED
    if more > 0:
        yield f"{MARK}{more} more files, ask with path ...]"


def _diffs(files: Iterable[ChangedFile], room: int, sha: str) -> Iterator[str]:
    """Changes of files, bulk left out, as far as there is room; a cut is at an end and said."""
    for file in files:
        if not file.diff or kind_of(file.path) in BULK:
            continue
        head = f"\n--- {name(file.path)}"
        rows = [visible(row[:SHOWN_LINE]) for row in file.diff.rstrip("\n").split("\n")]
        room -= len(head) + 1
        if room <= 0:
            yield f"{MARK}more changes: show_commit {sha[:10]} with path ...]"
            return
        yield head
        for number, row in enumerate(rows):
            room -= len(row) + 1
            if room < 0:
                left = len(rows) - number
                path = name(file.path)
                yield f"{MARK}{left} more lines: show_commit {sha[:10]}, path {path} ...]"
                return
            yield row


def _cut(rows: Sequence[str], limit: int, ask: str) -> str:
    used = 0
    for number, row in enumerate(rows):
        used += len(row) + 1
        if used > limit and number:
            return "\n".join((*rows[:number], f"{MARK}{len(rows) - number} more, {ask} ...]"))
    return "\n".join(rows)

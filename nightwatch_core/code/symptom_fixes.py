"""Symptom fixes: changes that make a crash go away and leave its cause.

The patterns are in `rules/symptom_fixes.toml`; here is what they are compared with.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import enclosing_functions, functions_around
from nightwatch_core.code.languages import NAMED_LINE, ending_of, parsed
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.syntax import BODIES, nodes_in, text_of
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, load_rules

COMPARED_LINES = 5_000  # lines of two texts
OPTIONAL_ROWS = 60  # lines above a guard in which its value may be said to be optional

Kind = Literal[
    "guard_only",
    "swallowed_exception",
    "widened_exception",
    "masking_default",
    "timeout_inflation",
    "retry_inflation",
    "lowered_log_level",
    "silenced_report",
    "widened_ignore",
    "weakened_test",
    "skipped_test",
    "deleted_test",
    "weakened_validation",
    "commented_out",
    "cast",
    "ignored_warning",
]


class Guard(Value):
    """A way to pass over nothing: its pattern, and the code without it."""

    pattern: Pattern
    plain: str


class QuietCall(Value):
    """A call that does not fail, in files of some endings; `strict` is one whose place it took."""

    endings: frozenset[str]
    pattern: Pattern
    strict: Pattern = re.compile("")
    kind: Kind = "guard_only"


class SymptomFixRules(Value):
    """`rules/symptom_fixes.toml`."""

    never: frozenset[Kind]
    log_levels: tuple[str, ...]
    keywords: frozenset[str]
    level_names: dict[str, str]
    patterns: dict[str, Pattern]
    casts: tuple[Pattern, ...]
    guards: tuple[Guard, ...]
    quiet_calls: tuple[QuietCall, ...]
    lenient_apis: tuple[QuietCall, ...]


TABLES = load_rules("symptom_fixes", SymptomFixRules)
P = TABLES.patterns
NEVER = TABLES.never
_HANDLERS = frozenset(("except_clause", "except_group_clause", "rescue", "catch_clause"))
_STATEMENTS = frozenset(("statement_list", "then", "block", "do"))
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLAIN_WORDS = ("new", "return", ">", "->", "=>")  # say nothing by themselves


class SymptomFix(Value):
    """A line that treats the symptom; `line` counts from 1, in the new file."""

    kind: Kind
    path: str
    line: int
    code: str = ""


class Pair(NamedTuple):
    """A line that took the place of another: stripped texts, and the new one's row from 0."""

    old: str
    new: str
    row: int


class Change:
    """Both versions of one file, and the lines in which they differ."""

    def __init__(self, path: str, before: str, after: str) -> None:
        self.path, self.ending = path, ending_of(path)
        self.before, self.after = before, after
        self.is_test = bool(TEST.search(path))
        self.old = [line[:NAMED_LINE].strip() for line in before.split("\n")]
        self.new = [line[:NAMED_LINE].strip() for line in after.split("\n")]
        too_long = max(len(self.old), len(self.new)) > COMPARED_LINES
        compared = difflib.SequenceMatcher(None, self.old, self.new, autojunk=too_long)
        self.blocks = [block for block in compared.get_opcodes() if block[0] != "equal"]
        removed = (row for _, a, b, *_ in self.blocks for row in range(a, b))
        added = (row for *_, c, d in self.blocks for row in range(c, d))
        self.removed = {row: self.old[row] for row in removed if self.old[row]}
        self.added = {row: self.new[row] for row in added if self.new[row]}
        self.first_row = min(self.added, default=0)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Changed lines: by position in blocks of as many old as new ones, else by likeness."""
        return tuple(pair for block in self.blocks for pair in self._paired(*block[1:]))

    def _paired(self, a: int, b: int, c: int, d: int) -> Iterator[Pair]:
        old = [line for line in self.old[a:b] if line]
        rows = [row for row in range(c, d) if self.new[row]]
        if len(old) == len(rows):
            yield from (Pair(line, self.new[row], row) for line, row in zip(old, rows, strict=True))
            return
        for line in old:
            texts = [self.new[row] for row in rows]
            near = difflib.get_close_matches(line, texts, n=1, cutoff=0.5)
            if near:
                row = rows.pop(texts.index(near[0]))
                yield Pair(line, near[0], row)

    @cached_property
    def old_nodes(self) -> tuple[Node, ...]:
        """Return the nodes of the old version's tree; none where no grammar reads it."""
        root = parsed(self.path, self.before)
        return tuple(nodes_in(root)) if root is not None else ()

    @cached_property
    def new_nodes(self) -> tuple[Node, ...]:
        """Return the nodes of the new version's tree."""
        root = parsed(self.path, self.after)
        return tuple(nodes_in(root)) if root is not None else ()

    def removed_with(self, pattern: str, *, comments: bool = True) -> list[str]:
        """List removed lines that match a pattern; without `comments` none that is one."""
        return [self.old[row] for row in _matching(self.removed, pattern, comments)]

    def added_with(self, pattern: str, *, comments: bool = True) -> list[int]:
        """List rows of added lines that match a pattern; without `comments` none that is one."""
        return _matching(self.added, pattern, comments)

    def fix(self, kind: Kind, row: int) -> SymptomFix:
        """Name what stands at a row of the new version."""
        code = self.new[row] if row < len(self.new) else ""
        return SymptomFix(kind=kind, path=self.path, line=row + 1, code=code[:200])


def symptom_fixes(path: str, before: str, after: str) -> tuple[SymptomFix, ...]:
    """List the symptom fixes in a change to one file, surest first."""
    if before == after:
        return ()
    change = Change(path, before, after)
    rules = OF_TESTS if change.is_test else RULES
    return tuple(fix for rule in rules for fix in rule(change))


# Lines and statements


def _matching(lines: dict[int, str], pattern: str, comments: bool) -> list[int]:
    rows = [row for row, line in lines.items() if P[pattern].search(line)]
    return rows if comments else [row for row in rows if not P["comment"].match(lines[row])]


def _squeezed(line: str) -> str:
    return re.sub(r"[\s()\]{};]", "", line)


def body_of(node: Node) -> Node | None:
    """Find the statements of a handler or an `if`; None where it has none."""
    for name in ("consequence", "body"):
        if child := node.child_by_field_name(name):
            return child
    return next((child for child in node.named_children if child.type in BODIES), None)


def _statements_of(body: Node | None) -> tuple[str, ...]:
    if body is None:
        return ()
    children = body.named_children if body.type in BODIES else [body]
    inner = [child for child in children if not child.type.endswith("comment")]
    if len(inner) == 1 and inner[0].type in _STATEMENTS:
        return _statements_of(inner[0])
    return tuple(" ".join(_whole(child).split()) for child in inner)


def _whole(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _does_nothing(statements: tuple[str, ...]) -> bool:
    return all(P["does_nothing"].match(text) or P["logs"].match(text) for text in statements)


def _has_effective_change(change: Change, explained: Collection[int]) -> bool:
    """Return whether new code was added outside the `explained` rows."""
    old = change.removed.values()
    gone = _squeezed("\n".join((*old, *(_unguarded(line)[0] for line in old))))
    words = {*_PLAIN_WORDS, *P["word"].findall(" ".join(old))}
    for row, line in change.added.items():
        is_plain = any(P[name].match(line) for name in ("comment", "import", "closing"))
        is_part = _squeezed(_unguarded(P["assigned"].sub("", line))[0]) in gone
        if row in explained or is_plain or is_part or _does_nothing((line,)):
            continue
        if _squeezed(line) not in gone and not words.issuperset(P["word"].findall(line)):
            return True
    return False


# Values that may rightly be missing


def _may_be_missing(change: Change, guard: str, row: int, before: str = "") -> bool:
    names = {name for name in _NAME.findall(guard) if name not in TABLES.keywords}
    lines = [*change.new[max(0, row - OPTIONAL_ROWS) : row + 1], before]
    is_plain = bool(P["callback"].search(guard) or P["sent"].search(before))
    is_right = is_plain or _is_asked_already(change, guard, row, before)
    return is_right or any(
        _is_sent(name, lines) or _is_optional(name, change, row) for name in names
    )


def _is_asked_already(change: Change, guard: str, row: int, before: str) -> bool:
    # elsewhere in the function, or by the code that was there
    asked = _asked(guard) - _asked(before)
    inner = functions_around(change.path, change.after, row + 1)[:1]
    rows = {at for item in inner for at in range(item.line - 1, item.end)} - change.added.keys()
    lines = (*change.removed.values(), *(change.new[at] for at in rows))
    return bool(asked) and asked <= set().union(*map(_asked, lines))


def _asked(line: str) -> set[str]:
    paths = (match[match.lastgroup or 0] for match in P["asked"].finditer(line))
    return {re.sub(r"[?&]?(?:\.|->)", ".", path) for path in paths} - TABLES.keywords


def _is_sent(name: str, lines: list[str]) -> bool:
    # by people, networks or files, where nothing is an ordinary answer
    sets = rf"(?:\b{name}\b\s*(?::\s*[\w\[\]| ]+)?(?::=|=(?!=))|\b{name},\s*\w+\s*:?=)"
    return any(map(re.compile(rf"{sets}.*(?:{P['sent'].pattern})").search, lines))


def _is_optional(name: str, change: Change, row: int) -> bool:
    # where another function says so, it means a variable of its own, unless it is a member
    declared = re.compile(
        rf"(?:[:@$]?\b{name}\b\)?\s*(?::\s*[^=,;)]*)?[^,;()=]{{0,40}}{P['optional'].pattern}"
        rf"|(?:@Nullable\s+[\w<>.]+|\bOptional<[^>]*>|\w+\?|\?[\w\\]+)\s+\$?{name}\b|\b{name}\?\s*:"
        rf"|\b{name}\s*=\s*(?:models\.)?\w+\([^()]*(?:null\s*=\s*True|nullable=True)"
        rf"|belongs_to\s+:{name}\b[^\n]*optional)"
    )
    said = [at for at, line in enumerate(change.old) if declared.search(line)]
    around = {item.name for item in functions_around(change.path, change.after, row + 1)}

    def is_meant(at: int) -> bool:
        inner = {item.name for item in functions_around(change.path, change.before, at + 1)}
        is_member = re.search(rf"[.@>]{name}\b", change.old[at])
        return bool(not inner or inner & around or is_member)

    return any(map(is_meant, said))


# Guards: the same code as before, except that a missing value is passed over


def _unguarded(line: str) -> tuple[str, tuple[str, ...]]:
    defaults: list[str] = []
    for guard in TABLES.guards:
        if "default" in guard.pattern.groupindex:
            defaults += (match["default"] or "" for match in guard.pattern.finditer(line))
        line = guard.pattern.sub(guard.plain, line)
    return line, tuple(defaults)


def _guarded_lines(change: Change) -> Iterator[SymptomFix]:
    lone = change.added.keys() - {pair.row for pair in change.pairs} if change.removed else set()
    for pair in (*change.pairs, *(Pair("", change.added[row], row) for row in sorted(lone))):
        (old, had), (new, has) = _unguarded(pair.old), _unguarded(pair.new)
        is_softer = len(pair.new) > len(pair.old) or len(has) > len(had)
        is_alone = len(has) > len(had) and _is_only_change(change, pair.row, new)
        is_same = _squeezed(pair.old) == _squeezed(pair.new)
        if (_squeezed(old) != _squeezed(new) and not is_alone) or is_same or not is_softer:
            continue
        if not _may_be_missing(change, pair.new, pair.row, pair.old):
            is_none = all(P["none"].match(value) for value in has if value not in had)
            yield change.fix("guard_only" if is_none else "masking_default", pair.row)


def _is_only_change(change: Change, row: int, plain: str) -> bool:
    # the rest of the change names parts of what stood there, and so does the line itself
    names = [name for line in change.added.values() for name in P["assigned"].findall(line)]
    known = {*_NAME.findall(" ".join(change.removed.values())), *names}
    new = {*_NAME.findall(P["assigned"].sub("", plain))} - known
    return not (new and len(change.added) > 1) and not _has_effective_change(change, {row})


def _guard_only(change: Change) -> Iterator[SymptomFix]:
    inline = tuple(_guarded_lines(change))
    blocks = [node for node in change.new_nodes if _is_guard(change, node)]
    explained = {fix.line - 1 - above for fix in inline for above in (0, 1)}
    explained.update(row for node in blocks for row in _rows(node))
    if (inline or blocks) and not _has_effective_change(change, explained):
        yield from inline
        for node in blocks:
            last = "".join(_statements_of(body_of(node))[-1:])
            kind: Kind = "masking_default" if P["made_up"].search(last) else "guard_only"
            yield change.fix(kind, node.start_point[0])


def _rows(node: Node) -> range:
    return range(node.start_point[0], node.end_point[0] + 1)


def _is_guard(change: Change, node: Node) -> bool:
    """Return whether a new `if` skips a missing value and may not be missing."""
    condition = node.child_by_field_name("condition") if P["if_node"].match(node.type) else None
    if condition is None or condition.start_point[0] not in change.added:
        return False
    asked = " ".join(_whole(condition)[:NAMED_LINE].split())
    body = "".join(_statements_of(body_of(node))[:1])
    is_right = (
        not P["asks_for_nothing"].search(asked)
        or _is_rightly_empty(change, asked, node)
        or _ends_recursion(node)
        or _extends_guard(change, asked, node)
        or _may_be_missing(change, f"{asked} then {body}", node.start_point[0])
    )
    return not is_right and _passes_over(change, node)


def _passes_over(change: Change, node: Node) -> bool:
    body = body_of(node)
    if _does_nothing(_statements_of(body)):
        return True
    after = node.next_named_sibling
    if after is not None and after.start_point[0] in change.added:
        text = " ".join(_whole(after)[:NAMED_LINE].split())
        if text.startswith("return") and _does_nothing((text,)):
            return True
    # the code that stood there before is now inside
    return body is not None and any(change.new[row] for row in {*_rows(body)} - change.added.keys())


def _extends_guard(change: Change, asked: str, node: Node) -> bool:
    # a value more is asked for where others were, and the answer was there
    pairs = (pair for pair in change.pairs if pair.row == node.start_point[0])
    old = {path for pair in pairs for path in _asked(pair.old)}
    answer = _squeezed("".join(_statements_of(body_of(node))))
    return bool(old) and old <= _asked(asked) and answer in _squeezed(change.before)


def _ends_recursion(node: Node) -> bool:
    function = next(enclosing_functions(node), None)
    named = function.child_by_field_name("name") if function else None
    if function is None or named is None:
        return False
    body = text_of(function)[named.end_byte - function.start_byte :]
    return bool(re.search(rf"\b{re.escape(text_of(named))}\(", body))


def _is_rightly_empty(change: Change, asked: str, node: Node) -> bool:
    # an empty collection or zero is asked for before a use that cannot take one
    match = P["emptiness"].search(asked)
    name = next((group for group in match.groups() if group), "") if match else ""
    if not name:
        return False
    below = "\n".join(change.new[node.start_point[0] + 1 : node.end_point[0] + 8])
    reduced = r"max|min|reduce|inject|Average|Max|Min|sample|sum"
    used = re.compile(
        rf"/\s*(?:float\w*\(|len\(|count\(|\(double\)\s*)*\$?{name}\b|\b(?:max|min|reduce|mean"
        rf"|median|random\.choice)\w*\(+[^()]*\b{name}\b|%\s*\$?{name}\b"
        rf"|\.\.\.\$?{name}\b|\b{name}\b(?:\[(?:0|-1)\]|\.(?:get\(0\)|eq\(0\)|{reduced})\b)"
    )
    return bool(used.search(below))


def _lenient_api(change: Change) -> Iterator[SymptomFix]:
    """Find calls that no longer fail, where the change does nothing else about the failure."""
    hits = {
        pair.row: api.kind
        for pair in change.pairs
        for api in TABLES.lenient_apis
        if change.ending in api.endings
        and api.strict.search(pair.old)
        and api.pattern.search(pair.new)
        and not api.pattern.search(pair.old)
        and not _may_be_missing(change, pair.new, pair.row, pair.old)
    }
    if not _has_effective_change(change, hits):
        yield from (change.fix(kind, row) for row, kind in hits.items())


def _unsafe_cast(change: Change) -> Iterator[SymptomFix]:
    forced = P["forced_cast"]
    for pair in change.pairs:
        (old, had), (new, has) = _without_casts(pair.old), _without_casts(pair.new)
        is_forced = len(forced.findall(pair.new)) > len(forced.findall(pair.old))
        is_new = old == new and has > had and len(pair.new) > len(pair.old)
        if is_forced or (is_new and not _may_be_missing(change, pair.new, pair.row, pair.old)):
            yield change.fix("cast", pair.row)


def _without_casts(line: str) -> tuple[str, int]:
    casts = sum(len(pattern.findall(line)) for pattern in TABLES.casts)
    for pattern in TABLES.casts:
        line = pattern.sub("", line)
    return re.sub(r"[\s()]", "", line), casts


# Exceptions


def _handlers(nodes: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[str, ...], tuple[str, ...]]]:
    # each `except`, `rescue` or `catch` with the classes it catches and its statements
    for node in nodes:
        if node.is_named and node.type in _HANDLERS:
            body, whole = body_of(node), _whole(node)
            head = whole[: body.start_byte - node.start_byte] if body else whole.split("\n")[0]
            yield node, _classes(head), _statements_of(body)


def _classes(head: str) -> tuple[str, ...]:
    plain = P["handler"].sub("", head.strip().rstrip("{:").strip())
    text = P["caught_as"].sub("", plain).strip().strip("()").strip()
    names = (name.strip().lstrip("*\\") for name in re.split(r"[,|]", text))
    return tuple(
        name for name in names if name and (name[0].isupper() or "." in name or "::" in name)
    )


def _is_broad(caught: tuple[str, ...]) -> bool:
    return not caught or any(P["broad"].match(name) for name in caught)


def _quiet_handlers(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node, caught, statements in _handlers(nodes):
        names = (name.rpartition(".")[2].rpartition("::")[2] for name in caught)
        is_ordinary = not _is_broad(caught) and all(map(P["ordinary_absence"].search, names))
        if _does_nothing(statements) and not is_ordinary:
            yield node


def _swallowed(change: Change) -> Iterator[SymptomFix]:
    quiet = tuple(_quiet_handlers(change.new_nodes))
    # as many as before: what they catch and how they log is for other rules to judge
    if len(quiet) > len(tuple(_quiet_handlers(change.old_nodes))):
        new = (node for node in quiet if change.added.keys() & set(_rows(node)))
        yield from (change.fix("swallowed_exception", node.start_point[0]) for node in new)
    yield from _quiet_calls(change)
    if change.ending == ".go":
        yield from _unchecked_errors(change)


def _quiet_calls(change: Change) -> Iterator[SymptomFix]:
    for row, line in change.added.items():
        for call in TABLES.quiet_calls:
            match = call.pattern.search(line) if change.ending in call.endings else None
            if not match or any(call.pattern.search(old) for old in change.removed.values()):
                continue
            caught = match.groupdict().get("caught") or ""
            is_ordinary = all(P["ordinary_absence"].search(name) for name in caught.split(","))
            if not (caught and is_ordinary):
                yield change.fix("swallowed_exception", row)


def _unchecked_errors(change: Change) -> Iterator[SymptomFix]:
    for pair in change.pairs:
        new = P["go_unchecked"].match(pair.new)
        call = new["call"].strip() if new else ""
        is_call = call.endswith(")") and ".(" not in call
        if is_call and P["go_checked"].match(pair.old) and pair.old.endswith(call):
            yield change.fix("swallowed_exception", pair.row)
    quiet = [node.start_point[0] for node in change.new_nodes if _ignores_error(node)]
    if len(quiet) > sum(map(_ignores_error, change.old_nodes)):
        yield change.fix("swallowed_exception", quiet[0])


def _ignores_error(node: Node) -> bool:
    condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
    if condition is None or not re.fullmatch(r"err\w* != nil", text_of(condition)):
        return False
    return _does_nothing(_statements_of(body_of(node)))


def _widened(change: Change) -> Iterator[SymptomFix]:
    for pair in change.pairs:
        if not (P["handler"].match(pair.old) and P["handler"].match(pair.new)):
            continue
        # one class more may be just what was missing; everything is not
        if not _is_broad(_classes(pair.old)) and _is_broad(_classes(pair.new)):
            yield change.fix("widened_exception", pair.row)


def _limit_increase(change: Change) -> Iterator[SymptomFix]:
    """Find timeouts and retries that grew, and waits and retries that are new."""
    number, again = P["limit_number"], P["again"]
    for pair in change.pairs:
        values = zip(number.findall(pair.old), number.findall(pair.new), strict=False)
        is_same = number.sub("0", pair.old) == number.sub("0", pair.new)
        is_grown = any(_limit(new) > _limit(old) for old, new in values)
        if is_grown and (is_same or (again.search(pair.new) and again.search(pair.old))):
            if again.search(pair.new):
                yield change.fix("retry_inflation", pair.row)
            elif P["patience"].search(f"{change.path.rpartition('/')[2]} {pair.new}"):
                yield change.fix("timeout_inflation", pair.row)
    new: dict[str, Kind] = {"sleeps": "timeout_inflation", "tries": "retry_inflation"}
    for pattern, kind in new.items():
        if not change.removed_with(pattern):
            rows = change.added_with(pattern, comments=False)
            yield from (change.fix(kind, row) for row in rows)


def _limit(number: str) -> float:
    if number[0].isalpha():
        return 10.0**12  # None, nil, null, Infinity
    return float(number.replace("_", ""))


# Failures that are no longer logged, reported or checked


def _suppressed_logging(change: Change) -> Iterator[SymptomFix]:
    old = [_level(line) for line in change.removed_with("logging")]
    levels = {row: _level(change.added[row]) for row in change.added_with("logging")}
    named = [row for row, level in levels.items() if level]
    is_lower = old and named and sum(levels.values()) < sum(old) and len(levels) >= len(old)
    if is_lower and not _has_effective_change(change, named):
        yield change.fix("lowered_log_level", named[0])


def _level(line: str) -> int:
    match = P["level"].search(line)
    name = match[1].lower() if match else ""
    name = TABLES.level_names.get(name, name)
    return TABLES.log_levels.index(name) + 1 if name in TABLES.log_levels else 0


def _silenced_report(change: Change) -> Iterator[SymptomFix]:
    gone = change.removed_with("reports", comments=False)
    gone = [line for line in gone if not P["import"].match(line)]
    if len(gone) > len(change.added_with("reports", comments=False)):
        yield change.fix("silenced_report", change.first_row)
    for row in change.added_with("dropped"):
        if any(map(P["report_filter"].search, change.new[max(0, row - 12) : row])):
            yield change.fix("silenced_report", row)


def _widened_ignore(change: Change) -> Iterator[SymptomFix]:
    old_errors = set(P["named_error"].findall("\n".join(change.old)))
    for row in change.added_with("named_error", comments=False):
        line = change.added[row]
        is_new = set(P["named_error"].findall(line)) - old_errors
        if is_new and not P["import"].match(line) and _is_in_ignore_list(change, row):
            yield change.fix("widened_ignore", row)


def _is_in_ignore_list(change: Change, row: int) -> bool:
    if P["growing_ignore"].search(change.new[row]):
        return True
    for above in reversed(change.new[max(0, row - 30) : row]):
        if re.search(r"[\[({]\s*$|=>?\s*%[wi]\[|:\s*$", above):
            return bool(P["ignoring"].search(above)) and not above.startswith(("if ", "def "))
        if re.match(r"^[\])}]|^$|^end\b", above):
            return False
    return False


def _ignored_warning(change: Change) -> Iterator[SymptomFix]:
    gone = {"", *map(_squeezed, change.removed.values())}  # beside new code it hides nothing
    rows = change.added_with("warnings_off")
    rows = [row for row in rows if _squeezed(P["beside_code"].sub("", change.new[row])) in gone]
    if len(rows) > len(change.removed_with("warnings_off")):
        yield change.fix("ignored_warning", rows[0])


def _commented_out(change: Change) -> Iterator[SymptomFix]:
    comment = P["comment"]
    gone = {re.sub(r"\s", "", old) for old in change.removed.values() if not comment.match(old)}
    for row, line in change.added.items():
        plain = comment.sub("", line).removesuffix("*/").strip()
        is_old = comment.match(line) and len(plain) > 3 and re.sub(r"\s", "", plain) in gone
        if is_old and P["code"].search(plain):
            yield change.fix("commented_out", row)


def _weakened_test(change: Change) -> Iterator[SymptomFix]:
    """Find tests that were deleted, skipped, or check less."""
    is_emptied = change.before.strip() and not change.after.strip()
    if is_emptied or len(change.removed_with("tests")) > len(change.added_with("tests")):
        yield change.fix("deleted_test", change.first_row)
    skips = change.added_with("skips", comments=False)
    if len(skips) > len(change.removed_with("skips")):
        yield change.fix("skipped_test", skips[0])
    for counted in ("asserts", "test_data", "expects_error"):
        if len(change.removed_with(counted)) > len(change.added_with(counted, comments=False)):
            yield change.fix("weakened_test", change.first_row)
            return
    for pair in change.pairs:
        # the `in` of a loop is no comparison
        old, new = (re.sub(r"\bfor\b[^\]]* in\b", "", line) for line in (pair.old, pair.new))
        is_looser = len(P["loose"].findall(new)) > len(P["loose"].findall(old))
        is_weaker = is_looser or _tolerates_more(pair.old, pair.new)
        if is_weaker and P["asserts"].search(pair.old):
            yield change.fix("weakened_test", pair.row)


def _conditional_assert(change: Change) -> Iterator[SymptomFix]:
    for node in (node for node in change.new_nodes if P["if_node"].match(node.type)):
        rows, kept = _rows(node), set(_rows(node)) - change.added.keys()
        is_old = rows[0] in change.added and 2 * len(kept) >= len(rows)
        if is_old and any(P["asserts"].search(change.new[at]) for at in kept):
            yield change.fix("weakened_test", rows[0])


def _tolerates_more(old: str, new: str) -> bool:
    number = P["test_number"]
    if not P["tolerance"].search(new) or number.sub("0", old) != number.sub("0", new):
        return False
    pairs = zip(number.findall(old), number.findall(new), strict=True)
    return any(float(after) > float(before) for before, after in pairs)


def _weakened_validation(change: Change) -> Iterator[SymptomFix]:
    rows = _matching(change.removed, "checks", comments=False)
    gone = [row for row in rows if not _is_replaced(change, row)]
    if len(gone) > len(change.added_with("checks", comments=False)):
        yield change.fix("weakened_validation", change.first_row)
    for pair in change.pairs:
        allows = P["allows_nothing"]
        if allows.search(pair.new) and not allows.search(pair.old):
            yield change.fix("weakened_validation", pair.row)


def _is_replaced(change: Change, row: int) -> bool:
    """Return whether an assertion was for type checkers, or its value is handled in its place.

    Where that passes over a missing value, it is for the rule about guards to judge.
    """
    line = P["string"].sub("", change.old[row])
    if not line.startswith(("assert", "raise", "throw")):
        return False
    above = change.old[max(0, row - 3) : row]
    is_for_types = any(map(P["for_types"].search, (*above, change.old[row])))
    if is_for_types or P["handler"].match("".join(above[-1:])):
        return True  # what a handler translated is raised as it was
    names = {*_NAME.findall(line)} - TABLES.keywords
    new = next((range(c, d) for _, a, b, c, d in change.blocks if a <= row < b), range(0))
    texts = (change.new[at] for at in new)
    added = [text for text in texts if text and not P["comment"].match(text)]
    if not line.startswith("assert"):
        return any(P["acts"].match(text) and not _does_nothing((text,)) for text in added)
    asks = [text for text in added if P["asks"].search(text) and names & {*_NAME.findall(text)}]
    acts = any(not _does_nothing((text,)) for text in added if text not in asks)
    return bool(asks) and (acts or bool(P["asks_for_nothing"].search(line.removeprefix("assert"))))


# Surest first: the first rule that finds something names the change.
RULES: tuple[Callable[[Change], Iterator[SymptomFix]], ...] = (
    _commented_out,
    _widened,
    _swallowed,
    _silenced_report,
    _suppressed_logging,
    _ignored_warning,
    _widened_ignore,
    _limit_increase,
    _unsafe_cast,
    _lenient_api,
    _guard_only,
    _weakened_validation,
)
# Of tests it only counts whether they still check as much: a test may loop, wait and catch.
OF_TESTS = (_commented_out, _weakened_test, _conditional_assert)

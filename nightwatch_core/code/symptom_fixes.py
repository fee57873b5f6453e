"""What the statements of a handler or a guard do: nothing about it, or something."""

import difflib
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from tree_sitter import Node

from nightwatch_core.code.languages import ending_of, parsed
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import (
    BESIDE_ROWS,
    COMPARED_LINES,
    HANDLER_STATEMENTS,
    NAMED_LINE,
    OPTIONAL_ROWS,
)
from nightwatch_core.code.syntax import BODIES, nodes_in, text_of
from nightwatch_core.models.value import Value

# A band-aid: its kind, where it stands, and both versions of the file it was told by.

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
# What no fix needs: it is neither run nor drafted, whatever the setting.
NEVER: frozenset[Kind] = frozenset(("weakened_test", "skipped_test", "deleted_test"))


class BandAid(Value):
    """What a change does instead of mending the cause; `line` counts from 1, in the new file."""

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
        """Compare the lines without their indentation: what is only wrapped stays the same."""
        self.path, self.ending = path, ending_of(path)
        self.before, self.after = before, after
        self.old = [line[:NAMED_LINE].strip() for line in before.split("\n")]
        self.new = [line[:NAMED_LINE].strip() for line in after.split("\n")]
        too_long = max(len(self.old), len(self.new)) > COMPARED_LINES
        compared = difflib.SequenceMatcher(None, self.old, self.new, autojunk=too_long)
        self._blocks = [one for one in compared.get_opcodes() if one[0] != "equal"]

    @property
    def is_test(self) -> bool:
        """Whether the file holds tests."""
        return bool(TEST.search(self.path))

    @cached_property
    def added(self) -> dict[int, str]:
        """New lines by row, without empty ones."""
        rows = (row for *_, c, d in self._blocks for row in range(c, d))
        return {row: self.new[row] for row in rows if self.new[row]}

    @cached_property
    def removed(self) -> dict[int, str]:
        """Lines that are gone, by their old row, without empty ones."""
        rows = (row for _, a, b, *_ in self._blocks for row in range(a, b))
        return {row: self.old[row] for row in rows if self.old[row]}

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Lines that were changed: in a block of as many old as new ones, or by likeness."""
        return tuple(pair for block in self._blocks for pair in self._paired(*block[1:]))

    def _paired(self, a: int, b: int, c: int, d: int) -> Iterator[Pair]:
        old = [line for line in self.old[a:b] if line]
        rows = [row for row in range(c, d) if self.new[row]]
        if len(old) == len(rows):
            yield from (Pair(one, self.new[row], row) for one, row in zip(old, rows, strict=True))
            return
        if len(old) == 1 and len(rows) == 2:
            first, second = rows
            yield Pair(old[0], in_one(self.new[first], self.new[second]), second)
        for one in old:
            texts = [self.new[row] for row in rows]
            near = difflib.get_close_matches(one, texts, n=1, cutoff=0.5)
            if near:
                row = rows.pop(texts.index(near[0]))
                yield Pair(one, near[0], row)

    @cached_property
    def old_nodes(self) -> tuple[Node, ...]:
        """The nodes of the old version's tree; none where no grammar reads it."""
        return self._nodes(self.before)

    @cached_property
    def new_nodes(self) -> tuple[Node, ...]:
        """The nodes of the new version's tree."""
        return self._nodes(self.after)

    def _nodes(self, text: str) -> tuple[Node, ...]:
        root = parsed(self.path, text)
        return tuple(nodes_in(root)) if root is not None else ()

    def is_new(self, node: Node) -> bool:
        """Whether the line on which a node of the new tree begins is an added one."""
        return node.start_point[0] in self.added

    def band_aid(self, kind: Kind, row: int) -> BandAid:
        """Name what stands at a row of the new version."""
        code = self.new[row] if row < len(self.new) else ""
        return BandAid(kind=kind, path=self.path, line=row + 1, code=code[:200])


def in_one(first: str, second: str) -> str:
    """Put what a line gives a name in that name's places in the next one.

    >>> in_one("entry = RATES.get(country)", "return entry.value if entry else 0")
    'return RATES.get(country).value if RATES.get(country) else 0'
    """
    match = re.match(r"(?:(?:const|let|var|final)\s+)?(\$?\w+)\s*:?=\s*([^=].*?);?$", first)
    if not match:
        return second
    return re.sub(rf"(?<![\w.$]){re.escape(match[1])}\b", lambda _: match[2], second)


# Casts that quiet a compiler or turn nothing into something.

CASTS: tuple[re.Pattern[str], ...] = (
    re.compile(r"\s+as\s+(?:any|unknown(?:\s+as\s+[\w.<>\[\]]+)?|never)\b"),
    re.compile(r"<any>"),
    re.compile(r"(?<=[\w)\]])!(?=[.\[);,]|$)"),
    re.compile(r"\.(?:to_s|to_i|to_f)\b|\bString\.valueOf(?=\()"),
    re.compile(r"\b(?:typing\.)?cast\([^(),]+,\s*(?=[\w.]+\))"),
    re.compile(
        r"(?<![\w.])(?:String|Number|Boolean|Array|str|list|dict|Object)\((?=[\w.$\[\]'\"]+\))"
    ),
    re.compile(r"\(\s*(?:string|int|array|float|bool|object|integer)\s*\)\s*(?=\$)"),
    re.compile(r"(?<![\w)])\((?:[A-Z][\w.]*(?:<[\w<>, ?]*>)?)\)\s*(?=\w)"),
    re.compile(r":\s*any\b"),
)
_FORCED = re.compile(r"\bas\s+(?:any|unknown|never)\b|<any>|\w\??:\s*any\b")


def casts(change: Change) -> Iterator[BandAid]:
    """Find lines that are the same as before but for a cast."""
    for pair in change.pairs:
        old, new = _plain(pair.old), _plain(pair.new)
        is_forced = len(_FORCED.findall(pair.new)) > len(_FORCED.findall(pair.old))
        if is_forced or (
            old == new and len(pair.new) > len(pair.old) and _count(pair.new) > _count(pair.old)
        ):
            yield change.band_aid("cast", pair.row)


def _count(line: str) -> int:
    return sum(len(pattern.findall(line)) for pattern in CASTS)


def _plain(line: str) -> str:
    for pattern in CASTS:
        line = pattern.sub("", line)
    return re.sub(r"[\s()]", "", line)


# Values that may rightly be missing, as far as the code before the change says so.

_NAME = re.compile(r"[A-Za-z_]\w*")
_KEYWORDS = frozenset(
    (
        *(
            "if",
            "unless",
            "not",
            "is",
            "None",
            "nil",
            "null",
            "undefined",
            "self",
            "this",
            "return",
        ),
        *("and", "or", "in", "else", "elif", "true", "false", "True", "False", "isset", "empty"),
        *("len", "length", "hasattr", "isinstance", "typeof", "const", "let", "var", "new", "get"),
        *("nil?", "blank", "present", "any", "size", "count", "isEmpty", "is_null", "str", "int"),
    )
)
# Looks at what people, networks and files send: nothing is an ordinary answer.
_SENT = (
    r"\bre\.(?:match|search|fullmatch)\(|\.(?:match|exec)\(|querySelector\(|getElementById\("
    r"|getItem\(|getenv\(|environ\b|process\.env|\bENV\[|\bheaders?\b|\bcookies?\b|\bparams\b"
    r"|\brequest\.(?:GET|POST|args|params|query|body|form|data|json|session|cookies)\b|\breq\.\w+"
    r"|\bargv\b|searchParams|URLSearchParams|\$_(?:GET|POST|COOKIE|SERVER|SESSION|FILES)\b"
    r"|next\([^()]*,\s*None\)|\.(?:preg_match|getParameter|getHeader|QueryString)\b|=~"
)
_OPTIONAL = (
    r"(?:Optional\[|\|\s*None\b|None\s*\||=\s*None\b|=\s*nil\b|=\s*null\b|=\s*undefined\b|:\s*nil\b"
    r"|@Nullable|\bOptional<|\boptional:\s*true|null\s*=\s*True|nullable|null:\s*true"
    r"|blank\s*=\s*True"
    r"|\?\s*[:$]|\?\s+\w+\s*[,;={)]|\|\s*(?:null|undefined)\b|\?:|omitempty|default:\s*(?:nil"
    r"|null))"
)
_WORDS = re.compile(
    r"(?i)\boptional|\bnullable|\b(?:may|can|might|could)\s+(?:be|have no|lack)\s*(?:none|nil"
    r"|null|missing"
    r"|absent|empty|blank|undefined|unset|\w*)|\banonymous|\bguest|\bnot every|\bnot all|\bif any\b"
    r"|\bwithout an?\b|\bwhen (?:given|present|set)\b|\bor (?:none|nil|null)\b|\bsometimes\b"
    r"|\bunless\b.*\bset\b"
)
# The line asked before whether something is there: one more question goes with it.
_ASKED = re.compile(r"([\w.$@]+) (?:&&|and) \1[.\[]|\bhasattr\(|!==? (?:null|undefined) &&")
_IDIOM = re.compile(r"\?\? |\|\| (?=[\[{'\"0-9])")
_COMMENT = re.compile(r"(?:#|//|/\*|^\*|\"\"\"|''')(.*)$")


def may_be_missing(change: Change, guard: str, row: int, unguarded: str = "") -> bool:
    """Tell whether code that stood there before says that the guarded value is optional.

    `guard` is the guarding code, `row` where it stands in the new version, `unguarded` the line
    that it took the place of.
    """
    names = [one for one in _NAME.findall(guard) if one not in _KEYWORDS]
    if not names:
        return False
    above = [
        line
        for index, line in enumerate(change.new[max(0, row - OPTIONAL_ROWS) : row + 1])
        if index + max(0, row - OPTIONAL_ROWS) not in change.added
    ]
    lines = [*above, unguarded]
    if _ASKED.search(unguarded) or _is_custom(change, guard, row):
        return True
    return any(
        _is_sent(name, lines) or _is_optional(name, change) or _is_described(name, lines)
        for name in dict.fromkeys(names)
    )


def _is_custom(change: Change, guard: str, row: int) -> bool:
    """Whether lines beside it, which stay as they are, have the same way with missing values."""
    idiom = _IDIOM.search(guard)
    beside = range(max(0, row - BESIDE_ROWS), min(len(change.new), row + BESIDE_ROWS + 1))
    others = [change.new[one] for one in beside if one not in change.added]
    return idiom is not None and sum(idiom[0] in line for line in others) >= 2


def _is_sent(name: str, lines: list[str]) -> bool:
    setting = re.compile(
        rf"(?:\b{name}\b\s*(?::\s*[\w\[\]| ]+)?(?::=|=(?!=))|\b{name},\s*\w+\s*:?=).*(?:{_SENT})"
    )
    return any(setting.search(line) for line in lines)


def _is_optional(name: str, change: Change) -> bool:
    """Whether the old version declares a name as one that may be nothing."""
    declared = re.compile(
        rf"(?:[:@$]?\b{name}\b\)?\s*(?::\s*[^=,;)]*)?[^,;()=]{{0,40}}{_OPTIONAL}"
        rf"|(?:@Nullable\s+[\w<>.]+|\bOptional<[^>]*>|\w+\?|\?[\w\\]+)\s+\$?{name}\b|\b{name}\?\s*:"
        rf"|\b{name}\s*=\s*(?:models\.)?\w+\([^()]*(?:null\s*=\s*True|nullable=True)"
        rf"|belongs_to\s+:{name}\b[^\n]*optional)"
    )
    return any(
        declared.search(line) and not re.match(r"if\b|elif\b|return\b|unless\b|\}?\s*else", line)
        for line in change.old
    )


def _is_described(name: str, lines: list[str]) -> bool:
    """Whether a comment or docstring that names it, or stands beside it, says so."""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        comment = _COMMENT.search(line)
        words = comment[1] if comment else ""
        if words and _WORDS.search(words) and re.search(rf"\b{name}\b", f"{line} {after}"):
            return True
    return False


# How code of several languages looks away, answers, logs and reports: data.

NOTHING = r"(?:None|nil|null|undefined|NULL|Nothing|default|false|False|true|True)"
_NUMBER = r"[-+]?\d[\d_.]*[a-zA-Z]?"
_TEXT = r"""[rbuf$@]?(?:""|''|``|"[^"]*"|'[^']*'|`[^`]*`)"""
_EMPTY = (
    r"(?:\[\]|\{\}|\(\)|dict\(\)|list\(\)|set\(\)|tuple\(\)|\{\s*\}|array\(\)"
    r"|new \w+(?:<[^>]*>)?\(\)"
    r"|(?:Collections|List|Map|Set|Optional|Array|Enumerable|string|String|Guid)\.[Ee]mpty\w*"
    r"(?:<[^>]*>)?(?:\(\))?|(?:List|Map|Set)\.of\(\)|Array\.new|Hash\.new|\w+\.none"
    r"|Decimal\([^()]*\)"
    r"|BigDecimal\.ZERO|(?:Hash|Map|Set|List|Promise)\.(?:new|resolve)\([^()]*\)|\[\]\w+\{\}"
    r"|map\[\w+\]\w+\{\}|:\w+)"
)
# A value that is the same whatever was asked for.
_CONSTANT = r"(?:[A-Z]\w*\.)*[A-Z][A-Z0-9_]+\b(?![(\w])"
LITERAL = re.compile(rf"(?:{NOTHING}|{_NUMBER}|{_TEXT}|{_EMPTY}|{_CONSTANT})")
LITERALS = re.compile(rf"(?:{LITERAL.pattern})(?:\s*,\s*(?:{LITERAL.pattern}))*")

# A statement of a handler that does nothing about what happened.
LOGS = re.compile(
    r"(?i)^(?:await\s+)?(?:@|\$|[a-z_]\w*(?:\.|->|::))*"
    r"(?:_?log(?:ger|ging)?|console|rails\.logger|print(?:ln|f)?|puts|warn|p|pp|error_log|echo|fmt"
    r"|system\.(?:out|err)|slog|trace|debug|syslog|winston|pino)\b"
    r"(?:(?:\.|->|::)\w+)*\s*[\s(!]|^\w+\.printStackTrace\("
)
LOOKS_AWAY = re.compile(
    rf"^(?:pass|\.\.\.|continue|break|next|;|nil|null|"
    rf"(?:return|next|break)(?:\s+(?:{LITERALS.pattern}))?|(?:{LITERALS.pattern})"
    rf"|(?:(?:var|let|const|final)\s+)?[\w.$@>-]+(?::\s*\w+)?\s*:?=\s*(?:{LITERALS.pattern})"
    rf"|(?:return\s+)?(?:{LITERALS.pattern}))\s*;?$"
)
# What tells somebody that it did not work: the caller, a client, a form.
ANSWERS = re.compile(
    r"(?i)\b(?:raise|throw|rethrow|panic|abort|reject|fail|fatalf?|errorf|errors\.new|halt)\b"
    r"|\b(?:[45]\d\d)\b|\bstatus(?:_?code)?\b|http\.?error|http404|notfound|not_found|badrequest"
    r"|bad_request|unprocessable|forbidden|unauthorized|conflict\b|errors?\.add|add_error|addError"
    r"|\binvalid\w*\(|\bfailure\(|\bErr\(|\{:error\b|\bhead\s+:|redirect|flash|next\(e\w*\)"
    r"|validation\w*error|\breturn\s+(?:[^;]*,\s*)?(?:err|error|e)\b|\bProblem\(|\bResult\."
)
# What is raised where something may rightly be missing: a documented way to say so.
ABSENCE = re.compile(
    r"(?i)not_?found|does_?not_?exist|no_?such|notexist|missing|importerror|stopiteration"
    r"|empty$|queue\.empty|enoent|brokenpipe|epipe|connectionreset|econnreset|cancell?ed|interrupt"
    r"|unicodedecode|notunique|uniqueconstraint|duplicatekey|integrityerror|alreadyexists"
    r"|fileexists"
)
BROAD = re.compile(
    r"^\W*(?:(?:[\w\\:]+(?:\.|\\|::))?(?:Exception|BaseException|StandardError|ScriptError"
    r"|Throwable"
    r"|Error|RuntimeException|RuntimeError|SystemException|object|any|unknown))?(?:\s+\$?\w+)?\W*$"
)
REPORTS = re.compile(
    r"(?i)\b(?:sentry\w*|raven|honeybadger|bugsnag|rollbar|airbrake|newrelic|appsignal|raygun)\b"
    r"|capture_?(?:exception|message|error)|notice_?error|report_?(?:error|exception)"
    r"|rails\.error\.(?:report|record)|notify_?(?:error|exception|team|admins)|mail_admins"
    r"|trackexception|recordexception|record_exception|send_alert|pagerduty"
)
LEVELS = ("trace", "debug", "info", "notice", "warning", "error", "critical")
LEVEL = re.compile(
    r"(?i)(?:(?<=[.>:\"'_ (])|(?<=Log))(trace|debug|info(?:rmation)?|notice|warn(?:ing)?"
    r"|error|exception|critical|fatal|emerg|alert)(?=[\s(\"',)\]:;]|$|f\(|w\()"
)
PATIENCE = re.compile(
    r"(?i)time_?out|deadline|max_?wait|wait_?time|read_?time|ttl\b|delay|interval|tolerance"
    r"|epsilon|threshold|keep_?alive|backoff|sleep|grace"
)
AGAIN = re.compile(r"(?i)retr(?:y|ies)|attempts?\b|max_?tries|\btries\b|redeliver")
IGNORING = re.compile(
    r"(?i)ignor|exclu|skip|suppress|silenc|deny_?list|blocklist|blacklist|before_?send"
    r"|filter_?errors"
    r"|allowed_?(?:errors|failures)|except_?list|rescue_?responses|drop"
)
WARNINGS_OFF = re.compile(
    r"(?i)#\s*noqa|#\s*type:\s*ignore|#\s*pyright:\s*ignore|pylint:\s*disable|eslint-disable"
    r"|@ts-(?:ignore|expect-error|nocheck)|rubocop:disable|#pragma warning disable"
    r"|@SuppressWarnings|//\s*nolint|phpcs:ignore|@phpstan-ignore|@psalm-suppress"
    r"|\[SuppressMessage|warnings\.(?:filterwarnings|simplefilter)\(\s*['\"]ignore"
    r"|error_reporting\(\s*0|\$VERBOSE\s*=\s*nil|#nullable disable|process\.noDeprecation"
    r"|noinspection|\bignore_(?:errors|missing_imports)\s*=\s*true|:\s*\[?['\"]off['\"]"
    r"|^Enabled:\s*false|<NoWarn>|<TreatWarningsAsErrors>false"
)
ASSERTS = re.compile(
    r"\bassert\w*\b|\bexpect\s*[({]|\bexpect\(|\.should\b|\bshould_|\brefute\w*|\bmust_\w+"
    r"|\bt\.(?:Error|Fatal|Fail)\w*\(|\brequire\.\w+\(|\bself\.fail\w*\(|\bverify\(|\bAssert\.\w+"
    r"|->assert\w+\(|::assert\w+\(|\braises\(|\braise_error\b|\.toThrow"
)
SKIPS = re.compile(
    r"(?i)@?(?:pytest\.mark\.)?(?:skip|xfail|unittest\.skip|skipif\(True)\b|\bpytest\.(?:skip|xfail)\("
    r"|\bskipTest\(|\b(?:it|test|describe|context|specify)\.(?:skip|todo|failing)\b"
    r"|^(?:xit|xdescribe|xtest|xcontext|xspecify|pending)\b|^skip\b|@(?:Disabled|Ignore)\b"
    r"|\[(?:Ignore|Skip)|Skip\s*=\s*\"|\bt\.Skip(?:f|Now)?\(|markTestSkipped|markTestIncomplete"
    r"|,\s*skip:|,\s*pending:|\.only\("
)
TESTS = re.compile(
    r"^(?:async\s+)?def\s+test_?\w*|^x?(?:it|test|specify|scenario|describe|context)(?:\.\w+)?\s*[(\s]\s*['\"`]"
    r"|^func\s+Test\w+|^public\s+function\s+test\w+|^@Test\b|^\[(?:Fact|Test|TestMethod|Theory)\b"
    r"|^def\s+test\w*"
)
CHECKS = re.compile(
    r"^validates?\b|^validate\s|\bvalidates_\w+|^raise\b|^(?:if\b.*\)\s*\{?\s*)?throw\b|^assert\b|^panic\(|\bZod\b"
    r"|\babort_if\(|\bArgumentError\b|\bValidationError\(|^(?:Objects\.)?requireNonNull\("
    r"|@(?:NotNull|NotBlank|NotEmpty|Size|Min|Max|Valid|Pattern)\b|\[(?:Required|Range"
    r"|StringLength)"
)
RELAXED = re.compile(
    r"(?i)\b(?:required|strict|validate|verify|check|presence|null:\s*false|raise_on_error"
    r"|raise_exception|safe)\b"
)
COMMENT = re.compile(r"^\s*(?:#(?!!)|//|/\*|\*(?!\w)|--\s|<!--|\{#|;)\s?")
IMPORT = re.compile(
    r"^(?:import|from|require(?:_relative|_once)?|use|using|package|include|export \{)\b"
    r"|^(?:const|let|var)\s[\w{},\s]+=\s*require\("
)
CLOSING = re.compile(
    r"^(?>\)\s*\{|\}?\s*else\s*[{:]?|try\s*\{|try:?|[\])}>;,]|end|then|do|begin|fi)++$"
)

_BODY = BODIES | {"body_statement", "then", "expression_statement"}
_STATEMENTS = frozenset(("statement_list", "then", "block", "do"))


def body_of(node: Node) -> Node | None:
    """Find the statements of a handler or an `if`; None where it has none."""
    for name in ("consequence", "body"):
        if child := node.child_by_field_name(name):
            return child
    return next((one for one in node.named_children if one.type in BODIES), None)


def statements_of(body: Node | None) -> tuple[str, ...]:
    """Give the texts of a body's statements, each on one line, without comments."""
    if body is None:
        return ()
    children = body.named_children if body.type in BODIES else [body]
    inner = [one for one in children if not one.type.endswith("comment")]
    if len(inner) == 1 and inner[0].type in _STATEMENTS:
        return statements_of(inner[0])
    return tuple(" ".join((one.text or b"").decode("utf-8", "replace").split()) for one in inner)


def looks_away(statements: tuple[str, ...]) -> bool:
    """Whether statements do nothing about what happened but, at most, write a line of log.

    >>> looks_away(("logger.warning('no price')", "return None"))
    True
    >>> looks_away(("return render(status=404)",)), looks_away(("return self.fallback()",))
    (False, False)
    """
    if len(statements) > HANDLER_STATEMENTS:
        return False
    return all(
        LOOKS_AWAY.match(one) or (LOGS.match(one) and not _raises(one)) for one in statements
    )


def answers(statements: tuple[str, ...]) -> bool:
    """Whether statements tell the caller, a client or a form that it did not work."""
    return any(ANSWERS.search(one) and not LOGS.match(one) or _raises(one) for one in statements)


def _raises(statement: str) -> bool:
    return bool(re.search(r"(?i)\.(?:fatal|panic)\w*\(|\braise\b|\bthrow\b", statement))


# Exceptions that a change swallows, or catches more of than before.

_HANDLERS = frozenset(("except_clause", "except_group_clause", "rescue", "catch_clause"))
_HEAD = re.compile(r"^(?:except\*?|rescue|\}?\s*catch)\b\s*")
_CAUGHT_AS = re.compile(
    r"\s+as\s+\w+|\s*=>\s*@?\w+|\bfinal\b|(?<=\w)\s+\$?\w+\s*(?=\)\s*$)|\bwhen\b.*$"
)
# Mistakes of the code itself: whoever catches one hides it.
_OWN_MISTAKE = re.compile(
    r"^(?:KeyError|IndexError|LookupError|AttributeError|TypeError|NameError|UnboundLocalError"
    r"|AssertionError|RecursionError|NoMethodError|ArgumentError|NullPointerException"
    r"|NullReferenceException|IndexOutOfBounds\w*|ArrayIndexOutOfBounds\w*|ClassCastException"
    r"|InvalidCastException|IllegalStateException|ReferenceError|ArgumentNullException)$"
)
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue")
# Endings of files, and what cannot fail any more there.
_QUIET_CALLS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    ((".py",), re.compile(r"\b(?:contextlib\.)?suppress\((?P<caught>[^()]*)\)")),
    (
        (".py",),
        re.compile(
            r"return_exceptions=True|fail_silently=True|errors\s*=\s*['\"]ignore['\"]"
            r"|raise_(?:on_)?(?:error|exception)s?=False"
            r"|ignore_errors=True|on_bad_lines=['\"](?:skip|warn)|errors=['\"]coerce"
        ),
    ),
    (
        (".rb", ".rake"),
        re.compile(
            rf"\S\s+rescue\s+(?:\w+;\s*)?(?:{LITERAL.pattern}|return|next)\s*(?:\)|;?\s*end)?\s*$"
        ),
    ),
    ((".rb", ".rake"), re.compile(r"\bexception:\s*false\b")),
    (
        _SCRIPTS,
        re.compile(
            r"\.catch\(\s*(?:(?:async\s*)?(?:\(\s*\w*\s*\)|\w+)\s*=>\s*(?:\{\s*(?:return;?\s*)?\}"
            rf"|\(?(?:{LITERAL.pattern})\)?|console\.\w+\([^()]*\)|void 0)"
            r"|function\s*\w*\(\w*\)\s*\{\s*\}|noop|_\.noop|console\.\w+)\s*\)"
        ),
    ),
    ((".php",), re.compile(r"(?:^|[=(,!]|\breturn)\s*@(?:\$?\w+(?:->|::)?)+\s*\(")),
    ((".go",), re.compile(r"^(?:_\s*,\s*){0,3}_\s*=\s*\w[\w.]*\(|(?:^|\W)recover\(\)")),
    ((".rs",), re.compile(r"\.(?:unwrap_or_default\(\)|ok\(\)\s*;)|^let\s+_\s*=")),
    ((".yml", ".yaml"), re.compile(r"(?i)continue[-_]on[-_]error:\s*true")),
)
_UNCHECKED = re.compile(r"^(?P<names>[\w\s,]+?),\s*_\s*(?P<set>:?=)(?P<call>.*)$")
_IS_CHECKED = re.compile(r"^[\w\s,]*\berr\w*\s*:?=")


class Handler(NamedTuple):
    """One `except`, `rescue` or `catch`: what it catches, its statements, its row."""

    caught: tuple[str, ...]
    statements: tuple[str, ...]
    row: int
    node: Node

    @property
    def is_broad(self) -> bool:
        """Whether it catches whatever is raised."""
        return not self.caught or any(BROAD.match(one) for one in self.caught)


def handlers_of(nodes: tuple[Node, ...]) -> tuple[Handler, ...]:
    """List the handlers of a tree."""
    return tuple(_handler(node) for node in nodes if node.is_named and node.type in _HANDLERS)


def _handler(node: Node) -> Handler:
    body = body_of(node)
    whole = (node.text or b"").decode("utf-8", "replace")
    head = whole[: body.start_byte - node.start_byte] if body else whole.split("\n")[0]
    return Handler(_classes(head), statements_of(body), node.start_point[0], node)


def _classes(head: str) -> tuple[str, ...]:
    """Name what a handler's head says that it catches; JavaScript's says nothing."""
    plain = head.strip().rstrip("{:").strip()
    text = _CAUGHT_AS.sub("", _HEAD.sub("", plain)).strip().strip("()").strip()
    names = (one.strip().lstrip("*\\") for one in re.split(r"[,|]", text))
    return tuple(one for one in names if one and (one[0].isupper() or "." in one or "::" in one))


def swallowed(change: Change) -> Iterator[BandAid]:
    """Find handlers that are new, or do nothing any more, and calls that never fail now."""
    before = {one.caught: one for one in handlers_of(change.old_nodes)}
    for handler in handlers_of(change.new_nodes):
        known = before.get(handler.caught)
        is_changed = any(row in change.added for row in _rows(handler.node))
        if is_changed and _hides(handler) and not (known and _same(known, handler)):
            yield change.band_aid("swallowed_exception", handler.row)
    yield from _quiet_calls(change)
    yield from _unchecked(change)


def _same(one: Handler, other: Handler) -> bool:
    return one.statements == other.statements


def _rows(node: Node) -> range:
    return range(node.start_point[0], node.end_point[0] + 1)


def _hides(handler: Handler) -> bool:
    """Whether nobody hears of what a handler caught, though it should not happen."""
    if answers(handler.statements) or not looks_away(handler.statements):
        return False
    names = (one.rpartition(".")[2].rpartition("::")[2] for one in handler.caught)
    return handler.is_broad or not all(ABSENCE.search(one) for one in names)


def _quiet_calls(change: Change) -> Iterator[BandAid]:
    for row, line in change.added.items():
        for endings, shape in _QUIET_CALLS:
            match = shape.search(line) if change.ending in endings else None
            if not match or any(shape.search(old) for old in change.removed.values()):
                continue
            caught = (match.groupdict().get("caught") or "").split(",")
            if not (caught != [""] and all(ABSENCE.search(one) for one in caught)):
                yield change.band_aid("swallowed_exception", row)


def _unchecked(change: Change) -> Iterator[BandAid]:
    """Find Go's errors that were looked at and are thrown away now."""
    if change.ending != ".go":
        return
    for pair in change.pairs:
        new = _UNCHECKED.match(pair.new)
        is_call = new and new["call"].strip().endswith(")") and ".(" not in new["call"]
        if (
            new
            and is_call
            and _IS_CHECKED.match(pair.old)
            and pair.old.endswith(new["call"].strip())
        ):
            yield change.band_aid("swallowed_exception", pair.row)
    quiet = sum(1 for node in change.old_nodes if _is_quiet(node))
    rows = [node.start_point[0] for node in change.new_nodes if _is_quiet(node)]
    if len(rows) > quiet:
        yield change.band_aid("swallowed_exception", rows[0])


def _is_quiet(node: Node) -> bool:
    """Whether a node asks for an error and does nothing about it."""
    condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
    if condition is None or not re.fullmatch(r"err\w* != nil", text_of(condition)):
        return False
    statements = statements_of(body_of(node))
    return looks_away(statements) and not answers(statements)


def widened(change: Change) -> Iterator[BandAid]:
    """Find handlers that catch everything, or the code's own mistakes, and did not before."""
    for pair in change.pairs:
        if not (_HEAD.match(pair.old) and _HEAD.match(pair.new)):
            continue
        old, new = _classes(pair.old), _classes(pair.new)
        was_broad = not old or any(BROAD.match(one) for one in old)
        is_broad = not new or any(BROAD.match(one) for one in new)
        mistakes = (one for one in set(new) - set(old) if _OWN_MISTAKE.match(one))
        if not was_broad and (is_broad or any(mistakes)):
            yield change.band_aid("widened_exception", pair.row)


# Numbers that were raised so that a failure comes later: patience and further tries.

_NUMBER_INFLATION = re.compile(
    r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?=[a-z]{0,7}\b|\W|$)|\b(?:None|nil|null|Infinity)\b"
)
_SLEEPS = re.compile(
    r"(?i)^(?:await\s+)?(?:time\.|asyncio\.|Thread\.|Task\.|Kernel\.|gevent\.)?(?:u?sleep"
    r"|delay)\b\s*\(?\s*[\w.]"
    r"|setTimeout\(\s*(?:resolve|r|done)|time\.Sleep\("
)
_TRIES = re.compile(
    r"(?i)^@(?:retry\w*|tenacity\.\w+|backoff\.\w+)|\bretry_on\b|^retry\b|\bfor\s+(?:_|attempt"
    r"|tries|retry|i)\w*\s+in\s+range\("
    r"|\.retry\(|p-?retry\(|retry\(|Retryable|\bautoretry_for|for\s*\(\s*(?:let|int"
    r"|var)\s+(?:attempt|tries|retry)"
    r"|\b\w*(?:attempts?|retries|tries)\s*(?:\+=|\+\+|<)|sidekiq_options\s+retry"
)
_WITH = {"None": 10.0**12, "nil": 10.0**12, "null": 10.0**12, "Infinity": 10.0**12}


def inflated(change: Change) -> Iterator[BandAid]:
    """Find numbers of patience or of tries that grew, and waits and tries that are new."""
    for pair in change.pairs:
        old, new = _NUMBER_INFLATION.findall(pair.old), _NUMBER_INFLATION.findall(pair.new)
        is_same = _NUMBER_INFLATION.sub("0", pair.old) == _NUMBER_INFLATION.sub("0", pair.new)
        grown = any(_value(b) > _value(a) for a, b in zip(old, new, strict=False))
        if grown and (is_same or (AGAIN.search(pair.new) and AGAIN.search(pair.old))):
            yield from _named(change, pair.row, pair.new)
    for row, line in change.added.items():
        if COMMENT.match(line):
            continue
        if _SLEEPS.search(line) and not any(_SLEEPS.search(one) for one in change.removed.values()):
            yield change.band_aid("timeout_inflation", row)
        if _TRIES.search(line) and not any(_TRIES.search(one) for one in change.removed.values()):
            yield change.band_aid("retry_inflation", row)


def _named(change: Change, row: int, line: str) -> Iterator[BandAid]:
    """Name what a grown number is of, by its line or the one that opens its call."""
    names = f"{change.path.rpartition('/')[2]} {line}"
    if AGAIN.search(line):
        yield change.band_aid("retry_inflation", row)
    elif PATIENCE.search(names):
        yield change.band_aid("timeout_inflation", row)


def _value(number: str) -> float:
    if number in _WITH:
        return _WITH[number]
    try:
        return float(number.replace("_", ""))
    except ValueError:
        return 0.0


# What a change does beside its guards: lines that neither explain nor only move something.

_WORD = re.compile(r"\w+|[-+*/%<>]=?|[!=]=+")
_PLAIN = ("new", "return", ">", "->", "=>")  # say nothing by themselves
_NAMED = re.compile(r"(?:(?:const|let|var|final)\s+)?\$?\w+\s*:?=\s*([^=].*?);?$")


def has_substance(change: Change, explained: Collection[int]) -> bool:
    """Tell whether lines were added that `explained` rows leave open, and that are no old code."""
    gone = squeezed("".join(change.removed.values()))
    words = {*_PLAIN, *_WORD.findall(" ".join(change.removed.values()))}
    names = [line for line in change.added.values() if _is_named(line, gone)]
    for row, line in change.added.items():
        is_plain = COMMENT.match(line) or IMPORT.match(line) or CLOSING.match(line)
        if row in explained or is_plain or line in names or looks_away((line,)):
            continue
        whole = line
        for name in names:
            whole = in_one(name, whole)
        is_old = squeezed(line) in gone or squeezed(whole) in gone
        if not is_old and not words.issuperset(_WORD.findall(line)):
            return True
    return False


def _is_named(line: str, gone: str) -> bool:
    """Whether a line only names what stood in a line that is gone."""
    match = _NAMED.match(line)
    return bool(match and squeezed(match[1]) in gone)


def squeezed(line: str) -> str:
    """Give a line without blanks and brackets.

    >>> squeezed("items.forEach((item) => {")
    'items.forEachitem=>'
    """
    return re.sub(r"[\s()\]{};]", "", line)

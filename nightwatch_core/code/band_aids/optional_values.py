"""Values that may rightly be missing, as far as the code before the change says so."""

import re

from nightwatch_core.code.band_aids.values import Change
from nightwatch_core.code.limits import BESIDE_ROWS, OPTIONAL_ROWS

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

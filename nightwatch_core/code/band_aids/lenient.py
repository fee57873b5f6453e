"""Calls that took the place of a stricter one, which would have told that something is wrong."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.code.band_aids.bodies import answers
from nightwatch_core.code.band_aids.optional_values import may_be_missing
from nightwatch_core.code.band_aids.substance import has_substance
from nightwatch_core.code.band_aids.values import BandAid, Change, Kind
from nightwatch_core.code.band_aids.vocabulary import LITERAL

_LIT = rf"(?:{LITERAL.pattern})"
_PY, _RB, _JAVA, _CS, _PHP, _GO = (
    (".py",),
    (".rb", ".rake"),
    (".java",),
    (".cs",),
    (".php",),
    (".go",),
)
_JS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue")
_CALL = r"[\w.$]+\(\)"


class Twin(NamedTuple):
    """What stood in the old line, and what takes its place in the new one."""

    endings: tuple[str, ...]
    strict: re.Pattern[str]
    lenient: re.Pattern[str]
    kind: Kind


def _twin(endings: tuple[str, ...], strict: str, lenient: str, kind: Kind = "guard_only") -> Twin:
    return Twin(endings, re.compile(strict), re.compile(lenient), kind)


TWINS: tuple[Twin, ...] = (
    _twin(_PY, r"\.get\(", r"\.filter\(.*\)\.(?:first|last)\(\)"),
    _twin(_PY, r"\bnext\(", rf"\bnext\(.+,\s*{_LIT}\)"),
    _twin(_PY, "", r"\bif [\w.]+ is not None\s*[\])]"),
    _twin(_RB, r"\.find\(", r"\.find_by\("),
    _twin(_RB, r"\.(?:find_by|first|last|take)!", r"\.(?:find_by|first|last|take)\b(?!!)"),
    _twin(_RB, r"\.(?:save|create|update|destroy)!", r"\.(?:save|create|update|destroy)\b(?!!)",
          "swallowed_exception"),
    _twin(_RB, r"\.fetch\([^(),]+\)(?!\s*[{d])", r"\.fetch\([^()]+\)\s*\{|\w\[[^\[\]]+\]"),
    _twin(_RB, r"\.fetch\(", r"\.dig\("),
    _twin(_RB, r"\b(?:Integer|Float)\(", r"\.to_[if]\b", "cast"),
    _twin(_RB, "", r"\.compact\b|\.(?:select|filter)\(&:\w+\)|\.reject\(&:(?:nil|blank)\?\)"),
    _twin(_JS, "", r"\.filter\((?:Boolean|\(?(\w+)\)?\s*=>\s*(?:!!)?\1(?:\??\.\w+)*)\)"),
    _twin(_JS, r"\w\.\w+\.\w", r"\b(?:_|lodash)\.get\(|(?<![.\w])get\(\w+,\s*['\"]"),
    _twin(_JS, r"\bPromise\.all\(", r"\bPromise\.allSettled\(", "swallowed_exception"),
    _twin(_JS, r"\bawait\s", r"^void\s", "swallowed_exception"),
    _twin(_JS, r"['\"](?:unhandledRejection|uncaughtException)['\"]", r"=>\s*\{\s*\}|noop",
          "swallowed_exception"),
    _twin(_JAVA, r"\.(?:get|orElseThrow)\(", r"\.orElseGet\("),
    _twin(_JAVA, "", r"\bObjects::nonNull"),
    _twin(_JAVA, "", r"\bObjects\.requireNonNullElse(?:Get)?\(", "masking_default"),
    _twin(_JAVA, "", r"\bOptional\.ofNullable\(.*\.orElse(?:Get)?\(", "masking_default"),
    _twin(_JAVA, "", rf"({_CALL})\s*==\s*null\s*\?\s*{_LIT}\s*:\s*\1", "masking_default"),
    _twin(_JAVA, r"\.parse\w*\(", r"\bNumberUtils\.to\w+\(", "masking_default"),
    _twin(_JAVA, "", r"\bStringUtils\.(?:trimToEmpty|defaultString|stripToEmpty|nullToEmpty)\(",
          "masking_default"),
    _twin(_CS, r"\.Parse\(", r"^\w+\.TryParse\(", "masking_default"),
    _twin(_CS, r"\w\[[^\[\]]+\]", r"^[\w.]+\.TryGetValue\(", "masking_default"),
    _twin(_CS, r"\([A-Z]\w*\)\s*\w", r"\bas\s+[A-Z]\w*\s*;", "cast"),
    _twin(_PHP, r"\b(?:find|first)OrFail\(", r"(?:::|->)(?:find|first)\("),
    _twin(_PHP, r"->\w+->", r"\boptional\("),
    _twin(_PHP, "JSON_THROW_ON_ERROR", r"json_(?:de|en)code\((?!.*JSON_THROW)",
          "swallowed_exception"),
    _twin(_PHP, "", rf"\?:\s*{_LIT}", "masking_default"),
    _twin(_PHP, "", r"\barray_filter\(\$[\w>-]+\)"),
    _twin(_GO, r"^\w+\s*:?=\s*[\w.]+\.\(", r"^\w+,\s*_\s*:?=\s*[\w.]+\.\(", "cast"),
)  # fmt: skip


def lenient(change: Change) -> Iterator[BandAid]:
    """Find calls that no longer fail, where the change does nothing else about what is wrong."""
    if change.is_test or answers(tuple(change.added.values())):
        return
    hits = {
        pair.row: twin.kind
        for pair in change.pairs
        for twin in TWINS
        if change.ending in twin.endings
        and twin.strict.search(pair.old)
        and twin.lenient.search(pair.new)
        and not twin.lenient.search(pair.old)
        and not may_be_missing(change, pair.new, pair.row, pair.old)
    }
    if not has_substance(change, hits):
        yield from (change.band_aid(kind, row) for row, kind in hits.items())

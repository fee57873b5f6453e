"""Tests and checks that ask for less, and code that was made a comment."""

import re
from collections.abc import Iterator

from nightwatch_core.code.band_aids.values import BandAid, Change
from nightwatch_core.code.band_aids.vocabulary import (
    ASSERTS,
    BROAD,
    CHECKS,
    COMMENT,
    RELAXED,
    SKIPS,
    TESTS,
)

_LOOSE = re.compile(
    r"(?i)assertIsNotNone|assertTrue|assertIn\b|toBeTruthy|toBeDefined|not\.toBeNull"
    r"|assert_not_nil|not_to be_nil"
    r"|assertNotNull|NotNull\(|NotNil\(|assert_kind_of|assertIsInstance|toContain|toMatch"
    r"|be_truthy|be_present"
    r"|anything\(|any\(|is not None|closeTo|be_within|assertAlmostEqual|approx|InDelta|\bin\b"
    r"|toBeGreaterThan"
    r"|assertGreater|>=|<=|\bor\b|\|\||isinstance|assert_includes|assert_operator"
    r"|assertStringContains|Contains\("
    r"|assert_respond_to|assert_nothing_raised|not_to raise_error|assertDoesNotThrow"
    r"|assert_instance_of|IsType|\bNot\b"
)
_TRUE = re.compile(
    r"(?i)assert(?:_|\.|->|::)?(?:\(|\s)*true\b|assertTrue\(true\)|expect\(true\)"
    r"|Assert\.True\(true\)"
)
_UNCHECKED = re.compile(
    r"(?i)\bvalidate\w*['\"]?\s*(?:=>|[:=])\s*false|\bskip_?validations?\b|\bupdate_columns?\b"
    r"|novalidate"
)
_COMPARED = re.compile(
    r"[=!]==?(?!=)|\bis\b(?! not None)|(?i:called_?(?:once_?)?(?:with|times))|\.with\("
)
_RAISES = re.compile(
    r"(?:\braises|assert_?[rR]aises(?:Regex)?|\bassert_raise\w*|\braise_error|\btoThrow(?:Error)?"
    r"|assertThrows(?:Exactly)?|Throws(?:<[\w.]+>)?|expectException)\(([^\n]*?)\)?[);:,\s]*"
    r"(?:as \w+:?)?$"
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
_TOLERANCE = re.compile(r"(?i)delta|places|abs=|rel=|tolerance|within|approx|closeTo|precision")
_CODE = re.compile(
    r"[(=;{}\[]|::|,$|^\s*(?:return|raise|throw|if|for|while|validates?\w*|self|this)\b"
)


def commented_out(change: Change) -> Iterator[BandAid]:
    """Find lines of code that are comments now."""
    gone = {re.sub(r"\s", "", line) for line in change.removed.values() if not COMMENT.match(line)}
    for row, line in change.added.items():
        plain = COMMENT.sub("", line).removesuffix("*/").strip()
        if (
            COMMENT.match(line)
            and len(plain) > 3
            and re.sub(r"\s", "", plain) in gone
            and _CODE.search(plain)
        ):
            yield change.band_aid("commented_out", row)


def weakened_test(change: Change) -> Iterator[BandAid]:
    """Find tests that were deleted, skipped, or ask for less."""
    if not change.is_test:
        return
    yield from _deleted(change)
    old = sum(1 for line in change.removed.values() if SKIPS.search(line))
    skips = [
        row for row, line in change.added.items() if SKIPS.search(line) and not COMMENT.match(line)
    ]
    if len(skips) > old:
        yield change.band_aid("skipped_test", skips[0])
    yield from _asking_less(change)


def _deleted(change: Change) -> Iterator[BandAid]:
    gone = sum(1 for line in change.removed.values() if TESTS.match(line))
    new = sum(1 for line in change.added.values() if TESTS.match(line))
    if gone > new or (change.before.strip() and not change.after.strip()):
        yield change.band_aid("deleted_test", min(change.added, default=0))


def _asking_less(change: Change) -> Iterator[BandAid]:
    gone = [line for line in change.removed.values() if ASSERTS.search(line)]
    kept = {
        row: line
        for row, line in change.added.items()
        if ASSERTS.search(line) and not COMMENT.match(line)
    }
    if len(gone) > len(kept):
        yield change.band_aid("weakened_test", min(change.added, default=0))
        return
    for pair in change.pairs:
        if ASSERTS.search(pair.old) and any(one(pair.old, pair.new) for one in _LESS):
            yield change.band_aid("weakened_test", pair.row)
    for row, line in change.added.items():
        if _TRUE.search(line) and gone:
            yield change.band_aid("weakened_test", row)


def _is_looser(old: str, new: str) -> bool:
    old, new = (re.sub(r"\bfor\b[^\]]* in\b", "", line) for line in (old, new))
    return len(_LOOSE.findall(new)) > len(_LOOSE.findall(old))


def _compares_less(old: str, new: str) -> bool:
    """Whether what was compared is only asked for, or a call for whatever it was made with.

    >>> _compares_less("assert list(s) == [1]", "assert list(s)")
    True
    >>> _compares_less("m.assert_called_once_with(1)", "m.assert_called_once()")
    True
    """
    if not ASSERTS.search(new):
        return False
    return len(_COMPARED.findall(new)) < len(_COMPARED.findall(old))


def _expects_any(old: str, new: str) -> bool:
    """Whether more kinds of exceptions will do, or any message.

    >>> _expects_any("with raises(KeyError, match='a'):", "with raises(KeyError):")
    True
    >>> _expects_any("assertRaises(KeyError)", "assertRaises(ValueError)")
    False
    """
    was, now = _RAISES.search(old), _RAISES.search(new)
    if not was or not now:
        return False
    names, others = ([one.strip() for one in m[1].split(",")] for m in (was, now))
    is_broad = bool(BROAD.match(others[0].removesuffix(".class")))
    return len(others) < len(names) or (is_broad and others[0] != names[0])


def _is_wider(old: str, new: str) -> bool:
    """Whether a tolerance grew; of `places` and `precision`, less is more."""
    if not _TOLERANCE.search(new) or _NUMBER.sub("0", old) != _NUMBER.sub("0", new):
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=False)
    fewer = bool(re.search(r"(?i)places|precision", new))
    return any((float(b) < float(a)) if fewer else (float(b) > float(a)) for a, b in pairs)


_LESS = (_is_looser, _compares_less, _expects_any, _is_wider)


def weakened_validation(change: Change) -> Iterator[BandAid]:
    """Find checks that are gone, or switched off."""
    if change.is_test:
        return
    gone = [
        line for line in change.removed.values() if CHECKS.search(line) and not COMMENT.match(line)
    ]
    kept = [
        line for line in change.added.values() if CHECKS.search(line) and not COMMENT.match(line)
    ]
    if len(gone) > len(kept):
        yield change.band_aid("weakened_validation", min(change.added, default=0))
    if _UNCHECKED.search("\n".join(change.added.values())) and not _UNCHECKED.search(change.before):
        yield change.band_aid("weakened_validation", min(change.added))
    for pair in change.pairs:
        if _is_relaxed(pair.old, pair.new):
            yield change.band_aid("weakened_validation", pair.row)


def _is_relaxed(old: str, new: str) -> bool:
    """Whether a check was switched off, or nothing is let through by it."""
    if re.search(r"allow_(?:nil|blank|null)|\.(?:optional|nullable|nullish|passthrough)\(\)", new):
        return not re.search(
            r"allow_(?:nil|blank|null)|\.(?:optional|nullable|nullish|passthrough)\(\)", old
        )
    is_off = re.sub(r"(?i)\b(?:true|false)\b", "?", old) == re.sub(
        r"(?i)\b(?:true|false)\b", "?", new
    )
    if not is_off or old == new or not RELAXED.search(old):
        return False
    return len(re.findall(r"(?i)\btrue\b", new)) < len(re.findall(r"(?i)\btrue\b", old)) or (
        bool(re.search(r"(?i)null(?:able)?\s*[:=]\s*true", new))
    )

"""What a message says of a call, held against the parameters that a function is written with."""

import re

from nightwatch_core.code.symptoms import Symptom


def can_be_of(
    symptom: Symptom, written: tuple[str, ...], takes: tuple[str, ...], is_ruby: bool
) -> bool:
    """Tell whether the message can be about a function that takes these parameters."""
    takes_any = any(re.match(r"\*\*|&|\.\.\.|\*\w", part) for part in written)
    if symptom.keyword:
        return symptom.keyword not in takes and not any(p.startswith("**") for p in written)
    if symptom.missing:
        missing = re.findall(r"['\":](\w+)", symptom.missing) or re.findall(r"\w+", symptom.missing)
        return bool(missing) and {*missing} - {"and"} <= {*takes}
    numbers = re.findall(r"\d+", symptom.expected)
    plain = written[: written.index("*")] if "*" in written else written
    if is_ruby:
        plain = tuple(part for part in plain if not re.match(r"\w+:", part))
    return bool(numbers) and not takes_any and int(numbers[-1]) in (len(plain), len(plain) + 1)


def plain_name(parameter: str) -> str:
    """Give the bare name of a parameter; empty for separators.

    >>> plain_name("b: int = 3"), plain_name("*"), plain_name("string $name"), plain_name("a:")
    ('b', '', 'name', 'a')
    """
    php = re.search(r"\$(\w+)", parameter)
    match = php or re.match(r"[*&]*(\w+)", parameter)
    return match[1] if match else ""


def complaint_of(symptom: Symptom) -> str:
    """Say what the message complains of, in a few words."""
    if symptom.keyword:
        return f"unknown keyword `{symptom.keyword}`"
    if symptom.missing:
        return f"missing {symptom.missing}"
    if symptom.expected:
        return f"given {symptom.given}, expected {symptom.expected}"
    return symptom.text.split(": ", 1)[-1][:200] or "wrong arguments"

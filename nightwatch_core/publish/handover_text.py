"""What is told of an error whose cause is not known: the same in report and issue.

Plain texts, as hostile as they came: each rendering escapes them for its own format.
"""

from nightwatch_core.models.answer import Handover

NO_CAUSE = "No cause is known"


def place_of(given: Handover) -> str:
    """Where it failed; empty where that is not known.

    >>> place_of(Handover(path="app/a.py", line=3)), place_of(Handover())
    ('app/a.py:3', '')
    """
    return f"{given.path}:{given.line}" if given.path and given.line else given.path


def failing_row(given: Handover) -> str:
    """The failing line's own text; empty where it is not known.

    >>> failing_row(Handover(path="a.py", line=3, lines=("x = 1", "  y(x)"), first_line=2))
    'y(x)'
    """
    at = given.line - given.first_line
    return given.lines[at].strip() if given.first_line and 0 <= at < len(given.lines) else ""


def short_handover(given: Handover) -> str:
    """What is not known, and where it failed, in a sentence.

    >>> short_handover(Handover(unknown="why `x` is None in a.py:3"))
    'Not known: why `x` is None in a.py:3.'
    >>> short_handover(Handover(path="a.py", line=3)), short_handover(Handover())
    ('No cause is known; it failed in a.py:3.', 'No cause is known.')
    """
    if given.unknown.strip():
        return f"Not known: {given.unknown.strip().rstrip('.')}."
    place = place_of(given)
    return f"{NO_CAUSE}; it failed in {place}." if place else f"{NO_CAUSE}."


def handover_facts(given: Handover) -> tuple[tuple[str, str], ...]:
    """What is known besides the place, each under its name.

    >>> handover_facts(Handover(path="a.py", line=3, value="'EUR'"))
    (('What failed', "'EUR'"),)
    """
    facts = (
        ("What failed", given.value),
        ("Line last written by", given.last_change),
    )
    return tuple((name, text) for name, text in facts if text.strip())

"""Names of lessons' files: they end with the fingerprint, so that few files have to be read."""

import re
from collections.abc import Iterable

from nightwatch_core.memory.limits import LONGEST_SLUG
from nightwatch_core.models.knowledge import Lesson

_SHORT = re.compile(r"_[0-9a-f]{8}(?:-[0-9]{1,5})?\.md\Z")
_PLAIN = re.compile(r"_[0-9a-f]{8}\.md\Z")  # the usual one, quicker to see
_OTHER = re.compile(r"[^0-9a-z]")


def file_name(lesson: Lesson) -> str:
    """Where a lesson's document belongs, below the knowledge folder.

    >>> from datetime import date
    >>> file_name(Lesson(fingerprint="v1:1a2b3c4d5e", error_class="KeyError", root_cause="",
    ...                  transaction="Orders#show", first_detected=date(2030, 5, 1)))
    'errors/2030-05-01_keyerror-orders-show_1a2b3c4d.md'
    """
    about = slug(f"{lesson.error_class}-{lesson.transaction}") or "error"
    day, short = lesson.first_detected.isoformat(), short_name(lesson.fingerprint)
    return f"errors/{day}_{about}_{short}.md"


def slug(text: str) -> str:
    """Letters and digits with hyphens between, at most 60.

    >>> slug("ActiveRecord::RecordNotFound-orders/update")
    'activerecord-recordnotfound-orders-update'
    """
    return re.sub(r"[^a-z0-9]+", "-", text[:1_000].lower()).strip("-")[:LONGEST_SLUG].strip("-")


def short_name(fingerprint: str) -> str:
    """What a file's name ends with: at most 8 letters and digits of the fingerprint.

    >>> short_name("v1:1A2b3c4d5e"), short_name("v1:\u65e5")
    ('1a2b3c4d', '0')
    """
    return _OTHER.sub("", fingerprint.rpartition(":")[2].lower())[:8] or "0"


def candidates_for(names: Iterable[str], fingerprint: str) -> tuple[list[str], list[str]]:
    """The names that may hold a fingerprint by what they say, and those that say nothing.

    >>> ours = ["2030-05-01_keyerror_1a2b3c4d-2.md", "2030-05-01_keyerror_ffffffff.md"]
    >>> candidates_for([*ours, "by hand.md"], "v1:1a2b3c4d5e6f7a8b")
    (['2030-05-01_keyerror_1a2b3c4d-2.md'], ['by hand.md'])
    """
    short = short_name(fingerprint)
    alike, silent = [], []
    for name in names:
        if short in name:
            alike.append(name)
        elif not (_PLAIN.match(name, len(name) - 12) or _SHORT.search(name)):
            silent.append(name)
    return alike, silent


def is_named_for(file: str, fingerprints: Iterable[str]) -> bool:
    """Whether a file's name ends with the short name of one of these fingerprints.

    >>> is_named_for("archive/2030-05-01_keyerror_1a2b3c4d.md", ["v1:ffff", "v1:1a2b3c4d5e6f7a8b"])
    True
    """
    shorts = "|".join(sorted({short_name(name) for name in fingerprints}))
    return bool(re.search(rf"_(?:{shorts})(?:-[0-9]{{1,5}})?\.md\Z", file))

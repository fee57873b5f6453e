"""What is planted in a synthetic night, and what only looks like a pattern."""

from typing import Any

from nightwatch_core.models.answer import Evidence
from tests.benchmarks.pattern_teller import (
    ACTIONS,
    AREAS,
    OTHER_TAGS,
    OUTSIDE_SAYINGS,
    SUBJECTS,
    VENDORS,
    Plan,
    Teller,
    change_of,
)

SOME = (2, 3, 4)


def one_cause(teller: Teller) -> None:
    """One cause in other words; some of its cases cite another line, or other classes."""
    story = teller.story()
    count = teller.draw.choice((2, 2, 3, 3, 4))
    change = change_of(41, "41abcdef") if teller.draw.random() < 0.2 else ()
    proved = {"suspects": change, "suspect_commit": "41abcdef"} if change else {}
    names = [teller.analysis(story, **proved) for _ in range(count)]
    teller.plant("cause", names)
    teller.changed += names if change else []


def one_change(teller: Teller) -> None:
    """Cases of different causes that were traced to one merged change."""
    told = {"suspects": change_of(7, "7fedcba9"), "suspect_commit": "7fedcba97fed"}
    count = teller.draw.choice(SOME)
    teller.plant("change", [teller.analysis(teller.story(), **told) for _ in range(count)])


def one_theme(teller: Teller) -> None:
    """Cases of different causes that share two telling tags."""
    theme = teller.themes.pop()
    count = teller.draw.choice((3, 3, 4))
    names = [
        teller.analysis(
            teller.story(), tags=(*theme, *teller.draw.sample(OTHER_TAGS, teller.draw.randrange(2)))
        )
        for _ in range(count)
    ]
    teller.plant("tags", names)


def outside(teller: Teller) -> None:
    """Cases that the analyst calls transient."""
    teller.plant("transient", [_transient(teller, ()) for _ in range(teller.draw.choice(SOME))])


def _transient(teller: Teller, more: tuple[str, ...], **fields: object) -> str:
    vendor = teller.draw.choice(VENDORS)
    cause = teller.draw.choice(OUTSIDE_SAYINGS).format(vendor=vendor)
    tag = teller.draw.choice(("transient", "external-service", "network"))
    lib = f"lib/{vendor.split()[-1].lower()}_client.{teller.ending}"
    at = (Evidence(path=lib, line=teller.draw.randrange(5, 300), quote="x"),)
    told = {"fix": (), "evidence": at, "confidence": teller.draw.choice(("low", "medium"))}
    tags = (tag, *more)
    error_class = teller.own_class()
    told |= {"root_cause": cause, "tags": tags, "error_class": error_class, **fields}
    return teller.analysis(teller.story(teller.draw.choice(teller.subjects)), **told)


def coming_back(teller: Teller) -> None:
    """A class of its own on three nights or more, of one case or of several."""
    name, count = teller.own_class(), teller.draw.choice((1, 1, 2, 3))
    nights = teller.days(teller.draw.choice((3, 4, 6)))
    parts = [tuple(nights[n::count]) for n in range(count)]
    told = [teller.lesson(teller.story(), days, name) for days in parts if days]
    teller.plant("class", told)


def coming_back_in_one_place(teller: Teller) -> None:
    """A class that says little, but again and again in one file."""
    story, name = teller.story(), teller.draw.choice(teller.generic)
    teller.plant("class", [teller.lesson(story, teller.days(4), name)])


def hot_file(teller: Teller) -> None:
    """One file that breaks in many ways, on several nights."""
    first = teller.story()
    count = teller.draw.choice((3, 4, 5))
    defects = teller.draw.sample(teller.defects, count)
    names = []
    for number, (defect, day) in enumerate(zip(defects, teller.days(count), strict=True)):
        subject = teller.subjects.pop()
        story = teller.story(
            subject,
            defect=defect,
            file=first.file,
            line=first.line + 20 * number,
            ident=teller.named(first.subject.words, subject.method),
        )
        names.append(teller.lesson(story, (day,), teller.own_class()))
    teller.plant("place", names)


PLANS: tuple[tuple[Plan, float], ...] = (
    (one_cause, 0.8),
    (one_cause, 0.3),
    (one_change, 0.4),
    (one_theme, 0.4),
    (outside, 0.5),
    (coming_back, 0.5),
    (coming_back_in_one_place, 0.3),
    (hot_file, 0.4),
)


def same_class_elsewhere(teller: Teller) -> None:
    """Two errors of one class and one kind of defect, in two places, about two things."""
    name, defect = teller.draw.choice(teller.generic), teller.draw.choice(teller.defects)
    for _ in range(2):
        teller.analysis(teller.story(defect=defect), error_class=name)


def same_file_otherwise(teller: Teller) -> None:
    """Two unrelated causes in one file, near or far, about one thing or two."""
    one = teller.story()
    teller.analysis(one)
    subject = one.subject if teller.draw.random() < 0.4 else teller.subjects.pop()
    defect = teller.draw.choice([d for d in teller.defects if d != one.defect])
    line = one.line + teller.draw.choice((12, 40, 150))
    other = teller.named(one.subject.words, "reset")
    teller.analysis(teller.story(subject, defect=defect, file=one.file, line=line, ident=other))


def same_defect_elsewhere(teller: Teller) -> None:
    """One kind of defect, about one thing, in two places: two fixes are needed."""
    one = teller.story()
    teller.analysis(one)
    words = (teller.draw.choice(AREAS), "feed")
    stem = "_".join(words) if "_" in one.file else "".join(map(str.title, words))
    file = f"{teller.folders[-1]}/{stem}.{teller.ending}"
    teller.analysis(one._replace(file=file, line=77, ident=teller.named(words, "run")))


def same_line_otherwise(teller: Teller) -> None:
    """Two unrelated causes that both cite a line everything passes through."""
    line = Evidence(path=f"lib/dispatch.{teller.ending}", line=31, quote="run(step)")
    for _ in range(2):
        teller.analysis(teller.story(), evidence=(line,))


def same_subject_otherwise(teller: Teller) -> None:
    """Two errors about one thing, of different defects in different files."""
    one = teller.story()
    teller.analysis(one)
    words = (one.subject.words[0], "importer")
    stem = "_".join(words) if "_" in one.file else "".join(map(str.title, words))
    defect = teller.draw.choice([d for d in teller.defects if d != one.defect])
    other = one._replace(
        defect=defect,
        file=f"{teller.folders[-1]}/{stem}.{teller.ending}",
        line=one.line + 11,
        ident=teller.named(words, "run"),
    )
    teller.analysis(other)


def near_change(teller: Teller) -> None:
    """Cases that a change stands near to, without a proof."""
    for _ in range(2):
        commit = teller.draw.choice(("", "0123456"))
        teller.analysis(teller.story(), suspects=change_of(9, "9aaaaaaa"), suspect_commit=commit)


def few_tags(teller: Teller) -> None:
    """Two cases that share two tags, and three that share one."""
    theme = teller.themes.pop()
    for _ in range(2):
        teller.analysis(teller.story(), tags=theme)
    teller.analysis(teller.story(), tags=theme[:1])


def guesses(teller: Teller) -> None:
    """Low confidence: that guesses are alike tells nothing."""
    theme = teller.themes.pop()
    story = teller.story()
    for _ in range(3):
        teller.analysis(story, tags=theme, confidence="low", fix=())


def sounds_transient(teller: Teller) -> None:
    """Classes that sound like trouble outside; and trouble of our own locks."""
    teller.analysis(teller.story(), error_class="Net::ReadTimeout")
    _transient(teller, ("database-lock",), confidence="medium")


def two_nights(teller: Teller) -> None:
    """A class seen on two nights only, or not for two months."""
    teller.lesson(teller.story(), teller.days(2), teller.own_class())
    teller.lesson(teller.story(), (61, 63, 66, 70), teller.own_class())


def common_class(teller: Teller) -> None:
    """A class that says little, once each in places that have nothing to do with each other."""
    name = teller.draw.choice(teller.generic)
    for day in teller.days(4):
        teller.lesson(teller.story(), (day,), name)


def busy_file(teller: Teller) -> None:
    """A file of two cases; and one of three that tell one story on one night."""
    one, other = teller.story(), teller.story()
    for day in teller.days(2):
        teller.lesson(one, (day,), teller.own_class())
    for _ in range(3):
        teller.lesson(other, (5,), teller.own_class())


DISTRACTIONS: tuple[tuple[Plan, float], ...] = (
    (same_class_elsewhere, 0.6),
    (same_file_otherwise, 0.4),
    (same_line_otherwise, 0.25),
    (same_defect_elsewhere, 0.3),
    (same_subject_otherwise, 0.4),
    (near_change, 0.3),
    (few_tags, 0.4),
    (guesses, 0.3),
    (sounds_transient, 0.4),
    (two_nights, 0.5),
    (common_class, 0.4),
    (busy_file, 0.3),
)


# Errors without a known cause: what comes back on three nights or more, and what does not.

WAITING = ("no answer for {}", "the {} is locked", "could not store the {}", "{} was refused")


def _unknown(teller: Teller, days: tuple[int, ...], **fields: Any) -> str:
    """Add an error without a known cause, in a place and with a class and message of its own."""
    teller.made += 1
    area, action = teller.draw.choice(AREAS), teller.draw.choice(ACTIONS)
    file = f"{teller.draw.choice(teller.folders)}/{area}_{teller.made}.{teller.ending}"
    message = teller.draw.choice(WAITING).format(f"{area} {action}")
    told = {
        "root_cause": "",
        "evidence": (),
        "confidence": "low",
        "module": file,
        "frames": (f"{area}.{action}", f"{area}.run"),
        "message": message,
    }
    error_class = fields.pop("error_class", "") or teller.draw.choice(teller.generic)
    subject = teller.draw.choice(SUBJECTS)
    return teller.lesson(teller.story(subject), days, error_class, **{**told, **fields})


def comes_back_unknown(teller: Teller) -> None:
    """An error of which only the place is known; of one in three, not even that."""
    without_place = {"module": "", "frames": (), "transaction": f"jobs/{teller.made}/run"}
    fields = without_place if teller.draw.random() < 0.34 else {}
    days = teller.days(teller.draw.choice((3, 5, 9)))
    teller.plant("unexplained", [_unknown(teller, days, **fields)])


def one_class_at_two_places(teller: Teller) -> None:
    """Two errors of one class and one message, in two functions of one file or in two files."""
    same = {"error_class": teller.draw.choice(teller.generic), "message": "the value is missing"}
    if teller.draw.random() < 0.5:
        same["module"] = f"{teller.folders[0]}/shared_{teller.made}.{teller.ending}"
    for function in ("store.open", "store.close"):
        days = teller.days(4)
        teller.plant("unexplained", [_unknown(teller, days, frames=(function,), **same)])


def one_place_that_says_two_things(teller: Teller) -> None:
    """Two errors of one class in one function whose messages have nothing in common."""
    same = {
        "error_class": teller.draw.choice(teller.generic),
        "module": f"{teller.folders[0]}/gateway_{teller.made}.{teller.ending}",
        "frames": ("gateway.call",),
    }
    for message in ("the remote side closed the channel", "no credentials were found for tenant"):
        teller.plant("unexplained", [_unknown(teller, teller.days(3), message=message, **same)])


def one_error_in_other_words(teller: Teller) -> None:
    """One error whose values and routes vary: a document a night, and nothing that joins them."""
    same = {
        "error_class": teller.draw.choice(teller.generic),
        "module": f"{teller.folders[0]}/reader_{teller.made}.{teller.ending}",
        "frames": ("reader.parse", "reader.read"),
    }
    values = teller.draw.sample(("LU", "4711", "Oslo", "'abc'", "a7f3e9b2c4"), 4)
    names = [
        _unknown(teller, (day,), message=f"cannot read the value {value} of this row", **same)
        for value, day in zip(values, teller.days(4), strict=True)
    ]
    teller.plant("unexplained", names)


def unknown_noise(teller: Teller) -> None:
    """Errors of one night and of two, each in a place of its own."""
    for count in (1, 1, 2, 2):
        _unknown(teller, teller.days(count))


def unknown_and_over(teller: Teller) -> None:
    """An error that came for many nights, and stopped more than a month ago."""
    _unknown(teller, (52, 53, 55, 58, 60))


def explained_since(teller: Teller) -> None:
    """An error whose cause is known, and an older document of it that knows none."""
    story = teller.story(teller.draw.choice(SUBJECTS))
    name = teller.lesson(story, teller.days(2), teller.own_class())
    _unknown(teller, teller.days(4), aliases=(name,))


UNEXPLAINED: tuple[tuple[Plan, float], ...] = (
    (comes_back_unknown, 0.7),
    (comes_back_unknown, 0.4),
    (one_class_at_two_places, 0.4),
    (one_place_that_says_two_things, 0.3),
    (one_error_in_other_words, 0.4),
    (unknown_noise, 0.6),
    (unknown_and_over, 0.4),
    (explained_since, 0.3),
)

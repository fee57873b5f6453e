"""Which lines two changes touch, though they were made on different commits."""

import pytest

from nightwatch_core.code.diffs import Span, change_in, holds, meet
from nightwatch_core.models.code import ChangedFile

TODAY = "".join(f"line number {n}\n" for n in range(1, 41))


def change(diff, path="a.py", text=TODAY):
    return change_in(ChangedFile(path=path, diff=diff), path, text)


def hunk(at, *rows):
    return "\n".join((f"@@ -{at},3 +{at},3 @@", *rows))


AT_20 = hunk(19, " line number 19", "-line number 20", "+line twenty", " line number 21")


@pytest.mark.parametrize(
    ("diff", "spans"),
    [
        (AT_20, (Span(19, 20),)),
        (AT_20.replace("-19,3", "-119,3"), (Span(19, 20),)),  # numbers of an older commit
        (AT_20.replace("@@ -19,3 +19,3 @@", "@@"), (Span(19, 20),)),  # no numbers at all
        (AT_20.replace(" line number 19", " gone since"), (Span(19, 20),)),  # another neighbour
        (AT_20.replace("-line number 20", "-line that is gone"), ()),
        (hunk(20, " line number 20", "+put between", " line number 21"), (Span(20, 20),)),
        ("@@ too large to be shown @@", ()),
        ("", ()),
        ("@@ -" + "9" * 5000 + " @@\n-x", ()),
    ],
)
def test_a_change_is_found_where_its_lines_stand_today(diff, spans):
    assert change(diff).spans == spans


def test_of_several_places_the_nearest_counts():
    text = "".join(f"begin the block\nsame old line {n % 1}\n" for n in range(10))
    diff = hunk(9, " begin the block", "-same old line 0", "+new")
    assert change(diff, text=text).spans == (Span(9, 10),)


@pytest.mark.parametrize(
    ("other", "touches"),
    [
        (hunk(20, " line number 20", "-line number 21", "+x", " line number 22"), True),  # next to
        (hunk(21, " line number 21", "-line number 22", "+x", " line number 23"), False),
        (hunk(20, " line number 20", "+put between", " line number 21"), True),
        (hunk(1, "-line number 20", "+its neighbours are others", "-and so is this one"), True),
    ],
)
def test_changes_meet_where_they_overlap_or_touch(other, touches):
    assert meet(change(AT_20), change(other)) is touches
    assert not meet(change(AT_20), change(other, path="b.py"))


def test_the_same_result_is_the_same_whatever_stands_beside_it():
    ours = change(hunk(19, " line number 19", "-line number 20", "+    line   twenty"))
    more = change(f"{AT_20}\n{hunk(30, '-line number 30', '+line thirty')}")
    assert holds([more], [ours])
    assert not holds([ours], [more])
    assert not holds([change(hunk(19, "-line number 20"))], [ours])
    gone = change(hunk(19, " line number 19", "-line number 20"))
    assert holds([gone], [gone])
    assert not holds([more], [gone])
    assert not holds([change(hunk(1, "+}"))], [change(hunk(1, "+}"))])  # tells nothing

""""""

import pytest
from tables import tables_of

from nightwatch_core.code.diffs import (
    change_in,
    dependency_changes,
    holds,
    is_manifest,
    meet,
    renamed_to,
)
from nightwatch_core.models.code import ChangedFile

TABLES = tables_of(__file__)

RENAME = TABLES["rename"]


@pytest.mark.parametrize(
    ("name", "diff", "new"),
    [
        ("total", RENAME, "sum_of"),
        ("total_of", RENAME, ""),
        ("gone", RENAME, ""),
        ("price", "@@ -1 +1 @@\n-    price: int\n+    cost: int", "cost"),
        ("price", '@@ -1 +1 @@\n-  "price": 1,\n+  "cost": 1,', "cost"),
        ("price", "@@ -1 +1 @@\n-price = 1\n+price = 2", ""),
        ("price", "@@ -1 +1 @@\n-price = 1\n+cost = 2", ""),
        ("price", "@@ -1 +1 @@\n-price\n", ""),
        ("pri.e", "@@ -1 +1 @@\n-price\n+cost", ""),
        ("a", "@@ -1,2 +1,2 @@\n-a\n context\n+b", ""),
    ],
)
def test_a_name_that_was_replaced_is_recognised(name, diff, new):
    assert renamed_to(name, diff) == new


POETRY = TABLES["poetry"]
NPM = TABLES["npm"]
MAVEN = TABLES["MAVEN"]


LINES = {
    "requirements.txt": ("Flask>=2.1.0", "Flask>=3.0.0", ("Flask", "2.1.0", "3.0.0")),
    "package.json": ('"vue": "^2.7.0",', '"vue": "^3.4.0",', ("vue", "2.7.0", "3.4.0")),
    "Gemfile.lock": ("    rails (7.0.1)", "    rails (7.1.0)", ("rails", "7.0.1", "7.1.0")),
    "go.mod": ("\tx.org/x/y v1.2.0", "\tx.org/x/y v1.3.0", ("x.org/x/y", "v1.2.0", "v1.3.0")),
}
CASES = [
    *((path, f"@@ -1 +1 @@\n-{old}\n+{new}", [told]) for path, (old, new, told) in LINES.items()),
    ("poetry.lock", POETRY, [("flask", "2.1.0", "3.0.0"), ("gone", "1.4.1", "")]),
    ("package-lock.json", NPM, [("@scope/left-pad", "1.0.0", "1.1.0")]),
    ("pom.xml", MAVEN, [("jackson-core", "2.14.0", "2.15.2")]),
    ("requirements.txt", "@@ -1 +1 @@\n-# a 1.2\n+# b", []),
    ("requirements.txt", "", []),
]


@pytest.mark.parametrize(("path", "diff", "changes"), CASES)
def test_versions_that_changed_are_listed(path, diff, changes):
    assert is_manifest(path)
    told = dependency_changes(ChangedFile(path=path, diff=diff))
    assert [(one.name, one.old, one.new) for one in told] == changes


# Whether two changes touch the same lines, though they were made on different commits.


def change(diff, path="a.py"):
    return change_in(ChangedFile(path=path, diff=diff), path)


def hunk(at, *rows):
    return "\n".join((f"@@ -{at},3 +{at},3 @@", *rows))


AT_20 = hunk(19, " line number 19", "-line number 20", "+line twenty", " line number 21")


@pytest.mark.parametrize(
    ("other", "touches"),
    [
        (AT_20.replace("-19,3", "-119,3"), True),  # numbers of an older commit
        (hunk(20, " line number 20", "-line number 21", "+x", " line number 22"), True),  # next to
        (hunk(21, " line number 21", "-line number 22", "+x", " line number 23"), False),
        (hunk(20, " line number 20", "+put between", " line number 21"), True),
        (hunk(1, "-line number 20", "+its neighbours are others", "-and so is this one"), True),
        ("@@ too large to be shown @@", False),
        ("", False),
    ],
)
def test_changes_meet_where_they_overlap_or_touch(other, touches):
    assert meet(change(AT_20), change(other)) is touches
    assert not meet(change(AT_20), change(other, path="b.py"))


def test_what_is_put_in_at_the_same_place_meets():
    one, two = (hunk(7, " line number 7", f"+put in {n}", " line number 8") for n in "ab")
    assert meet(change(one), change(two))
    assert not meet(change(one), change(two.replace("number", "count")))


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

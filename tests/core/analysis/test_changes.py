from datetime import UTC, datetime, timedelta

import pytest
from twins.reading import MemoryCode

from nightwatch_core.analysis.prompts import authors_text, deployment_text
from nightwatch_core.analysis.research import changes_of
from nightwatch_core.code.suspects import suspects
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Blame, ChangedFile, CommitDiff, LoggedCommit, Release
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.research import CodeChanges, DependencyChange

BEGAN = datetime(2026, 11, 20, 21, tzinfo=UTC)
CART, PAY = "shop/cart.py", "shop/pay.py"
RENAME = "@@ -1,2 +1,2 @@\n-def total(lines):\n+def sum_of(lines):\n     pass"


def commit(letter, hours, *files, pull=0, subject="Count"):
    at = BEGAN - timedelta(hours=hours)
    logged = LoggedCommit(sha=letter * 40, author="Ann", at=at, subject=subject, pull=pull)
    return CommitDiff(commit=logged, files=files, changed=len(files))


def changed(path, diff="@@ -1 +1 @@\n-a\n+b"):
    return ChangedFile(path=path, added=1, removed=1, diff=diff)


def frame(path, line, fit="unknown"):
    return Frame(path=f"/srv/{path}", repo_path=path, line=line, in_app=True, fit=fit)


def case(*frames, message="it broke"):
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class="AttributeError", message=message,
        first_seen=BEGAN,
    )  # fmt: skip
    link = ExceptionLink(error_class="AttributeError", message=message, frames=frames)
    return Case(leader=group, trace=Trace(language="python", links=(link,)))


def blamed(*places):
    return {
        (path, line): Blame(
            sha=by.commit.sha, author="Ann", at=by.commit.at, subject=by.commit.subject,
            line=line, text="x", pull=by.commit.pull,
        )
        for path, line, by in places
    }  # fmt: skip


def test_every_frames_line_is_told_with_its_commit():
    old, new = commit("a", 9_000, pull=3, subject="Start (#3)"), commit("b", 20)
    tree = MemoryCode(blames=blamed((CART, 7, new), (PAY, 9, old)), commits=(new, old))
    known = changes_of(case(frame(CART, 7), frame(PAY, 9), frame(CART, 7)), (), (), tree)
    assert authors_text(known, case(), None).splitlines() == [
        "shop/cart.py:7, the line that fails: bbbbbbbbbb 2026-11-20 Count",
        "shop/pay.py:9, a caller: aaaaaaaaaa 2025-11-10 #3 Start",
    ]


@pytest.mark.parametrize(
    ("message", "is_told"), [("stripe has no charge", True), ("no charge", False)]
)
def test_only_libraries_that_the_error_has_to_do_with_are_told(message, is_told):
    changes = CodeChanges(dependencies=(DependencyChange(name="python-stripe", old="1", new="2"),))
    of = case(frame(CART, 7), message=message)
    assert ("stripe" in authors_text(changes, of, of.trace)) == is_told


def test_the_newest_line_that_sets_what_the_failing_one_reads_is_told():
    text = "def total(cart):\n    net = cart.net\n    tax = cart.tax\n    return net + tax\n"
    old, new = commit("a", 9_000), commit("b", 20)
    blames = blamed((CART, 2, old), (CART, 3, new), (CART, 4, old))
    known = changes_of(case(frame(CART, 4)), (), (), MemoryCode({CART: text}, blames=blames))
    assert [(one.line, one.kind) for one in known.authors] == [(4, "failing"), (3, "sets")]


def test_a_rename_that_a_recent_change_shows_is_recognised():
    renamed = commit("b", 30, changed("shop/sums.py", RENAME))
    of = case(frame(CART, 7), message="module 'sums' has no attribute 'total'")
    known = changes_of(of, (), (), MemoryCode(commits=(renamed,)))
    assert authors_text(known, of, of.trace).startswith(
        "total was replaced by sum_of in shop/sums.py, by bbbbbbbbbb 2026-11-19 Count"
    )
    assert suspects(of, known)[0].because[0] == "renames `total` to `sum_of` in shop/sums.py"
    late = commit("b", -1, changed("shop/sums.py", RENAME))
    assert changes_of(of, (), (), MemoryCode(commits=(late,))).renames == ()


def released(hours):
    lock = '@@ -9,3 +9,3 @@\n name = "flask"\n-version = "2.1.0"\n+version = "3.0.0"'
    second = commit("b", 40, changed("a/first.py"), changed(CART), changed("poetry.lock", lock))
    aside = commit("c", 41, changed("tests/requirements.txt", "@@ -1 +1 @@\n-a==1.0\n+a==2.0"))
    tree = MemoryCode(commits=(second, aside, commit("a", 99)))
    releases = (
        Release(version="2", sha="b" * 40, at=BEGAN - timedelta(hours=hours)),
        Release(version="1", sha="a" * 40, at=BEGAN - timedelta(hours=90)),
    )
    return releases, tree


def test_what_the_first_failing_release_changed_is_told():
    releases, tree = released(5)
    known = changes_of(case(frame(CART, 7)), (), (), tree, (), releases)
    assert [(one.name, one.old, one.new) for one in known.dependencies] == [
        ("flask", "2.1.0", "3.0.0")
    ]
    told = deployment_text(known.deployment)
    assert told == (
        "release 2, made 5 h before first seen, against 1; 4 files changed: "
        "shop/cart.py, a/first.py, poetry.lock"
    )


@pytest.mark.parametrize("trouble", [GiveUp("away"), TryLater("busy")])
def test_a_reader_that_cannot_tell_costs_no_case(trouble):
    class Unwell(MemoryCode):
        def blame(self, path, start, end=None):
            raise trouble

        def history(self, path="", text="", limit=20):
            raise trouble

        def paths_changed(self, old_sha, new_sha):
            raise trouble

    releases, _ = released(1)
    known = changes_of(case(frame(CART, 7)), (), (), Unwell(), (), releases)
    assert (known.authors, known.deployment, known.candidates) == ((), None, ())
    assert authors_text(known, case(), None) == deployment_text(known.deployment) == ""

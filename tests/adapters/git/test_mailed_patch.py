"""A patch out of a comment, as somebody copies it, applied by git itself."""

import re
from datetime import UTC, datetime

import pytest
from git_repositories import Change, git, repository
from tables import tables_of

from nightwatch_core.adapters.git.branch import Refused, mailed_changes
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.markers import marker, patch_comment, read_marker, read_patch_marker

TABLES = tables_of(__file__)

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
MESSAGE = "Count nothing as 0 — für alle\n\n/merge is no command here.\nFrom here on: 12:00 2026\n"
LONG = ("x = 1;\n", f"x = '{'abcdefghi=' * 400}';\n")
FILES = TABLES["files"] | {"long.js": LONG}


def copied(comment):
    """What a person copies out of the last block of the rendered comment: the text of its fence."""
    blocks = re.findall(r"^(`{3,})diff\n(.*?)\n\1$", comment, re.MULTILINE | re.DOTALL)
    return str(blocks[-1][1])


def carried(before, after, message=MESSAGE):
    def held(files):
        modes = {"bin/run": "100755"}
        return {path: (modes.get(path, "100644"), t.encode()) for path, t in files.items()}

    mail = mailed_changes((held(before), held(after)), (message,), NOW, REMOVAL.scrub)
    body = f"{marker('v1:aa', 'pull-key-1', 'n')}\n\n```diff\n-not this one\n```\n"
    return patch_comment(body, "f1:0a", "main", mail)


def sides(*paths):
    chosen = {path: FILES[path] for path in paths or FILES}
    first = {path: old for path, (old, _) in chosen.items() if old is not None}
    return first, {path: new for path, (_, new) in chosen.items() if new is not None}


def applied(folder, before, patch):
    """The files after `git am`, in a checkout of its own, that says nothing about line ends."""
    start = Change("Shop", {p: t.encode() for p, t in before.items()} | {"other": "1\n"})
    modes = {"bin/run": "100755"} if "bin/run" in before else {}
    shop = repository(folder / "shop", start._replace(modes=modes))
    mail = folder / "nightwatch.patch"
    mail.write_bytes(patch)
    git(shop, "am", str(mail))
    names = git(shop, "ls-files", "-z").split("\0")
    return {name: (shop / name).read_bytes() for name in names if name not in ("", "other")}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_all_of_them_at_once_whatever_the_clipboard_makes_of_line_ends(tmp_path, ending):
    before, after = sides()
    patch = copied(carried(before, after)).replace("\n", ending)
    assert applied(tmp_path, before, patch.encode()) == {p: t.encode() for p, t in after.items()}
    shop = tmp_path / "shop"
    assert git(shop, "log", "-1", "--format=%an %ae") == "NightWatch nightwatch@localhost"
    assert git(shop, "log", "-1", "--format=%B").split() == MESSAGE.split()
    assert git(shop, "ls-files", "-s", "bin/run").startswith("100755")


def test_what_cannot_be_harmed_stays_readable_and_the_rest_is_letters_a_page_keeps():
    plain, quoted = (copied(carried(*sides(path), "Why")) for path in ("plain.rb", "dos.cs"))
    assert "\n-  nil\n+  0\n" in plain
    assert all(32 <= ord(c) < 127 or c in "\n\t" for c in quoted)
    assert "\n-  int a;=0D\n+  int b =3D 1;=0D\n" in quoted


def test_no_line_of_a_comment_starts_like_a_bots_command():
    comment = carried(*sides("commands.txt", "long.js"))
    assert not [one for one in comment.split("\n") if one.startswith("/")]


def test_the_comment_names_its_error_its_fix_and_its_base():
    comment = carried(*sides("plain.rb"))
    mark = read_marker(comment)
    assert (mark.key, read_patch_marker(comment)) == ("pull-key-1", ("f1:0a", "main"))
    assert read_patch_marker(comment.replace("\n", "\r\n")) == ("f1:0a", "main")
    assert read_patch_marker(f"Quoted\n{comment}") is None


def test_a_secret_beside_the_change_is_left_out_and_one_within_is_refused():
    key = "password = 'hunter2-Kx81Zq'\n"
    before = f"{key}a\nb\nc\nd\n"
    beside = carried({"a.py": before}, {"a.py": before.replace("c\n", "C\n")})
    assert "hunter2" not in beside
    assert "\n-c\n+C\n" in beside
    with pytest.raises(Refused, match="are redacted"):
        carried({"a.py": before}, {"a.py": before.replace("a\n", "A\n")})


def test_what_is_too_long_for_a_comment_is_none():
    assert carried({"a": "x\n"}, {"a": "line of text\n" * 6_000}) == ""

import os

from nightwatch_core.adapters.stores.state_folder import (
    DAY,
    JOURNAL_ROOM,
    KEEPING,
    Pruned,
    free_space,
    prune,
)

NOW = 1_800_000_000.0


def record(folder, name, days, size=10):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - days * DAY, NOW - days * DAY))
    return path


def test_records_that_no_night_used_for_long_go_with_their_folders(tmp_path):
    old = record(tmp_path, "code/shop/1a/read-1", 31)
    new = record(tmp_path, "code/shop/2b/read-1", 29)
    assert prune(tmp_path, now=NOW) == Pruned(1, 1, 10, 10)
    assert not old.parent.exists()
    assert new.exists()


def test_beyond_the_room_those_used_least_recently_go(tmp_path):
    kept = [record(tmp_path, f"code/shop/1a/read-{day}", day) for day in range(3)]
    gone = [record(tmp_path, f"runs/night/{day}", day) for day in range(3, 6)]
    assert prune(tmp_path, room=35, now=NOW) == Pruned(3, 3, 30, 30)
    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in gone)


def test_results_of_others_are_left_alone(tmp_path):
    theirs = [record(tmp_path, name, 900) for name in ("0123456789abcdef", "etl/loaded", "codes")]
    assert prune(tmp_path, room=0, now=NOW) == Pruned(0, 0, 0)
    assert all(path.exists() for path in theirs)


def test_a_link_is_deleted_and_not_followed(tmp_path):
    precious = record(tmp_path / "home", "precious", 900)
    folder = tmp_path / "results/code/shop"
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(precious)
    (folder / "all").symlink_to(tmp_path / "home")
    prune(tmp_path / "results", room=0, now=NOW)
    assert precious.exists()


def test_maintenance_deletes_what_is_old_and_says_what_that_freed(tmp_path):
    places = {name: tmp_path / name for name in ("state", "sandbox", "knowledge")}
    old, young, kept = {}, [], []
    for rule in KEEPING:
        for pattern in rule.patterns:
            inner = "/tree/file" if pattern.endswith(("clones/*", "prepared/*")) else ""
            for days, files in ((rule.days + 2, old.setdefault(rule.what, [])), (0.5, young)):
                name = pattern.replace("*", f"a{days:.0f}") + inner
                files.append(record(places[rule.place], name, days))
                if inner:
                    for parent in (files[-1].parent, files[-1].parent.parent):
                        os.utime(parent, (NOW - days * DAY, NOW - days * DAY))
    kept.append(record(places["state"], "nights/2026-11-20-ab12cd/report.json", 900))
    kept.append(record(places["knowledge"], "errors/a.md", 900))
    kept.append(record(places["state"], "results/0123456789abcdef", 900))
    results = places["state"] / "results"
    old["records"] = [record(results, "runs/night/1", 31)]

    told = free_space(places, results, dry=True, now=NOW)
    assert all(path.exists() for paths in old.values() for path in paths)
    done = free_space(places, results, dry=False, now=NOW)
    assert done == told
    assert {what: (item.deleted, item.freed) for what, item in done.items()} == {
        what: (len(paths), 10 * len(paths)) for what, paths in old.items()
    }
    assert not [path for paths in old.values() for path in paths if path.exists()]
    assert all(path.exists() for path in (*young, *kept))


def test_what_was_used_within_a_day_stays_beyond_the_room(tmp_path):
    """A run of one error holds no lock, and may use it."""
    places = {name: tmp_path for name in ("state", "sandbox", "knowledge")}
    large = [record(tmp_path, f"journal/n{n}~1.jsonl.xz", n) for n in (0, 1, 2)]
    for n, path in enumerate(large):
        os.truncate(path, JOURNAL_ROOM)
        os.utime(path, (NOW - n * DAY, NOW - n * DAY))
    freed = free_space(places, tmp_path / "results", dry=False, now=NOW)["journals"]
    assert (freed.deleted, [path.exists() for path in large]) == (1, [True, True, False])


def test_journals_are_kept_a_month_and_the_oldest_go_where_room_is_short(tmp_path):
    places = {name: tmp_path for name in ("state", "sandbox", "knowledge")}
    ages = (29, 31, 3, 2)
    old, gone, third, second = [record(tmp_path, f"journal/n{n}~1.jsonl.xz", n) for n in ages]
    other = record(tmp_path, "journal/20261120T020000-7.jsonl", 4)  # what was sent outside nights

    def freed(now=NOW):
        free_space(places, tmp_path / "results", dry=False, now=now)
        return [path.exists() for path in (old, gone, other, third, second)]

    assert freed(NOW - 999 * DAY) == [True] * 5, "a clock that was set back deletes nothing"
    assert freed() == [True, False, True, True, True]
    os.truncate(third, JOURNAL_ROOM - 15)
    os.utime(third, (NOW - 3 * DAY, NOW - 3 * DAY))
    assert freed() == [False, False, False, True, True]

import os

from nightwatch_core.adapters.stores.state_folder import DAY, Pruned, prune

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
    assert prune(tmp_path, now=NOW) == Pruned(1, 1, 10)
    assert not old.parent.exists()
    assert new.exists()


def test_beyond_the_room_those_used_least_recently_go(tmp_path):
    kept = [record(tmp_path, f"code/shop/1a/read-{day}", day) for day in range(3)]
    gone = [record(tmp_path, f"turns/night/{day}", day) for day in range(3, 6)]
    assert prune(tmp_path, room=35, now=NOW) == Pruned(3, 3, 30)
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

"""Occurrences are counted into groups."""

from datetime import UTC, datetime, timedelta

from nightwatch_core.intake import limits
from nightwatch_core.intake.grouping import Tally
from nightwatch_core.models.errors import MOST_HOSTS, MOST_HOURS, Occurrence, Window

DAY = datetime(2026, 11, 3, tzinfo=UTC)
WINDOW = Window(since=DAY, until=DAY + timedelta(days=1))


def seen(hours=0, **fields):
    values = {"error_class": "KeyError", "last_seen": DAY + timedelta(hours=hours), **fields}
    return Occurrence.model_validate(values)


def group(occurrences, source, window):
    tally = Tally(source)
    for occurrence in occurrences:
        tally.add(occurrence)
    return tally.groups(window)


def test_one_group_says_all():
    last = DAY + timedelta(hours=6)
    swapped = {"last_seen": DAY + timedelta(hours=1), "first_seen": DAY + timedelta(hours=2)}
    counted = [
        seen(5, message="no order 2", user="b", host="web-2", release="2.0", app="shop"),
        seen(message="no order 1", user="a", host="web-1", release="1.0", app="shop", **swapped),
        seen(6, message="no order 3", user="a", host="web-1", release="1.0", app="shop"),
    ]
    (only,) = group(counted, "file", WINDOW)
    assert (only.source, only.app, only.occurrences, only.users) == ("file", "shop", 3, 2)
    assert only.hosts == ("web-1", "web-2")
    assert (only.first_seen, only.last_seen) == (DAY + timedelta(hours=1), last)
    assert only.releases == ("1.0", "2.0")  # by first sighting, whatever came last in the file
    assert only.release == "2.0"
    assert only.message == "no order 3"


def test_a_frequent_message_is_kept_among_many_rare_ones():
    rare = [seen(message=f"no route /{number}") for number in range(4 * limits.MESSAGES)]
    often = [seen(message="no route /7000000")] * 2 * len(rare)
    for order in ((*rare, *often), (*often, *rare)):
        (only,) = group(order, "file", WINDOW)
        assert only.messages[0][0] == "no route /7000000"
    (alone,) = group(often, "file", WINDOW)
    assert alone.messages == ()


def test_the_failing_function_tells_groups_apart_where_no_transaction_is_known():
    places = [("", "Cart.php sum"), ("", "Order.php pay"), ("GET /", "Cart.php sum"), ("GET /", "")]
    counted = [seen(transaction=done, failed_in=place) for done, place in places]
    groups = group(counted, "file", WINDOW)
    assert [(one.transaction, one.occurrences) for one in groups] == [
        ("GET /", 2),
        ("", 1),
        ("", 1),
    ]


def test_the_commit_is_that_of_the_newest_release():
    first = [
        seen(1, release="1.0", commit="a" * 9),
        seen(5, release="2.0", commit="b" * 9),
        seen(9, release="1.0", commit="a" * 9),
    ]
    (found,) = group(first, "f", WINDOW)
    assert (found.release, found.commit) == ("2.0", "b" * 9)
    (found,) = group([*first, seen(10, release="3.0")], "f", WINDOW)
    assert (found.release, found.commit) == ("3.0", "")


def test_most_frequent_first_then_by_title():
    counted = [seen(error_class="B", transaction="GET /orders/1"), seen(error_class="A")]
    found = group([*counted, seen(error_class="C", count=5)], "file", WINDOW)
    assert [g.error_class for g in found] == ["C", "A", "B"]
    assert found[2].transaction == "GET /orders/<n>"


def test_counts_of_users_are_not_added_up_and_hosts_are_bounded():
    assert group([seen(users=7), seen(users=4), seen(user="a")], "file", WINDOW)[0].users == 7
    (found,) = group([seen(host=f"web-{n:03}") for n in range(100)], "file", WINDOW)
    assert len(found.hosts) == MOST_HOSTS


def test_hourly_counts_cover_the_window():
    hourly = group([seen(0.2), seen(0.9), seen(23.5)], "file", WINDOW)[0].hourly
    assert len(hourly) == 24
    assert (hourly[0], hourly[23], sum(hourly)) == (2, 1, 3)


def test_long_windows_show_their_end():
    window = Window(since=DAY - timedelta(days=60), until=DAY + timedelta(hours=1))
    old = [seen(-hours) for hours in range(24 * 60)]
    hourly = group(old, "file", window)[0].hourly
    assert len(hourly) == MOST_HOURS
    assert hourly == (1,) * MOST_HOURS


def test_counts_over_unknown_hours_draw_no_curve():
    assert group([seen(3, count=40)], "file", WINDOW)[0].hourly == ()
    spread = seen(5, count=40, first_seen=DAY + timedelta(hours=1))
    assert group([spread, seen(2)], "file", WINDOW)[0].hourly == ()
    within = seen(5.5, count=40, first_seen=DAY + timedelta(hours=5))
    assert group([within], "file", WINDOW)[0].hourly[5] == 40


def test_records_without_a_time_are_counted():
    found = group(
        [seen(last_seen=None, release="1"), seen(last_seen=None, release="2")], "f", WINDOW
    )
    assert (found[0].occurrences, found[0].first_seen, found[0].releases) == (2, None, ("1", "2"))
    assert found[0].hourly == ()


def test_traces_are_few_and_newest_release_first():
    tally = Tally("file")
    for number in range(40):
        raw = f"KeyError: {number}\n  app/a.rb:{number % 7}:in `f'\n  app/b.rb:1:in `g'"
        tally.add(seen(number / 10, stacktrace=raw, release=f"{number // 10}.0"))
    kept = tally.stacks(tally.groups(WINDOW)[0].fingerprint)
    assert len(kept) == limits.STACKS
    assert [stack.release for stack in kept] == ["3.0", "3.0", "2.0", "1.0", "0.0"]
    assert kept[0].seen == DAY + timedelta(hours=3.9)


def test_the_same_trace_is_kept_once():
    tally = Tally("file")
    for number in range(3):
        tally.add(seen(stacktrace=f"KeyError: {number}\n  app/a.rb:1:in `f'\n  app/b.rb:2:in `g'"))
    assert len(tally.stacks(tally.groups(WINDOW)[0].fingerprint)) == 1
    assert tally.stacks("v1:unknown") == ()


def test_memory_is_bounded():
    tally = Tally("file", max_groups=3, max_stack_text=100)
    for number in range(10):
        tally.add(seen(error_class=f"E{chr(65 + number)}", stacktrace="x" * 60))
    assert (len(tally.groups(WINDOW)), tally.left_out, tally.stacks_left_out) == (3, 7, 2)
    assert tally.records == 10

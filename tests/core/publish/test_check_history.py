"""How long a draft's first check is waited for, by what earlier drafts of the repository show."""

from functools import partial

import pytest
from analysis_shapes import COMMIT, DAY

from nightwatch_core.models.code import DraftCi
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import Night
from nightwatch_core.publish.check_history import DRAFTS, LONGEST, NIGHTS, first_check_wait
from nightwatch_core.report.builder import start_report

OPTIONS = NightOptions(delivery="github")


def night(name, *ci, options=OPTIONS, base=COMMIT, **more):
    made = Night(id=name, window=Window(since=DAY, until=DAY), now=DAY)
    update = {"ci": ci, "base": base, **more}
    return start_report(made, options, (), DAY).model_copy(update=update)


def draft(state, waited=None, appeared=None, number=7):
    return DraftCi(
        number=number, fingerprint="v1:a", state=state, text="", waited=waited, appeared=appeared
    )


none = partial(draft, "none", 120.0)
passed = partial(draft, "passed", 300.0)


def wait(*earlier, configured=True, tonight=None, **options):
    now = tonight or night("now", options=OPTIONS.model_copy(update=options))
    return first_check_wait(now, earlier, configured=configured)


def test_without_earlier_drafts_the_setting_decides():
    assert wait()[0] == 120
    assert wait(ci_seconds=45) == (
        45, "waited 45 s, as ci_seconds says: no earlier draft shows how long they take",
    )  # fmt: skip
    assert wait(configured=False)[0] == 30
    assert wait(configured=False, ci_seconds=10) == (
        10, "waited 10 s: no CI workflow was found that runs on drafts",
    )  # fmt: skip


@pytest.mark.parametrize("configured", [True, False])
def test_where_earlier_drafts_had_no_check_none_is_waited_for(configured):
    one = wait(night("a", none()), configured=configured)
    assert one == (0, "not waited for: the last draft in shop/shop had none")
    more = wait(night("b", none(), none()), night("a", none()), configured=configured)
    assert more == (0, "not waited for: the last 3 drafts in shop/shop had none")


@pytest.mark.parametrize(
    ("appeared", "seconds"), [((0.0,), 30), ((30.0, 0.0), 90), ((60.0,), 150), ((800.0,), LONGEST)]
)
def test_where_earlier_drafts_had_checks_twice_as_long_is_waited(appeared, seconds):
    earlier = [night(f"n{at}", passed(at)) for at in appeared]
    for configured in (True, False):
        assert wait(*earlier, none_night(), configured=configured)[0] == seconds
    text = wait(night("a", passed(30.0)))[1]
    assert text == "waited 90 s: twice as long as on earlier drafts, and 30 s more"


def none_night():
    return night("z", none())


def test_zero_never_waits_for_a_first_check():
    assert wait(night("a", passed(60.0)), ci_seconds=0) == (
        0, "not waited for: ci_seconds is 0",
    )  # fmt: skip


def test_a_check_that_came_after_its_night_ends_not_waiting():
    late = OwnItem(kind="pull", number=7, fingerprint="v1:a", night="a", checks="failed")
    tonight = night("now", outcomes=(late,))
    assert wait(night("a", none()), tonight=tonight) == (
        120, "waited 120 s: on earlier drafts they appeared later",
    )  # fmt: skip
    others = (late.model_copy(update={"kind": "issue"}), late.model_copy(update={"checks": ""}),
              late.model_copy(update={"number": 8}))  # fmt: skip
    assert wait(night("a", none()), tonight=night("now", outcomes=others))[0] == 0


def test_reports_of_older_versions_are_understood():
    assert wait(night("a", draft("none")))[0] == 0
    assert wait(night("a", draft("passed")))[0] == 120
    assert wait(night("a", draft("pending")))[0] == 120
    assert wait(night("a", draft("unreadable")))[1].startswith("waited 120 s, as ci_seconds says")


@pytest.mark.parametrize(
    "past",
    [
        night("a", none(), options=NightOptions(delivery="gitlab")),
        night("a", none(), base=COMMIT.model_copy(update={"repository": "acme/other"})),
        night("a", none(), base=None),
        night("now", none()),  # tonight's own report, kept before
        night("a", draft("none", 0.0)),  # not waited for: no evidence
        night("a", draft("unreadable", 900.0)),
        night("a", draft("pending", 900.0)),  # of a commit before the correction
        night("a"),
    ],
    ids=lambda past: f"{past.options.delivery} {past.night.id} {len(past.ci)}",
)
def test_what_says_nothing_about_this_repository_is_passed_over(past):
    assert wait(past)[1].startswith("waited 120 s, as ci_seconds says")


def test_only_the_last_drafts_of_the_last_nights_count():
    old = night("old", passed(60.0))
    assert wait(*(night(f"n{n}", none()) for n in range(DRAFTS)), old)[0] == 0
    assert wait(*(night(f"n{n}", none()) for n in range(DRAFTS - 1)), old)[0] == 150
    quiet = [night(f"n{n}") for n in range(NIGHTS)]
    assert wait(*quiet[1:], night("a", none()))[0] == 0
    assert wait(*quiet, night("a", none()))[0] == 120
    read = []

    def reports():
        for number in range(1000):
            read.append(number)
            yield night(f"n{number}", none())

    assert first_check_wait(night("now"), reports(), configured=True)[0] == 0
    assert len(read) == DRAFTS

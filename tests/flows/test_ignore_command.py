"""`nightwatch ignore`: what it lists, what it writes, and how it ends."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from flows.commands.memory import ignore
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import Backtest, IgnoreSuggestion
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import LearningResult, Night, RunReport

HOSTILE = "\x1b]0;owned\x07 [red]It[/red] \u202e"
NOW = datetime.now(UTC)
SOON = NOW.date() + timedelta(days=30)
RULES = "# ours\nignore:\n  - pattern: old  # was loud\n    expires: 2020-01-01\n# the end\n"


def suggestion(pattern: str, **fields: object) -> IgnoreSuggestion:
    told = {"match": "prefix", "field": "message", "reason": "passes by itself", "evidence": "e"}
    return IgnoreSuggestion.model_validate({"pattern": pattern, "expires": SOON, **told, **fields})


FIRST = suggestion(
    "the printer ran out",
    unless_rate_above=30,
    evidence=f"seen on 3 nights: {HOSTILE}",
    backtest=Backtest(nights=9, groups=2, occurrences=40),
)
SECOND = suggestion("the rates service", match="exact")


class Team:
    """A folder of rules, nights, and the command over both."""

    def __init__(self, folder: Path) -> None:
        self.home, self.own = folder / "home", folder / "own"
        self.nights = NightStore(folder / "state", SystemClock())
        self.folder = folder

    def night(
        self,
        id: str,
        *suggestions: IgnoreSuggestion,
        source: str = "file",
        missing: tuple[str, ...] = (),
    ) -> None:
        report = RunReport(
            night=Night(id=id, window=Window(since=NOW, until=NOW), now=NOW),
            options=NightOptions(source=source),
            learned=LearningResult(suggestions=suggestions, no_suggestion=missing),
            started=NOW,
            finished=NOW,
        )
        self.nights.begin(id, lambda name, resumed: report.night)
        self.nights.keep(report)
        self.nights.finish(report)

    def says(self, *words: str) -> Result:
        settings = {
            "NIGHTWATCH_HOME": str(self.home),
            "NIGHTWATCH_STATE": str(self.folder / "state"),
            "NIGHTWATCH_KNOWLEDGE_DIR": str(self.own),
        }
        return CliRunner().invoke(ignore, words, env=settings)

    def printed(self, *words: str) -> str:
        done = self.says(*words)
        assert done.exit_code == 0, done.exception
        assert not {"\x1b", "\x07", "\u202e"} & set(done.output)
        return done.output


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = Team(tmp_path)
    (made.home / "knowledge").mkdir(parents=True)
    (made.home / "knowledge" / "ignore.yml").write_text(RULES)
    made.night("n1", SECOND)
    made.night("n2", FIRST, SECOND)
    made.night("one-n3")
    return made


def test_it_lists_what_holds_and_what_does_not(team: Team) -> None:
    (team.own).mkdir()
    rules = "- pattern: a\n- {pattern: b, expires: 2020-01-01}\n- {pattern: c, expires: soon}\n"
    (team.own / "ignore.yml").write_text(rules)
    said = team.printed("list")
    assert said.splitlines() == [
        str(team.own / "ignore.yml"),
        "line 1: in force: contains 'a'; for ever, whatever the rate",
        "line 2: expired: contains 'b'; until 2020-01-01, whatever the rate",
        "not read: line 3: expires 'soon': it has to be a date, as 2031-12-31",
    ]
    (team.own / "ignore.yml").write_text("")
    assert "There are no rules." in team.printed("list")


def test_it_shows_the_newest_night_s_suggestions_with_their_numbers(team: Team) -> None:
    said = team.printed("suggestions")
    assert said.startswith("Night n2\n1. message prefix 'the printer ran out': passes by itself; ")
    assert f"until {SOON}, up to 30 a day" in said
    assert "[red]It[/red]" in said
    assert "back-test: over 9 nights it would have hidden 2 error groups (40 times)" in said
    assert "\n2. message exact 'the rates service'" in said
    assert team.printed("suggestions", "--night", "n1").startswith("Night n1\n1. message exact")
    team.night("sample-n4", SECOND, source="sample")
    assert team.printed("suggestions").startswith("Night sample-n4\n1.")
    team.night("n5", missing=(f"2 errors: a suggestion needs 3 nights; 1 so far {HOSTILE}",))
    assert team.printed("suggestions").splitlines()[:3] == [
        "Night n5",
        "No suggestions.",
        "Not suggested:",
    ]
    assert "  2 errors: a suggestion needs 3 nights; 1 so far" in team.printed("suggestions")


def test_a_suggestion_is_shown_as_it_would_stand_in_the_file(team: Team) -> None:
    said = team.printed("suggestions").splitlines()
    at = said.index("   in ignore.yml:")
    shown = [row.removeprefix("   ") for row in said[at + 1 : at + 7]]
    team.printed("accept", "1")
    written = (team.own / "ignore.yml").read_text().splitlines()
    assert [row.strip() for row in shown] == [row.strip() for row in written[4:10]]
    assert shown[0].endswith('pattern: "the printer ran out"')


def test_accepting_writes_the_rule_into_the_knowledge_folder_in_use(team: Team) -> None:
    said = team.printed("accept", "1")
    path = team.own / "ignore.yml"
    assert said.startswith("added: message prefix 'the printer ran out': passes by itself")
    assert f"{path} line 5" in said
    assert path.read_text() == RULES.replace(
        "# the end\n",
        '  - pattern: "the printer ran out"\n    match: prefix\n    field: message\n'
        f'    reason: "passes by itself"\n    expires: {SOON}\n    unless_rate_above: 30\n'
        "# the end\n",
    )
    before = path.read_text()
    assert team.printed("accept", "1").startswith("already there: ")
    assert path.read_text() == before
    assert (team.home / "knowledge" / "ignore.yml").read_text() == RULES


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("accept", "3"), "night n2 has 2 suggestions: there is no number 3"),
        (("accept", "0"), "there is no number 0"),
        (("accept", "1", "--night", "n9"), "no night 'n9' was found"),
        (("accept", "1", "--expires", "soon"), "'soon' is not a date"),
        (("accept", "1", "--expires", "2020-01-01"), "2020-01-01 is in the past"),
        (("suggestions", "--night", "../n1"), "no night '../n1' was found"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(team: Team, words, why: str) -> None:
    done = team.says(*words)
    assert isinstance(done.exception, StopTheNight)
    assert why in str(done.exception)
    assert (team.home / "knowledge" / "ignore.yml").read_text() == RULES

"""Four invented nights: two applications, and two on which bounds matter.

Written before anything was measured, to resemble nights people tell of:

* *shop* (Node): one change to how prices are rounded breaks three places in one night (a family:
  same module, same cause, different failing lines); a job and a webhook fail on their own. One
  sibling has a further file to look at, so that the leader's finding is not all.
* *clinic* (Rails): two errors that an earlier night explained and that are back because their fix
  was not taken (`known_as`: designs that keep earlier causes are given it); one whose trace shows
  only where a bad value is used, three files from where it is made; one raised in a library.
* *long*: one slow request, explained by a chain of files, each of which names only the next.
* *hopeless*: an error of each tier whose cause stands nowhere in the code: who looks for it reads
  on until something ends the reading. No answer can be right; what counts is what it costs.

Where a trace names the file it names its real path. Deeper files have a plausible wrong first
guess where frameworks suggest one: a service looked for among models, a concern among controllers.
"""

from pathlib import Path
from typing import Any

import yaml
from benchmarks.tokens.trees import neighbours, tree
from benchmarks.tokens.words import Fact, Night, Scenario, Spot

_PARTS = (
    "carts", "prices", "rates", "zones", "depots", "stock", "lots", "batches", "vendors",
    "contracts", "calendars",
)  # fmt: skip
_ERRORS = (
    ("auth", "PermissionDenied", "api.reports.export", "may not read report 4711"),
    ("simple", "TypeError", "api.labels.print", "unsupported operand for label 12"),
    ("database", "sqlalchemy.exc.IntegrityError", "jobs.merge.run", "merge 77 breaks a key"),
    ("complex", "redis.exceptions.TimeoutError", "jobs.cache.warm", "no answer for segment 9"),
)


def nights() -> tuple[Night, ...]:
    """Return *shop* and *clinic*."""
    data = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
    return tuple(_night(name, **fields) for name, fields in data.items())


def _night(name: str, language: str, errors: list[dict[str, Any]]) -> Night:
    spots: dict[str, Spot] = {}
    scenarios = []
    for error in errors:
        facts = []
        for row in error.pop("facts"):
            path, function, text = row["path"], row["function"], row["text"]
            symbol = row.get("symbol", function)
            spots[text] = Spot(path, row["line"], function, text, defines=function == symbol)
            facts.append(Fact(row["name"], path, text, symbol, row.get("guess", "")))
        scenarios.append(Scenario(language=language, facts=tuple(facts), **error))
    others = neighbours(dict.fromkeys(spot.path for spot in spots.values()), each=3)
    return Night(name, language, tree(language, spots.values(), others), tuple(scenarios))


def long_night() -> Night:
    """One error, a chain of files."""
    spots, facts = [], []
    for number, part in enumerate(_PARTS):
        path, name = f"app/{part}/lookup.py", f"{part}_for"
        following = f"{_PARTS[number + 1]}_for" if number + 1 < len(_PARTS) else "open_days"
        line = f"{part}_found = {following}(request.{part}, depth={number})"
        spots.append(Spot(path, 60 + 37 * number % 400, name, line, defines=True))
        facts.append(Fact(f"step {number + 1}", path, line, name))
    files = tree("python", spots, neighbours(dict.fromkeys(spot.path for spot in spots)))
    at = spots[0].line + 2
    scenario = Scenario(
        key="long", language="python", error_class="TimeoutError",
        transaction="api.checkout.total", message="checkout took longer than 30 s",
        raw="Traceback (most recent call last):\n"
        f'  File "/srv/app/carts/lookup.py", line {at}, in carts_for\n'
        "TimeoutError: checkout took longer than 30 s",
        facts=tuple(facts), cause="open_days reads every calendar for each line of a cart",
    )  # fmt: skip
    return Night("long", "python", files, (scenario,))


def hopeless_night() -> Night:
    """Four errors that nothing here explains."""
    spots, scenarios = [], []
    for tier, error_class, transaction, message in _ERRORS:
        path, name = f"app/{tier}/steps.py", f"run_{tier}"
        line = f"state_{tier} = outside_{tier}(request, retries=2)"
        spots.append(Spot(path, 140, name, line, defines=True))
        spots.append(Spot(path, 1_100, f"last_{tier}", f"return closed_{tier}(request)"))
        raw = (
            "Traceback (most recent call last):\n"
            f'  File "/srv/app/{tier}/steps.py", line 142, in {name}\n'
            f"{error_class}: {message}"
        )
        facts = (
            Fact("failing", path, line, name),
            Fact("fault", path, f"what is wrong with {tier} stands nowhere", f"outside_{tier}"),
        )
        cause = f"{tier} is set from outside"
        scenarios.append(
            Scenario(tier, "python", error_class, transaction, message, raw, facts, cause)
        )
    return Night("hopeless", "python", tree("python", spots), tuple(scenarios))

"""Two invented nights of two applications.

Written before anything was measured, to resemble nights people tell of:

* *shop* (Node): one change to how prices are rounded breaks three places in one night (a family:
  same module, same cause, different failing lines); a job and a webhook fail on their own. One
  sibling has a further file to look at, so that the leader's finding is not all.
* *clinic* (Rails): two errors that an earlier night explained and that are back because their fix
  was not taken (`known_as`: designs that keep earlier causes are given it); one whose trace shows
  only where a bad value is used, three files from where it is made; one raised in a library.

Where a trace names the file it names its real path. Deeper files have a plausible wrong first
guess where frameworks suggest one: a service looked for among models, a concern among controllers.
"""

from pathlib import Path
from typing import Any

import yaml
from benchmarks.tokens.trees import neighbours, tree
from benchmarks.tokens.words import Fact, Night, Scenario, Spot


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

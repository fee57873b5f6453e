"""Two invented nights on which bounds matter: a long way, and ways that lead nowhere.

*long*: one slow request, explained by a chain of files, each of which names only the next.
*hopeless*: an error of each tier whose cause stands nowhere in the code: who looks for it reads on
until something ends the reading. No answer can be right; what counts is what it costs.
"""

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

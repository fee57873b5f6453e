"""`python -m tests.benchmarks.tokens.strangers`: unrelated errors, with facts of each other.

An invented night: a setting and a module that are not there, each behind one error that says so
and one of other code and class whose source only names it; two errors that cannot reach a queue;
and one that has to do with none of them. Played by our design.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests/, as pytest has it

from benchmarks.tokens.designs import OPTIONS  # noqa: E402
from benchmarks.tokens.invented import _night  # noqa: E402
from benchmarks.tokens.measuring import Played, play  # noqa: E402
from benchmarks.tokens.ours import Features, ours  # noqa: E402
from benchmarks.tokens.words import Scenario, complaints  # noqa: E402

from nightwatch_core.models.answer import Usage

URL = 'endpoint = os.environ["TAX_URL"]'
DRIVER = "from carriers.dhl_v2 import Driver"


def _raw(path: str, line: int, function: str, said: str) -> str:
    head = "Traceback (most recent call last):"
    return f'{head}\n  File "/srv/app/{path}", line {line}, in {function}\n    …\n{said}'


def _error(key: str, name: str, message: str, place: tuple[str, int, str], cause: str) -> Scenario:
    raw = _raw(*place, f"{name}: {message}")
    return Scenario(key, "python", name, f"{key}/run", message, raw, (), cause)


SETTING, MODULE = "the setting TAX_URL is missing", "the module carriers.dhl_v2 is missing"
NIGHT = _night(
    "strangers",
    "python",
    (
        (
            _error("tax", "KeyError", "'TAX_URL'", ("pay/endpoints.py", 118, "load_tax"), SETTING),
            (("failing", "pay/endpoints.py", 118, "load_tax", "load_tax", URL, ""),),
        ),
        (
            _error("quote", "RuntimeError", "no client",
                   ("shop/quoting.py", 240, "rates"), SETTING),
            (
                ("failing", "shop/quoting.py", 240, "rates", "rates",
                 'client = registry.named("TAX_URL").or_raise()', ""),
                ("setting", "pay/endpoints.py", 118, "load_tax", "TAX_URL", URL,
                 "shop/settings.py"),
            ),
        ),
        (
            _error("label", "ModuleNotFoundError", "No module named 'carriers.dhl_v2'",
                   ("parcels/labels.py", 12, "label"), MODULE),
            (("failing", "parcels/labels.py", 12, "label", "label", DRIVER, ""),),
        ),
        (
            _error("track", "AttributeError", "'NoneType' object has no attribute 'trace'",
                   ("tracking/poll.py", 150, "poll"), MODULE),
            (
                ("failing", "tracking/poll.py", 150, "poll", "poll",
                 'found = plugins.get("carriers.dhl_v2").trace(code)', ""),
                ("import", "parcels/labels.py", 12, "label", "carriers.dhl_v2", DRIVER,
                 "carriers/dhl_v2.py"),
            ),
        ),
        (
            _error("mail", "ConnectionError", "Error 111 connecting to queue.internal:5672",
                   ("mail/outbox.py", 77, "flush"), "the queue cannot be reached"),
            (("failing", "mail/outbox.py", 77, "flush", "flush", "channel.publish(letter)", ""),),
        ),
        (
            _error("stock", "TimeoutError", "Connection to queue.internal:5672 timed out",
                   ("stock/feed.py", 31, "push"), "the queue does not answer"),
            (("failing", "stock/feed.py", 31, "push", "push", "sender.send(change)", ""),),
        ),
        (
            _error("mean", "ZeroDivisionError", "division by zero",
                   ("stats/means.py", 64, "mean"), "there are no rows"),
            (("failing", "stats/means.py", 64, "mean", "mean", "return total / len(rows)", ""),),
        ),
    ),
)  # fmt: skip


def played() -> tuple[Played, ...]:
    """Play the night, its errors told of each other."""
    return play(NIGHT, lambda night, service: ours(night, service, Features(options=OPTIONS)))


def table() -> Iterator[str]:
    """Yield one line an error: turns, new tokens and USD."""
    yield "| error | right | turns | new tokens | USD |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for row in _figures(played()):
        yield f"| {' | '.join(row)} |"


def _figures(night: tuple[Played, ...]) -> list[tuple[str, ...]]:
    """A row an error, and one for all."""
    rows = [(one.key, one.right, len(one.calls), one.billed) for one in night]
    bill = sum((used for *_, used in rows), Usage())
    calls, right = sum(turns for _, _, turns, _ in rows), all(right for _, right, _, _ in rows)
    return [
        (key, "yes" if right else "no", f"{turns}", f"{used.new_tokens:,}", f"{used.cost:.4f}")
        for key, right, turns, used in (*rows, ("all", right, calls, bill))
    ]


if __name__ == "__main__":
    if wrong := complaints(NIGHT):
        sys.exit("\n".join(wrong))
    print("\n".join(table()))

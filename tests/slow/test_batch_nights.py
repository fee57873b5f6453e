"""Nights that ask in batches, each in a process of its own: killed at every effect, and collected.

Whatever a killed night did, the service never gets the same question in two batches; what it has
got is collected by another process, and gone on with.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from connected import shop
from connected.world import Night, World

pytestmark = pytest.mark.slow
FLAGGED = shop.Failing(  # the stand-in wants everything of a checkout analysed
    "KeyError", "Controller/checkout/ship", "key not found: :express",
    "app/services/shipping.rb", "RATES.fetch", 30,
    ("app/controllers/orders_controller.rb:7:in 'OrdersController#ship'",),
)  # fmt: skip
SOON = 120.0  # seconds that a request may be held back


@contextmanager
def a_world(folder: Path, errors: tuple[shop.Failing, ...], server: str) -> Iterator[World]:
    with World(folder, errors, server) as world:
        world.claude.batches.now = datetime.now(UTC)
        yield world


def batches_of(world: World) -> list[dict[str, Any]]:
    """What is kept of batches here."""
    files = world.state.glob("batches/*.json")
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def holding(world: World, *, stored: bool) -> threading.Event:
    """Have the service hold a new batch back, before it stores it or before it answers."""
    held, create = threading.Event(), world.claude.batches.create

    def slow(body: Any, size: int) -> Any:
        made = create(body, size) if stored else None
        held.set()
        threading.Event().wait(SOON / 10)
        if not stored:
            raise ConnectionResetError  # who asked is dead by now
        return made

    world.claude.batches.create = slow  # type: ignore[method-assign]
    return held


def killed(world: World, when: Callable[[], bool]) -> None:
    create = world.claude.batches.create
    night = world.night("--batch", when=when)
    assert night.killed, night.output
    world.claude.batches.create = create  # type: ignore[method-assign]


def collected(world: World) -> Night:
    world.claude.batches.pass_by(hours=1)
    return world.night("--collect", "--collect-minutes", "0")


def test_killed_at_every_effect_nothing_is_submitted_twice(tmp_path: Path, server: str) -> None:
    errors = (*shop.THREE, FLAGGED)
    with a_world(tmp_path, errors, server) as world:
        world.claude.batches.per_item = timedelta(minutes=5)
        genuine = world.claude.batches.create

        # Killed when the service has stored it, and nobody was told.
        held = holding(world, stored=True)
        killed(world, held.is_set)
        world.claude.batches.create = genuine  # type: ignore[method-assign]
        assert len(world.claude.batches.kept) == 1
        assert [one.get("id", "") for one in batches_of(world)] == [""]

        again = world.night("--batch")
        assert again.code == 0, again.output
        assert len(world.claude.batches.kept) == 1, "it is found there, and not sent again"
        assert all(one["id"] for one in batches_of(world))

        done = collected(world)
        assert done.code == 0, done.output
        told = done.report["batch_triage"]
        assert len(told["judged"]) == len(errors)
        assert [one["case"]["leader"]["error_class"] for one in done.report["analyses"]] == [
            "KeyError"
        ]
        assert batches_of(world)[0]["collected_by"] == done.report["night"]["id"]

        after = world.night("--batch")
        assert after.code == 0, after.output
        assert "no error to ask about" in after.output
        assert len(world.claude.batches.kept) == 1


def test_killed_before_the_service_has_it_or_after_the_id(tmp_path: Path, server: str) -> None:
    with a_world(tmp_path, shop.THREE, server) as world:
        genuine = world.claude.batches.create
        held = holding(world, stored=False)
        killed(world, held.is_set)
        world.claude.batches.create = genuine  # type: ignore[method-assign]
        assert len(batches_of(world)) == 1
        again = world.night("--batch")
        assert again.code == 0, again.output
        assert "looked for again" in again.output, "the service's list may be late"
        assert not world.claude.batches.kept
        (intent,) = world.state.glob("batches/*.json")
        kept = json.loads(intent.read_text(encoding="utf-8"))
        kept["submitted"] = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
        intent.write_text(json.dumps(kept), encoding="utf-8")  # half an hour is over

        killed(world, lambda: any(one.get("id") for one in batches_of(world)))
        assert len(world.claude.batches.kept) == 1
        twice = world.night("--batch")
        assert twice.code == 0, twice.output
        assert len(world.claude.batches.kept) == 1
        done = collected(world)
        assert done.code == 0, done.output
        assert len(done.report["batch_triage"]["judged"]) == len(shop.THREE)


def test_every_kind_of_result_is_told_and_only_what_is_flagged_analysed(
    tmp_path: Path, server: str
) -> None:
    with a_world(tmp_path, (*shop.TEN, FLAGGED), server) as world:
        service = world.claude.batches
        service.per_item = timedelta(hours=2.3)  # a day is over before the last one's turn
        service.fates = {
            "baskets/average": "refusal", "baskets/update": "errored", "stock/show": "no json",
            "baskets/plus": "no schema", "OrderMailer": "max_tokens", "orders/ship": "left out",
        }  # fmt: skip
        asked = world.night("--batch")
        assert asked.code == 0, asked.output
        assert "Batch submitted: 11 errors" in asked.output
        assert "Run with --collect to retrieve results." in " ".join(asked.output.split())

        early = world.night("--collect", "--collect-minutes", "0")
        assert early.code == 3, early.output
        assert "nightwatch night --collect" in " ".join(early.output.split())

        service.pass_by(hours=25)
        done = world.night("--collect")
        assert done.code == 0, done.output
        judged = done.report["batch_triage"]["judged"]
        kinds = Counter(one["result"]["kind"] for one in judged)
        assert kinds == {
            "answered": 4, "unreadable": 3, "refused": 1, "errored": 1, "missing": 1, "expired": 1,
        }  # fmt: skip
        (analysis,) = done.report["analyses"]
        assert analysis["case"]["leader"]["transaction"].endswith("checkout/ship")
        assert analysis["ending"]["kind"] == "answered"
        page = Path(done.report["night"]["folder"], "report.html").read_text(encoding="utf-8")
        words = ("refused by the model", "expired before", "not readably", "no result came")
        assert not [text for text in (*words, "analysed: error 1 above") if text not in page]
        whole, triage = done.report["usage"]["cost"], done.report["batch_triage"]["usage"]["cost"]
        assert whole == pytest.approx(analysis["usage"]["cost"] + triage)
        assert 0 < triage < whole

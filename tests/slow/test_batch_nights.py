"""A night that asks in a batch and is killed before it hears of it: others find and collect it."""

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from connected import shop
from connected.world import World

pytestmark = pytest.mark.slow
FLAGGED = shop.Failing(  # the stand-in wants everything of a checkout analysed
    "KeyError", "Controller/checkout/ship", "key not found: :express",
    "app/services/shipping.rb", "RATES.fetch", 30,
    ("app/controllers/orders_controller.rb:7:in 'OrdersController#ship'",),
)  # fmt: skip
SOON = 12.0  # seconds that a request is held back


def batches_of(world: World) -> list[dict[str, Any]]:
    """What is kept of batches here."""
    files = world.state.glob("batches/*.json")
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def test_killed_once_the_service_has_it_nothing_is_submitted_twice(
    tmp_path: Path, server: str
) -> None:
    errors = (*shop.THREE, FLAGGED)
    with World(tmp_path, errors, server) as world:
        batches = world.claude.batches
        batches.now, batches.per_item = datetime.now(UTC), timedelta(minutes=5)
        stored, create = threading.Event(), batches.create

        def slow(body: Any, size: int) -> Any:
            made = create(body, size)
            stored.set()
            threading.Event().wait(SOON)
            return made

        batches.create = slow  # type: ignore[method-assign]
        night = world.night("--batch", when=stored.is_set)
        assert night.killed, night.output
        batches.create = create  # type: ignore[method-assign]
        assert len(batches.kept) == 1
        assert [one.get("id", "") for one in batches_of(world)] == [""]

        again = world.night("--batch")
        assert again.code == 0, again.output
        assert len(batches.kept) == 1, "it is found there, and not sent again"
        assert all(one["id"] for one in batches_of(world))

        batches.pass_by(hours=1)
        done = world.night("--collect", "--collect-minutes", "0")
        assert done.code == 0, done.output
        assert len(done.report["batch_triage"]["judged"]) == len(errors)
        assert [one["case"]["leader"]["error_class"] for one in done.report["analyses"]] == [
            "KeyError"
        ]
        assert batches_of(world)[0]["collected_by"] == done.report["night"]["id"]

"""What `nightwatch check` says of batches: bad news only where they are wanted."""

from dataclasses import replace

from night_world import worlds
from twins.batches import MemoryBatches

from flows.commands.check import probes
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from tasks.dependencies import using


class NoBatches(MemoryBatches):
    def probe(self) -> str:
        raise GiveUp("http://here has no Message Batches")


def _answer(desk: MemoryBatches | None, options: NightOptions) -> tuple[str, bool] | None:
    world = worlds()
    reading = replace(world.reading, batches=desk)
    with using(replace(world, reading=reading)):
        found = {one.neighbour: (one.answer, one.is_well) for one in probes(options)}
    return found.get("batches")


def test_batches_are_probed_where_there_may_be_some() -> None:
    plain, wanted = NightOptions(), NightOptions(long_tail=True)
    none = "http://here has no Message Batches"
    assert _answer(None, plain) is None
    assert _answer(MemoryBatches(), plain) == ("0 batches in memory", True)
    assert _answer(NoBatches(), plain) == (f"{none} (no option asks for them)", True)
    assert _answer(NoBatches(), wanted) == (none, False)

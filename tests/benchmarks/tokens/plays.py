"""`python -m tests.benchmarks.tokens.plays QUEUE [QUEUE …]`: what conversations by hand cost.

A QUEUE holds `NNNN.ask.json` (the request) and `NNNN.reply.json` (what was written as an answer),
as they come from an endpoint that a careful reader answers. Queues joined by commas are one night,
one conversation after another: what is the same in them is read from the cache. They are billed as
the stand-in bills: the service's rules of its prompt cache, tokens as characters divided by three.
Thinking is not among them: a reader's is not measured. Prints one JSON row for each night.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests/, as pytest has it

from benchmarks.tokens.measuring import used  # noqa: E402
from benchmarks.tokens.service import Service, missed  # noqa: E402
from benchmarks.tokens.words import Scenario  # noqa: E402

from nightwatch_core.models.answer import Usage

_NOBODY = Scenario("by hand", "", "", "", "", "", (), "")


def row_of(*queues: Path) -> dict[str, Any]:
    """Turns, tool calls, tokens by kind and USD of all conversations of these queues."""
    service, calls, lost = Service((_NOBODY,)), 0, 0
    for ask in (ask for queue in queues for ask in sorted(queue.glob("*.ask.json"))):
        body = json.loads(ask.read_text())
        reply = json.loads(ask.with_name(ask.name.replace("ask", "reply")).read_text())
        calls += sum(one["type"] == "tool_use" for one in reply["content"])
        lost += missed(body)
        service.rounds.arrive()
        service.bill(_NOBODY, body, reply["content"])
    usage = sum(map(used, service.calls), Usage())
    return {
        "turns": len(service.calls),
        "tool_calls": calls,
        "not_found": lost,
        "written": usage.cache_write_tokens,
        "read": usage.cache_read_tokens,
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "new": usage.new_tokens,
        "usd": round(usage.cost or 0.0, 4),
    }


def main() -> int:
    """Print a row for each night that is named."""
    for name in sys.argv[1:]:
        print(json.dumps({"queue": name, **row_of(*map(Path, name.split(",")))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How many HTTP calls a night makes, by service.

    .venv/bin/python -m tests.connected.calls

Prints a Markdown table for nights of three and of ten errors, each as a first night and as the
night after, when everything is known.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from connected import shop
from connected.prefect_server import prefect_server
from connected.world import World

EDITIONS = (("3 errors", shop.THREE, ()), ("10 errors", shop.TEN, ("--max-errors", "10")))


def counted(prefect: str, folder: Path) -> Iterator[tuple[str, dict[str, int], list[str]]]:
    """What a night is called, its calls by service, and what it asked for most."""
    for name, errors, flags in EDITIONS:
        with World(folder / name.split()[0], errors, prefect) as world:
            for when in ("first night", "the night after"):
                night = world.night(*flags)
                assert night.code == 0, night.output
                most = _most(world.asked())
                yield f"{name}, {when}", world.calls(), most
                world.forget_requests()


def _most(asked: dict[str, Counter[str]]) -> list[str]:
    return [
        f"{service}: " + ", ".join(f"{count} × {what}" for what, count in counts.most_common())
        for service, counts in asked.items()
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as name, prefect_server(Path(name) / "server") as prefect:
        found = list(counted(prefect, Path(name)))
    services = list(found[0][1])
    print("| |", " | ".join(services), "|")
    print("| --- |", " ---: |" * len(services))
    for night, calls, _ in found:
        print("|", night, "|", " | ".join(str(calls[service]) for service in services), "|")
    for night, _, most in found:
        print(f"\n{night}:\n" + "\n".join(f"- {line}" for line in most))


if __name__ == "__main__":
    main()

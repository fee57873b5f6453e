"""Exports nobody here has seen are read with the code of a night."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAM = "import json, sys, adapters; print(json.dumps(adapters.read(sys.argv[1])))"


def read(path: Path) -> list[dict[str, Any]]:
    """As the evaluation does it: this folder on the path of modules."""
    answer = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, str(path)],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    return json.loads(answer.stdout)  # type: ignore[no-any-return]


def test_one_row_a_record_with_time_and_frames(tmp_path: Path) -> None:
    record = {
        "exception.type": "KeyError",
        "exception.message": "'total'",
        "transaction": "orders/show",
        "timestamp": "2026-11-03T12:00:00+02:00",
        "count": 4,
        "stacktrace": "Traceback (most recent call last):\n"
        '  File "/srv/shop/web.py", line 2, in show\n    total(cart)\n'
        '  File "/srv/shop/cart.py", line 7, in total\n    return cart["total"]\n'
        "KeyError: 'total'\n",
    }
    path = tmp_path / "export.jsonl"
    path.write_text(
        "\n".join(json.dumps(item) for item in (record, {"message": "started"}, record))
    )
    rows = read(path)
    assert len(rows) == 2
    assert rows[0]["error_class"] == "KeyError"
    assert (rows[0]["message"], rows[0]["transaction"]) == ("'total'", "orders/show")
    assert rows[0]["timestamp"] == "2026-11-03T10:00:00+00:00"
    assert rows[0]["frames"] == [
        {"file": "/srv/shop/cart.py", "line": 7, "in_app": True},
        {"file": "/srv/shop/web.py", "line": 2, "in_app": True},
    ]


def test_a_record_without_a_time_says_none(tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text(json.dumps({"class": "KeyError"}))
    assert read(path)[0] == {
        "error_class": "KeyError",
        "message": "",
        "transaction": "",
        "timestamp": None,
        "frames": [],
    }

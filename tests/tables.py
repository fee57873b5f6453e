"""Tables of test modules: a YAML file with the name of the module, beside it."""

from pathlib import Path
from typing import Any

import yaml


def tables_of(test_module: str) -> dict[str, Any]:
    """Return the tables of a test module, most often by the names of its tests."""
    return yaml.safe_load(Path(test_module).with_suffix(".yml").read_text("utf-8"))  # type: ignore[no-any-return]

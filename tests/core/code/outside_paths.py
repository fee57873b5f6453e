"""Paths written without a look at the policy's tables, by what has to become of them."""

import tomllib
from pathlib import Path

PATHS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ESCAPES, CI, PACKAGES = PATHS["escapes"], PATHS["ci"], PATHS["packages"]
STARTS, AGENTS = PATHS["starts"], PATHS["agents"]
ORDINARY, TOO_COMMON = PATHS["ordinary"], PATHS["too_common"]

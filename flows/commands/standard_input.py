"""The standard input as a file of errors."""

import sys
from typing import Any

from flows.commands.running import complain
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.options import STANDARD_INPUT
from nightwatch_core.settings import night_options
from tasks.wiring import keep_piped_input


def with_kept_input(choices: dict[str, Any]) -> dict[str, Any]:
    """The choices, their standard input kept as a file: retries and `nightwatch one` read it again.

    Ends the process where nothing comes, or too much, or it cannot be written.
    """
    try:
        if night_options(choices).errors != STANDARD_INPUT:
            return choices
        return {**choices, "errors": keep_piped_input(sys.stdin.buffer)}
    except NightWatchError as trouble:
        complain(trouble)

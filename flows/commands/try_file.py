"""`nightwatch try`: what can be said of files of errors in seconds, without Prefect."""

import shlex
from typing import Annotated, Any

import typer
from rich.console import Console

from flows.commands.options import with_option_flags
from flows.commands.running import make_plain
from flows.commands.sign_of_life import sign_of_life
from flows.commands.standard_input import with_kept_input
from nightwatch_core.first_look.costs import estimate
from nightwatch_core.first_look.look import first_look
from nightwatch_core.first_look.terminal import FirstLookText
from nightwatch_core.intake.windows import lookback
from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import night_options
from tasks.wiring.first_look import neighbours, repository

Files = Annotated[
    list[str], typer.Argument(help="Exports or logs: files, folders, patterns; - is the input.")
]


@with_option_flags
def try_file(files: Files, **choices: Any) -> None:
    """Say what NightWatch understands of files of errors, and what a night would cost.

    Takes seconds, starts nothing, keeps nothing but what was piped in. With --repo it says which
    lines of the checkout the errors lead to. Exit code: 0 where errors were read, 1 where none
    could be.
    """
    given = with_kept_input({**choices, "errors": ",".join(files), "source": "file"})
    options = night_options(given)
    near = neighbours(options)
    console = Console(stderr=True)
    with sign_of_life(console, "Reading …"):
        look = first_look(
            near.errors,
            repository(options),
            near.clock.now(),
            lookback(options.since),
            lambda cases: estimate(cases, options, near.model, near.price),
        )
    make_plain()
    Console().print(FirstLookText(look))
    if look.groups:
        print(f"  {_night(options)}")  # on one line, to be copied
    raise SystemExit(0 if look.groups else 1)


def _night(options: NightOptions) -> str:
    """The command that runs a night over the same."""
    given = {name: getattr(options, name) for name in _HANDED_ON}
    chosen = [
        f"--{name.replace('_', '-')} {shlex.quote(text)}" for name, text in given.items() if text
    ]
    repo = [] if options.repo else ["--repo CHECKOUT"]
    return " ".join(("nightwatch night --errors", shlex.quote(options.errors), *chosen, *repo))


_HANDED_ON = (
    "repo",
    "commit",
    "app_root",
    "path_prefixes",
    "app_prefixes",
    "source_maps",
    "since",
    "timezone",
)

"""What commands print for programs: the values of their tables, as JSON."""

import sys
from typing import Annotated, NoReturn

import typer
from pydantic_core import to_json

AsJson = Annotated[bool, typer.Option("--json", help="Print the values as JSON.")]


def print_json(values: object, code: int = 0) -> NoReturn:
    """Print values as JSON in ASCII, so that a terminal obeys none of them; ends the command."""
    sys.stdout.write(f"{to_json(values, indent=2, ensure_ascii=True).decode()}\n")
    raise typer.Exit(code)

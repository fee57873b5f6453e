"""`nightwatch prepare`: a test environment for a repository, made once."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands import night
from nightwatch_core.proof.preparing import described_kit, projects_of, proved_profile
from nightwatch_core.proof.profiles import document, document_name, kept_profile, summary
from nightwatch_core.settings import night_options
from tasks import wiring


def prepare(
    repo: Annotated[
        str, typer.Option(help="Folder of the repository; empty: the one on GitHub.")
    ] = "",
    base_branch: Annotated[str, typer.Option(help="Branch to test; empty: the current one.")] = "",
) -> None:
    """Find out how a repository is tested, install what that needs, and prove it.

    Dependencies are downloaded into the state folder. The result is a page of
    knowledge/projects/, which you may change. Exit code: 0 if the tests can be run, else 1.
    """
    code = "checkout" if repo else "github"
    given = {"repo": repo, "base_branch": base_branch, "code": code, "prepare_network": True}
    options, console = night_options(given), Console(soft_wrap=True)
    host, sandbox, documents = wiring.testing(options)
    tree = host.reader(host.head())
    is_runnable = []
    try:
        for kit in projects_of(tree, options):
            if isinstance(kit, str):
                console.print(Text(kit, "bold red"))
                break
            name = document_name(tree.commit.repository, kit)
            console.print(Text(f"{kit.root or tree.commit.repository} ({kit.language})", "bold"))
            for line in described_kit(kit):
                console.print(Text(f"  {line}"))
            with night.sign_of_life(Console(stderr=True), "Installing and testing …"):
                profile = proved_profile(
                    *(kit, tree, sandbox, kept_profile(documents, name)),
                    date=wiring.now().date().isoformat(),
                    tell=lambda line: console.print(Text(f"  {line}", "dim")),
                )
            file = documents.write(name, document(profile))
            is_runnable.append(profile.is_runnable)
            console.print(Text(f"  {summary(profile)}", "" if profile.is_runnable else "bold red"))
            console.print(Text(f"  Kept in {file}", "dim"))
    finally:
        sandbox.close()
    raise SystemExit(0 if any(is_runnable) else 1)

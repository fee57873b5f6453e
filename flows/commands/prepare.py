"""`nightwatch prepare`: a test environment for a repository, made once."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands import night
from flows.commands.memory import ERRORS_UNREAD
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import RULES
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import CodeHost
from nightwatch_core.proof.preparing import (
    COST,
    Adviser,
    advised_profile,
    asked_for,
    described_kit,
    projects_of,
    proved_profile,
)
from nightwatch_core.proof.profiles import (
    as_proposed,
    document,
    document_name,
    kept_profile,
    summary,
)
from nightwatch_core.settings import night_options, settings
from nightwatch_core.text.plain_text import money
from tasks import wiring
from tasks.progress import ticking


def prepare(
    repo: Annotated[
        str, typer.Option(help="Folder of the repository; empty: the one on GitHub.")
    ] = "",
    base_branch: Annotated[str, typer.Option(help="Branch to test; empty: the current one.")] = "",
    no_model: Annotated[bool, typer.Option("--no-model", help="Ask no model.")] = False,
) -> None:
    """Find out how a repository is tested, install what that needs, and prove it.

    Dependencies are downloaded into the state folder; as root into nightwatch-sandbox-0
    of the folder for temporary files. Where rules find no way, a connected model is
    asked once, for at most $0.50. The result is a page of
    knowledge/projects/, which you may change. Exit code: 0 if the tests can be run, else 1.
    """
    code = "checkout" if repo else "github"
    given = {"repo": repo, "base_branch": base_branch, "code": code, "prepare_network": True}
    options, console = night_options(given), Console(soft_wrap=True)
    host, sandbox, documents = wiring.testing(options)
    tree = host.reader(host.head())
    date, printed, is_runnable = wiring.now().date().isoformat(), [""], list[bool]()
    may_ask = not (no_model or options.verify)

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style))

    try:
        for kit in projects_of(tree, options):
            if isinstance(kit, str):
                say(kit, "bold red")
                break
            name = document_name(tree.commit.repository, kit)
            say(f"{kit.root or tree.commit.repository} ({kit.language})", "bold")
            for line in described_kit(kit):
                say(f"  {line}")
            kept = kept_profile(documents, name)
            printed[:] = [""]
            with (
                night.sign_of_life(Console(stderr=True), "Installing and testing …"),
                ticking() as step,
            ):

                def tell(text: str, show: Callable[[str], None] = step) -> None:
                    say(f"  {text}", "dim")
                    show(text)

                def keep(output: str, name: str = name) -> str:
                    printed.append(output)
                    return wiring.keep_output(name, output)

                prove = partial(
                    proved_profile, tree=tree, sandbox=sandbox, date=date, tell=tell, keep=keep
                )
                profile = prove(as_proposed(kit, tree, kept), kept=kept)
                is_new = not profile.is_runnable and profile.asked != asked_for(kit)
                if is_new and may_ask and (adviser := _adviser(options, host, tell)):
                    may_ask = False
                    tell(f"{summary(profile)} Asking the model (at most {money(COST)}) …")
                    profile, usage = advised_profile(
                        kit, tree, sandbox, profile, adviser, printed, prove
                    )
                    tell(f"the model was asked, {money(usage.cost)}: {profile.because}")
            file = documents.write(name, document(profile))
            is_runnable.append(profile.is_runnable)
            say(f"  {summary(profile)}", "" if profile.is_runnable else "bold red")
            say(f"  Kept in {file}", "dim")
    finally:
        sandbox.close()
    raise SystemExit(0 if any(is_runnable) else 1)


def _adviser(options: NightOptions, host: CodeHost, tell: Callable[[str], None]) -> Adviser | None:
    """Return the model that is connected, with the code as it may see it; None where none is."""
    words = {"source": "file", "errors": ERRORS_UNREAD, "delivery": "local", "notify": "local"}
    try:
        options = wiring.with_default_ports(options.model_copy(update=words))
    except StopTheNight as trouble:
        tell(f"no model is asked: {trouble}")
        return None
    if options.model == RULES:
        return None
    night.make_prefect_ready(settings().state, verbose=False)
    ports, shown = wiring.reading(options), wiring.shown_code(host)
    fence = wiring.proxies.night_fence(f"prepare {ports.clock.now().isoformat()}")
    return Adviser(ports.model, shown.reader(shown.head()), ports.clock, fence)

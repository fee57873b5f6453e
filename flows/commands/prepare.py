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
from nightwatch_core.intake.default_ports import HOSTS, RULES
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.profiles import Profile
from nightwatch_core.ports import CodeHost
from nightwatch_core.proof import preparing, profiles
from nightwatch_core.proof.kits import Kit
from nightwatch_core.settings import Settings, night_options, settings
from nightwatch_core.text.plain_text import money
from tasks import wiring
from tasks.progress import ticking
from tasks.wiring import Harness


def prepare(
    repo: Annotated[
        str, typer.Option(help="Folder of the repository; empty: what the nights read.")
    ] = "",
    base_branch: Annotated[str, typer.Option(help="Branch to test; empty: the current one.")] = "",
    no_model: Annotated[bool, typer.Option("--no-model", help="Ask no model.")] = False,
) -> None:
    """Find out how a repository is tested, install what that needs, and prove it.

    Dependencies are downloaded into the state folder; as root into nightwatch-sandbox-0
    beside other temporary files, which a restart may delete. Where rules find no way, a
    connected model is asked once, for at most $0.50. The result is a page of
    knowledge/projects/, which you may change. Exit code: 0 if the tests can be run, else 1.
    """
    own = {"repo": repo, "code": "checkout", "base_branch": base_branch}
    given = own if repo else {"base_branch": base_branch or None}
    at, options = settings(), night_options({**given, "prepare_network": True})
    ready = wiring.services.available(at)["code"]
    hosted = next((host for host in HOSTS if host in ready), HOSTS[0])
    code = options.code or ("checkout" if options.repo else hosted)
    options = options.model_copy(update={"code": code})
    harness = wiring.testing(options, at)
    asks = None if no_model or options.verify else partial(_adviser, options, harness.code, at)
    raise SystemExit(0 if any(prove_projects(options, harness, asks)) else 1)


Tell = Callable[[str], None]


def prove_projects(
    options: NightOptions,
    harness: Harness,
    adviser_for: Callable[[Tell], preparing.Adviser | None] | None,
) -> tuple[bool, ...]:
    """Prepare each project of a repository, write its page, and tell which can be run.

    `adviser_for` returns the model to ask where rules find no way; None: no model is asked.
    """
    (host, sandbox, documents), console = harness[:3], Console(soft_wrap=True)
    tree, date = host.reader(host.head()), harness.clock.now().date().isoformat()
    may_ask, is_runnable = adviser_for, list[bool]()

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style))

    def made(kit: Kit, name: str, kept: Profile | None, step: Tell) -> Profile:
        nonlocal may_ask
        printed = [""]

        def tell(text: str) -> None:
            say(f"  {text}", "dim")
            step(text)

        def keep(output: str) -> str:
            printed.append(output)
            return harness.keep_output(name, output)

        def prove(kit: Kit, kept: Profile | None) -> Profile:
            return preparing.proved_profile(kit, tree, sandbox, kept, date, tell, keep)

        profile = prove(profiles.as_proposed(kit, tree, kept), kept)
        is_known = profile.is_runnable or profile.asked == preparing.asked_for(kit)
        if is_known or not may_ask or not (adviser := may_ask(tell)):
            return profile
        may_ask = None  # it is once a repository
        tell(f"{profiles.summary(profile)}; a model is asked …")
        profile, usage = preparing.advised_profile(
            kit, tree, sandbox, profile, adviser, printed, prove
        )
        tell(f"the model was asked for {money(usage.cost)}: {profile.because}")
        return profile

    try:
        nothing = ("No code in a language that can be tested.",)
        for kit in preparing.projects_of(tree, options) or nothing:
            if isinstance(kit, str):
                say(kit, "bold red")
                break
            name = profiles.document_name(tree.commit.repository, kit)
            say(f"{kit.root or tree.commit.repository} ({kit.language})", "bold")
            for line in preparing.described_kit(kit):
                say(f"  {line}")
            kept = profiles.kept_profile(documents, name)
            shown = night.sign_of_life(Console(stderr=True), "Installing and testing …")
            with shown, ticking() as step:
                profile = made(kit, name, kept, step)
            file = documents.write(name, profiles.document(profile))
            is_runnable.append(profile.is_runnable)
            say(f"  {profiles.summary(profile)}", "" if profile.is_runnable else "bold red")
            say(f"  Kept in {file}", "dim")
    finally:
        sandbox.close()
    return tuple(is_runnable)


def _adviser(
    options: NightOptions, host: CodeHost, at: Settings, tell: Tell
) -> preparing.Adviser | None:
    """Return the model that is connected, with the code as it may see it; None where none is."""
    unused = {"source": "file", "errors": ERRORS_UNREAD, "delivery": "local", "notify": "local"}
    try:
        options = wiring.with_default_ports(options.model_copy(update=unused), at)
    except StopTheNight as trouble:
        tell(f"no model is asked: {trouble}")
        return None
    if options.model == RULES:
        return None
    night.make_prefect_ready(at.state, verbose=False)
    opened = wiring.for_a_command(options, at)
    ports, shown = opened.reading, wiring.shown_code(host, at)
    fence = opened.fence(f"prepare {ports.clock.now().isoformat()}")
    return preparing.Adviser(ports.model, shown.reader(shown.head()), ports.clock, fence)

"""Default adapters of each port.

The sample never leaves the machine: it takes every other port local unless one is named.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.windows import HELD
from nightwatch_core.models.options import NightOptions

Available = Mapping[str, frozenset[str]]  # port → names that are connected and have credentials

SAMPLE = "sample"
ON_THIS_MACHINE = frozenset({"checkout", SAMPLE})  # where code can be
HOSTS = ("github", "gitlab")  # of code, issues and pull requests; the first that is ready
RULES = "rules"
MODELS = "claude-"  # any name that starts so is a Claude model id
COMPATIBLE = "any model of your server"  # where an address is set, every name may be one


def fill_ports(
    options: NightOptions,
    available: Available,
    default_model: str,
    lacking: Mapping[str, Sequence[str]] | None = None,
    models: Iterable[str] = (),
) -> NightOptions:
    """Fill every empty port; raises `StopTheNight` where the choice cannot work.

    `lacking` has the settings that a service which is not available still needs, `models` the
    known names of Claude models.
    """
    options = options.model_copy(update={"source": options.source or _source(options, available)})
    has_claude = "claude" in available["model"] and not is_sample(options)
    update = {
        "code": options.code or _code(options, available),
        "model": options.model or (default_model if has_claude else RULES),
        "delivery": options.delivery or _service("delivery", HOSTS, options, available),
        "notify": options.notify or _service("notify", ("slack", "channels"), options, available),
    }
    if update["model"] in (RULES, options.lead_model):  # nobody would look again
        update["lead_model"] = ""
    options = options.model_copy(update=update)
    _check(options, available, lacking or {}, models)
    ten_or_five = 10 if options.model == RULES else 5
    return options.model_copy(update={"max_errors": options.max_errors or ten_or_five})


def is_sample(options: NightOptions) -> bool:
    """Tell whether errors come from the sample alone."""
    return options.sources() == (SAMPLE,)


def _source(options: NightOptions, available: Available) -> str:
    connected = sorted(available["source"].difference(HELD))
    if connected and not options.errors:
        return ",".join(connected)
    return "file" if options.errors or options.repo else SAMPLE


def _code(options: NightOptions, available: Available) -> str:
    if is_sample(options):
        return SAMPLE
    if options.repo:
        return "checkout"
    return next((host for host in HOSTS if host in available["code"]), "checkout")


def _service(
    port: str, services: Iterable[str], options: NightOptions, available: Available
) -> str:
    ready = () if is_sample(options) else services
    return next((service for service in ready if service in available[port]), "local")


def _kind_of(model: str, available: Available) -> str:
    if model == RULES:
        return RULES
    is_claude = model.startswith(MODELS) or COMPATIBLE in available["model"]
    return "claude" if is_claude else ""


def _check(
    options: NightOptions,
    available: Available,
    lacking: Mapping[str, Sequence[str]],
    models: Iterable[str],
) -> None:
    named = {
        "source": options.sources(),
        "code": (options.code,),
        "model": (_kind_of(options.model, available),),
        "delivery": (options.delivery,),
        "notify": (options.notify,),
    }
    problems = []
    for port, name in ((port, name) for port, names in named.items() for name in names):
        if port == "model" and not name:
            problems.append(_unknown_model(options.model, available, lacking, models))
        elif name not in available[port]:
            advice = f"choose {' or '.join(sorted(available[port]))}"
            if name in lacking:
                advice = f"set {', '.join(lacking[name])}, or {advice}"
            problems.append(f"{port} {name!r} is not connected here: {advice}")
    lead = options.lead_model
    if lead and _kind_of(lead, available) != "claude":
        choice = f"choose one of {', '.join(models)}, or leave it empty"
        problems.append(f"lead_model {lead!r} is not a Claude model: {choice}")
    if not options.sources():
        problems.append(f"source {options.source!r} names none")
    if "file" in named["source"] and not options.errors:
        problems.append("source 'file' needs --errors: an export or log file to read")
    if options.code == "checkout" and not options.repo:
        problems.append("code 'checkout' needs --repo: the git checkout the errors come from")
    if problems:
        raise StopTheNight("\n".join(problems))


def _unknown_model(
    name: str, available: Available, lacking: Mapping[str, Sequence[str]], models: Iterable[str]
) -> str:
    near = difflib.get_close_matches(name, (RULES, *models), n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    key = "" if "claude" in available["model"] else f" with {', '.join(lacking.get('claude', ()))}"
    return (
        f"model {name!r} is unknown{meant}: choose {RULES}, or a Claude model{key} "
        f"({', '.join(models)}), or set ANTHROPIC_BASE_URL to the server that has {name!r}"
    )

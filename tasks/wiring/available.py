"""What can stand behind each port here: on this machine, and of the services that are set up."""

from collections.abc import Mapping

from nightwatch_core.intake import default_ports
from nightwatch_core.settings import Settings
from tasks.wiring import services

LOCAL: Mapping[str, frozenset[str]] = {
    "source": frozenset({"file", "sample"}),
    "code": default_ports.ON_THIS_MACHINE,
    "model": frozenset({"rules"}),
    "delivery": frozenset({"local"}),
    "notify": frozenset({"local"}),
}
SERVICES: Mapping[str, frozenset[str]] = {
    "source": frozenset({"newrelic"}),
    "code": frozenset({"github"}),
    "model": frozenset({"claude"}),
    "delivery": frozenset({"github"}),
    "notify": frozenset({"slack"}),
}


def available(settings: Settings) -> dict[str, frozenset[str]]:
    """Every port's names that are connected."""
    missing = services.lacking(settings)
    ready = {port: names - missing.keys() for port, names in SERVICES.items()}
    compatible = {default_ports.COMPATIBLE} if settings.anthropic_base_url else set()
    return {port: LOCAL[port] | ready[port] for port in LOCAL} | {
        "model": LOCAL["model"] | ready["model"] | compatible
    }

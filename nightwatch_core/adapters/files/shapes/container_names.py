"""Which service a container, task, pod or unit is of: its name without what each start gives it."""

import re

# What a start adds to the name of a service, the first that matches is taken off. Names of errors
# must not change with the container that they happened in.
ADDED = tuple(
    re.compile(pattern)
    for pattern in (
        r"\.\d{1,4}\.[a-z0-9]{10,25}(?:@[\w.-]{1,80})?$",  # a task of Docker's swarm
        r"-[a-f0-9]{8,10}-[a-z0-9]{5}$",  # a pod of a deployment
        r"(?<=[A-Za-z])[-_]\d{1,3}$",  # a replica of compose, of a stateful set
        r"@[\w:.-]{1,80}$",  # an instance of a unit
        r"\.service$",
    )
)


def service_of(name: str) -> str:
    """Give the service's name.

    >>> [service_of(name) for name in ("/shop_web_1", "shop_web.1.glfdb81eqgo0@node-3", "web@2")]
    ['shop_web', 'shop_web', 'web']
    >>> [service_of(name) for name in ("web-7d9f8b6c5f-x2x9z", "db-0", "oauth2", "1")]
    ['web', 'db', 'oauth2', '1']
    """
    plain = name.strip().lstrip("/")
    cut = next((bare for added in ADDED if (bare := added.sub("", plain)) != plain), plain)
    return cut or plain

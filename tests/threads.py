"""What happens at the same time."""

from collections.abc import Callable
from threading import Thread


def at_once(*works: Callable[[], object]) -> None:
    """Do all of these in threads of their own, and wait for the last."""
    threads = [Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

"""Signs of who caused an error, in its class or its messages: the table signs.toml."""

from collections.abc import Iterable

from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.words import last_segment


class Sign(Value):
    """What a class or a message says about who caused an error; a table of signs.toml."""

    reason: str
    classes: str
    messages: tuple[str, ...]

    def is_on(self, name: str, messages: Iterable[str]) -> bool:
        """Tell whether a class is listed, or all of the messages hold a listed text."""
        texts = [message.casefold() for message in messages if message]
        said = (any(part in text for part in self.messages) for text in texts)
        return last_segment(name).casefold() in self.classes.split() or bool(texts and all(said))


SIGNS = data_table("nightwatch_core.patterns", "signs.toml", dict[str, Sign])
CLIENT, REQUEST, OUTSIDE = (SIGNS[name] for name in ("client_gone", "no_such_request", "outside"))

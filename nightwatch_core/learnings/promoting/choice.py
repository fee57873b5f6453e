"""From what a person typed to the offers that are meant."""

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.learning import LearningOffer
from nightwatch_core.text.escaping import line


def choosable(offered: tuple[LearningOffer, ...]) -> tuple[LearningOffer, ...]:
    """The offers that have a number."""
    return tuple(one for one in offered if one.number)


def chosen_of(said: str, offered: tuple[LearningOffer, ...]) -> tuple[LearningOffer, ...]:
    """The offers behind "1,3", "all", "" or "none"; each once, in the order of the list.

    Raises `GiveUp` that says which numbers exist for anything else.

    >>> chosen_of("none", ())
    ()
    """
    free = {one.number: one for one in choosable(offered)}
    words = [word for word in said.replace(",", " ").lower().split() if word]
    if words in ([], ["none"]):
        return ()
    if words == ["all"]:
        return tuple(free.values())
    wrong = [word for word in words if not _number(word) or int(word) not in free]
    if wrong:
        shown = ", ".join(line(word, 20) for word in wrong[:5])
        raise GiveUp(f"{shown} cannot be chosen: {_there(sorted(free))}")
    wanted = {int(word) for word in words}
    return tuple(one for number, one in free.items() if number in wanted)


def _number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 4


def _there(numbers: list[int]) -> str:
    if not numbers:
        return "there is nothing to promote"
    if len(numbers) == 1:
        return f"there is only {numbers[0]}; or say all or none"
    return f"there are {numbers[0]} to {numbers[-1]}; or say all or none"

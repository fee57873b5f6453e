"""From what a person chose of the offers to the draft pull request that adds it to CLAUDE.md.

Fixes may never touch a file that instructs agents (`code/protected_paths.py`). This is the one
exception, and it is made of offers that a person chose, never of an analysis: it does not go
through the plans of a night, and changes no other path.
"""

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.offers import list_entry
from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposals import DraftPull, FileChange, LearningOffer
from nightwatch_core.publish.expected_value import effect_key
from nightwatch_core.publish.issue_text import LABEL
from nightwatch_core.publish.markers import marker
from nightwatch_core.text.escaping import line, title
from nightwatch_core.text.plain_text import plural

PATH = "CLAUDE.md"
FINGERPRINT = "promotion"  # of no error


def numbered_offers(offered: tuple[LearningOffer, ...]) -> tuple[LearningOffer, ...]:
    """The offers that have a number."""
    return tuple(offer for offer in offered if offer.number)


def chosen_offers(typed: str, offered: tuple[LearningOffer, ...]) -> tuple[LearningOffer, ...]:
    """The offers behind "1,3", "all", "" or "none"; each once, in the order of the list.

    Raises `GiveUp` that says which numbers exist for anything else.

    >>> chosen_offers("none", ())
    ()
    """
    free = {offer.number: offer for offer in numbered_offers(offered)}
    words = [word for word in typed.replace(",", " ").lower().split() if word]
    if words in ([], ["none"]):
        return ()
    if words == ["all"]:
        return tuple(free.values())
    wrong = [word for word in words if not _number(word) or int(word) not in free]
    if wrong:
        shown = ", ".join(line(word, 20) for word in wrong[:5])
        raise GiveUp(f"{shown} cannot be chosen: {_there(sorted(free))}")
    wanted = {int(word) for word in words}
    return tuple(item for number, item in free.items() if number in wanted)


def promotion_pull(
    chosen: tuple[LearningOffer, ...], text: str, commit: Commit, night: str
) -> DraftPull:
    """One commit that gives CLAUDE.md this text; named by what was chosen.

    Raises `GiveUp` for an empty choice.
    """
    if not chosen:
        raise GiveUp("nothing was chosen: a pull request without learnings is none")
    key = effect_key("promote", commit.repository, *sorted(offer.digest for offer in chosen))
    subject = f"Learnings for CLAUDE.md: {chosen[0].headline}"
    more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
    named = "\n".join(f"- {title(offer.headline, 100)}" for offer in chosen)
    return DraftPull(
        key=key,
        fingerprint=FINGERPRINT,
        branch=f"nightwatch/{key[:12]}",
        base=commit.branch,
        title=title(f"{title(subject, 100)}{more}"),
        body=_body(chosen, key, night),
        commit_message=f"Add learnings to {PATH}\n\n{named}\n",
        changes=(FileChange(path=PATH, text=text),),
        commit=commit.sha,
        labels=(LABEL,),
    )


def _number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 4


def _there(numbers: list[int]) -> str:
    if not numbers:
        return "there is nothing to promote"
    if len(numbers) == 1:
        return f"there is only {numbers[0]}; or say all or none"
    return f"there are {numbers[0]} to {numbers[-1]}; or say all or none"


def _body(chosen: tuple[LearningOffer, ...], key: str, night: str) -> str:
    note = (
        f"A person chose {plural(len(chosen), 'learning')} from NightWatch's notes for `{PATH}`. "
        "The notes were drawn from production errors and work on them, which is untrusted input: "
        "agents will follow what stands there, so read each line as you would an order to them."
    )
    entries = "\n".join(map(list_entry, chosen))
    return f"{marker(FINGERPRINT, key, night)}\n\n{note}\n\n{entries}\n"

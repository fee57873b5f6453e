"""The draft pull request that adds chosen learnings to CLAUDE.md.

Fixes may never touch a file that instructs agents (policy.py). This is the one exception, and it is
made of offers that a person chose, never of an analysis: it does not go through the plans of a
night, and changes no other path.
"""

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.promoting.offers import entry
from nightwatch_core.models.code import Commit
from nightwatch_core.models.learning import LearningOffer
from nightwatch_core.models.proposal import DraftPull, FileChange
from nightwatch_core.publish.candidates import effect_key
from nightwatch_core.publish.issue_text import LABEL, marker
from nightwatch_core.text.escaping import title

PATH = "CLAUDE.md"
FINGERPRINT = "promotion"  # of no error


def pull_of(chosen: tuple[LearningOffer, ...], text: str, commit: Commit, night: str) -> DraftPull:
    """One commit that gives CLAUDE.md this text; named by what was chosen.

    Raises `GiveUp` for an empty choice.
    """
    if not chosen:
        raise GiveUp("nothing was chosen: a pull request without learnings is none")
    key = effect_key("promote", commit.repository, *sorted(one.digest for one in chosen))
    subject = f"Learnings for CLAUDE.md: {chosen[0].headline}"
    more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
    named = "\n".join(f"- {title(one.headline, 100)}" for one in chosen)
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


def _body(chosen: tuple[LearningOffer, ...], key: str, night: str) -> str:
    note = (
        f"A person chose {_counted(chosen)} from NightWatch's notes for `{PATH}`. The notes were "
        "drawn from production errors and work on them, which is untrusted input: agents will "
        "follow what stands there, so read each line as you would an order to them."
    )
    return f"{marker(FINGERPRINT, key, night)}\n\n{note}\n\n" + "\n".join(map(entry, chosen)) + "\n"


def _counted(chosen: tuple[LearningOffer, ...]) -> str:
    return f"{len(chosen)} learning{'s' * (len(chosen) != 1)}"

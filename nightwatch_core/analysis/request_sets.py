"""Names for what is sent as a batch: of the whole set, of each item, of each batch.

An item's key carries the name of its set, so that a batch that was submitted by a night which did
not live to write down its id can be recognised by what is in it.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from nightwatch_core.models.batch import Batch, BatchItem, TokenPrice, TriageItem
from nightwatch_core.models.conversation import Conversation
from nightwatch_core.models.error import ErrorGroup

SET_CHARACTERS, ITEM_CHARACTERS = 24, 32  # of digests in a key


def request_set(
    night: str, asked: Sequence[tuple[ErrorGroup, Conversation]]
) -> tuple[TriageItem, ...]:
    """The items to submit, one for each error; the same night's same questions give the same keys.

    An error that is asked about twice is there once.
    """
    questions = {group.fingerprint: (group, talk) for group, talk in asked}
    texts = ((name, talk.system, _words(talk)) for name, (_, talk) in questions.items())
    name = _digest((night, *map(json.dumps, texts)))[:SET_CHARACTERS]
    return tuple(
        TriageItem(
            key=f"{name}-{_digest((fingerprint,))[:ITEM_CHARACTERS]}",
            fingerprint=fingerprint,
            conversation=talk,
            group=group,
        )
        for fingerprint, (group, talk) in questions.items()
    )


def intent_of(
    items: Sequence[TriageItem],
    night: str,
    model: str,
    now: datetime,
    prices: tuple[TokenPrice, ...] = (),
    priced: str = "",
    account: str = "",
) -> Batch:
    """The intent to submit these items as one batch."""
    return Batch(
        digest=_digest(sorted(one.key for one in items))[:ITEM_CHARACTERS],
        night=night,
        model=model,
        submitted=now,
        items=tuple(
            BatchItem(key=one.key, fingerprint=one.fingerprint, group=one.group) for one in items
        ),
        prices=prices,
        priced=priced,
        account=account,
    )


def _words(conversation: Conversation) -> list[object]:
    return [turn.model_dump(mode="json") for turn in conversation.turns]


def _digest(parts: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "replace")
        whole.update(b"%d:%s" % (len(raw), raw))
    return whole.hexdigest()

"""How requests to a model are shaped, as the settings say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import Settings

if TYPE_CHECKING:
    from nightwatch_core.adapters.claude.features import Tuning


def tuning(options: NightOptions, settings: Settings) -> Tuning:
    """What is chosen about requests to a model beyond the conversation itself."""
    from nightwatch_core.adapters.claude.features import Tuning

    return Tuning(
        clear_at=settings.clear_at_tokens or None,
        compact_at=_compact_at(options, settings),
        keep_thinking=settings.keep_thinking_turns or None,
        thinking_decay=settings.thinking_decay_turns,
    )


def _compact_at(options: NightOptions, settings: Settings) -> int | None:
    """A size that a conversation can reach within what its error may use; None: never."""
    if not settings.use_compaction or not settings.compact_at_tokens:
        return None
    return min(settings.compact_at_tokens, options.token_budget_per_error * 3 // 4)

"""What several errors, or several nights, have in common, told to people; nothing acts on it.

Rules over one case belong to `analysis` and `rules`; lessons themselves to `memory`.
"""

from nightwatch_core.patterns.detection import (
    detect,
    merge_pattern,
    patterns_for,
    related_to_patterns,
)

__all__ = ["detect", "merge_pattern", "patterns_for", "related_to_patterns"]

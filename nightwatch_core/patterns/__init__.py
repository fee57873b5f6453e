"""Patterns among errors and nights, for people; nothing acts on them.

Rules over one case belong to `analysis` and `rules`; lessons themselves to `memory`.
"""

from nightwatch_core.patterns.detection import (
    detect,
    merge_pattern,
    patterns_for,
    related_to_patterns,
)

__all__ = ["detect", "merge_pattern", "patterns_for", "related_to_patterns"]

"""Plan issues, comments and draft pull requests, and the reasons for those that are skipped.

Two plans, because a pull request refers to its issue's number: first issues, then pull requests.
How a tracker is told stands with its adapter.
"""

from nightwatch_core.publish.expected_value import candidate_score, effect_key, in_order
from nightwatch_core.publish.plan import plan_issues, plan_pulls

__all__ = ["candidate_score", "effect_key", "in_order", "plan_issues", "plan_pulls"]

"""Plan issues, comments and draft pull requests, and the reasons for those that are skipped.

Two plans, because a pull request refers to its issue's number: first issues, then pull requests.
"""

from nightwatch_core.publish.expected_value import effect_key, in_order
from nightwatch_core.publish.plan import plan_issues, plan_pulls

__all__ = ["effect_key", "in_order", "plan_issues", "plan_pulls"]

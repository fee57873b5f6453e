"""One case explained: briefing, plan, budget, the loop with its tools, agent files, second look.

Not here: what a verdict is worth (`code`), the offline analyst (`rules`), how a model is called.
"""

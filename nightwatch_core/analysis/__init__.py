"""The agent: a bounded conversation between a model and the code."""

"""Flows: they order tasks and hold no logic of their own."""

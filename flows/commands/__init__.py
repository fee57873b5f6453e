"""The `nightwatch` command: one file a verb."""

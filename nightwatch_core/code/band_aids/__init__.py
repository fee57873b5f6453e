"""Changes that make a crash go away and leave its cause: told by both versions of a file."""

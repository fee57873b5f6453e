"""Github."""

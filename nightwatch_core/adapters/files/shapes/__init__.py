"""Shapes of exports and logs in JSON: what tells each, and how it is unpacked into records."""

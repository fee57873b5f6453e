"""Source maps of JavaScript bundles: read from a folder by a library."""

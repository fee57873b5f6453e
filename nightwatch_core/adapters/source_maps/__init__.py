"""Source maps of JavaScript bundles, from a folder and read by a library."""

"""Source maps of JavaScript bundles, from a folder and read by a library.

Nothing else of the house reads a map.
"""

"""The outside world, one neighbour a folder: the only code that touches network, disk and clock.

What a neighbour calls things stays in its folder. Decisions about errors do not belong here.
"""

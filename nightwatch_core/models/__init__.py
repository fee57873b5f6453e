"""The words of the house: frozen values, one family a file.

Not here: whatever decides, reads or writes; a value knows sums and names of its own parts only.
"""

"""Stack traces of nine languages, read into frames, which are placed in the repository.

What the code at those places means belongs to `code`; what an analyst makes of it, to `analysis`.
"""

"""What must not go where it was not: secrets, people's data, files that hold nothing else.

`scrubber` is the one scrubber, made of the rules beside it; `values` takes it through our values.
"""

"""Which earlier lessons an error recalls: what is compared, its weight, and how sure that is.

The index that is searched is an adapter's; what is done with the lessons is `prior_analyses`.
"""

"""Code at one commit: definitions, likely files, suspects, edits and their policy, quotes.

Here belongs what reads, compares or changes source text and can be asked by any analyst; not how a
model is led to an answer (analysis), what the offline analyst concludes (rules) or how code is
fetched (adapters).
"""

"""What is known about code at one commit: definitions, likely files, suspects, edits, quotes.

Here belongs what reads, compares or changes source text and can be asked by any analyst; not how a
model is led to an answer (analysis), what the offline analyst concludes (rules) or how code is
fetched (adapters).
"""

"""The offline analyst: it reads code by tool calls, quotes it, and mends what is mechanical.

Here belongs how a kind of failure is told and explained without a language model (`engine.RULES` is
the table); not the tools it calls (analysis) nor anything that other analysts need too (code).
"""

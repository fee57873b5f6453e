"""Finds root causes by rules: reads code through tool calls, quotes it, fixes what is mechanical.

`thinking.next_turn` is the entry; `places.ranked_places` ranks files by the trace alone.
"""

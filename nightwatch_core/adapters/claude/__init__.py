"""Claude over Anthropic's Messages API, and servers that speak it: requests, replies, prices.

What to ask a model, and what its answers mean for an error, belongs to `analysis/`.
"""

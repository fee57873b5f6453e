"""What the loop says to a model between its turns. Each text is a prompt."""

WRAP_UP = (
    "Time to conclude: no more tools. Answer now, in the schema, with what you have seen. "
    "Say what you could not check."
)
REPAIR = "Your last message could not be read: {why}. Answer again with the JSON object only."
TOOLS_OFF = "Not run: tools are off now."
CUT = "Not run: your message was cut off here. Ask again, for fewer things at once."
TURNS_TOLD = 3  # turns before the last one from which on they are counted down
LITTLE_LEFT = 0.35  # of its tokens, from which on they are told


def what_is_left(turns: int, tokens_left: int, tokens: int) -> str:
    """Say what is left before the model has to conclude; empty while there is plenty.

    `turns` are those that may still use tools.

    >>> what_is_left(2, 90_000, 100_000)
    '2 more turns may use tools, then you have to answer.'
    >>> what_is_left(9, 30_000, 100_000)
    'About 30,000 new tokens are left of 100,000: read what decides, then answer.'
    >>> what_is_left(9, 90_000, 100_000)
    ''
    """
    if turns <= TURNS_TOLD:
        more = "1 more turn may use tools" if turns == 1 else f"{turns} more turns may use tools"
        return f"{more}, then you have to answer."
    if tokens_left < LITTLE_LEFT * tokens:
        rounded = tokens_left // 1_000 * 1_000
        return (
            f"About {rounded:,} new tokens are left of {tokens:,}: read what decides, then answer."
        )
    return ""

"""A call that cannot be answered, with the sentence that tells the model what to do instead."""


class Refusal(Exception):  # noqa: N818 - a sentence for the model, never seen outside the tools
    """Why not, and what to ask instead; `missing` where the call named what is not there."""

    def __init__(self, sentence: str, missing: bool = False) -> None:
        """`sentence` is all the model is told."""
        super().__init__(sentence)
        self.missing = missing

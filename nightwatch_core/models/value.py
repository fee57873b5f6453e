"""What every word of the house is made of."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value: compare it, hash it, store it, never change it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

"""The base class of all values."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value: compare it, hash it, store it, never change it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

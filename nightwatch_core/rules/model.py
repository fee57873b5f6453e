"""A model that needs no network and no account: rules that read the code like a model would."""

from nightwatch_core.models.conversation import Capabilities, Conversation, Reply
from nightwatch_core.rules.next_turn import next_turn

NAME = "rules"


class RulesModel:
    """The Model port over the rules of `nightwatch_core.rules`; keeps no state."""

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        """The next turn; takes milliseconds, so `timeout` does not matter."""
        turn = next_turn(conversation)
        return Reply(turn=turn, stop="tools" if turn.calls else "answer")

    def capabilities(self) -> Capabilities:
        """Local and free."""
        return Capabilities(model=NAME, local=True, input_price=0, output_price=0)

    def probe(self) -> str:
        """Say what it is."""
        return "rules on this machine, no language model"

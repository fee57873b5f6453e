"""What a model says of an error at first sight, read strictly: what does not fit is no answer."""

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.batch import FirstSight


def read_first_sight(text: str) -> FirstSight:
    """Read the one object in a model's answer; raises `GiveUp` saying what is wrong with it.

    >>> read_first_sight('{"severity": "low", "likely_cause": "", "needs_deep_investigation": '
    ...                  'false, "category": "infra"}').category
    'infra'
    """
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise GiveUp("the answer is no JSON object" if text.strip() else "the answer is empty")
    try:
        return FirstSight.model_validate_json(text[begin : end + 1])
    except ValidationError as problems:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or 'JSON'}: {problem['msg']}"
            for problem in problems.errors(include_input=False)[:4]
        )
        raise GiveUp(f"the answer does not fit: {wrong}"[:500]) from None

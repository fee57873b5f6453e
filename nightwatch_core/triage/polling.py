"""When to ask whether a batch has ended: often at first, then less and less."""

STEPS = ((10, 30.0), (20, 60.0))  # so many times, after so many seconds
LATER = 300.0  # seconds between all further times
MOST = 50  # times that a task can be tried again


def pauses(minutes: int) -> tuple[float, ...]:
    """List the seconds between questions, together at most `minutes`, and at most 50 of them.

    >>> pauses(6)
    (30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 60.0)
    >>> pauses(0), len(pauses(10_000))
    ((), 50)
    """
    planned = [pause for times, pause in STEPS for _ in range(times)]
    planned += [LATER] * (MOST - len(planned))
    left, kept = 60.0 * minutes, list[float]()
    for pause in planned:
        if pause > left:
            break
        left -= pause
        kept.append(pause)
    return tuple(kept)

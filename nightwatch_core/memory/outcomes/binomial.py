"""Tails of the binomial and beta-binomial distributions; no library but `math`.

The binomial is continued to broken numbers by the incomplete beta function. Both are exact but for
rounding up to 2,000 (of the rarer outcome, of all); of more, 2,000 in the same share are reckoned
with, which is on the safe side: chance alone moves fewer further.
"""

from math import exp, fabs, lgamma, log, log1p

MOST_EXACT = 2_000.0  # outcomes
_TINY, _PRECISE, _STEPS = 1e-300, 1e-13, 20_000


def at_least(x: float, n: float, odds: float) -> float:
    """Give the chance of x or more successes in n tries, each with these odds (for to against).

    >>> round(at_least(2, 2, 1.0), 4), round(at_least(8, 10, 1.0), 4), at_least(0, 5, 0.1)
    (0.25, 0.0547, 1.0)
    """
    if x <= 0:
        return 1.0
    scale = min(1.0, MOST_EXACT / max(min(x, n - x), 1.0))
    x, n = x * scale, n * scale
    return _beta(x, max(n - x, 0.0) + 1.0, odds / (1.0 + odds), 1.0 / (1.0 + odds))


def at_most(x: float, n: float, odds: float) -> float:
    """Give the chance of x or fewer successes.

    >>> round(at_most(0, 2, 1.0), 6), at_most(5, 5, 0.1)
    (0.25, 1.0)
    """
    return at_least(n - x, n, 1.0 / odds) if odds > 0 else 1.0


def at_least_bursty(y: float, n: float, a: float, b: float) -> float:
    """Give the chance of y or more of n, each with a chance that itself is a beta variable (a, b).

    So do negative binomial counts share a total.

    >>> round(at_least_bursty(1, 2, 1.0, 1.0), 6), at_least_bursty(0, 9, 2.0, 3.0)
    (0.666667, 1.0)
    """
    if y <= 0 or a <= 0.0 or b <= 0.0:
        return 1.0
    scale = min(1.0, MOST_EXACT / n)
    y, n = round(y * scale), round(n * scale)
    ways = _rise(n - y, y + 1.0) - lgamma(n - y + 1.0)
    term = _exp(ways + _rise(y, a) + _rise(n - y, b) - _rise(n, a + b))
    total = 0.0
    for count in range(y, n + 1):
        total += term
        term *= (n - count) / (count + 1.0) * (a + count) / max(b + n - count - 1.0, _TINY)
    return min(1.0, total)


def _beta(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function of x = 1 - y: its smaller side is computed."""
    if x <= 0.0 or y <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    ends = _rise(min(a, b), max(a, b)) - lgamma(min(a, b))
    power = ends + a * _log(x, y) + b * _log(y, x)
    front = _exp(power)
    if x < (a + 1.0) / (a + b + 2.0):
        return min(1.0, front * _fraction(a, b, x) / a)
    return max(0.0, 1.0 - front * _fraction(b, a, y) / b)


def _rise(a: float, b: float) -> float:
    """The log gamma function of a + b less that of b; by Stirling where b is large."""
    if b < 1e4:
        return lgamma(a + b) - lgamma(b)
    return (b - 0.5) * log1p(a / b) + a * (log(a + b) - 1.0) + (1 / (a + b) - 1 / b) / 12.0


def _exp(power: float) -> float:
    return exp(power) if power > -745.0 else 0.0


def _log(x: float, rest: float) -> float:
    return log1p(-rest) if rest < 0.5 else log(x)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1.0 / _away(1.0 + term * d), _away(1.0 + term / c)
            value *= c * d
        if fabs(c * d - 1.0) < _PRECISE:
            break
    return value


def _away(number: float) -> float:
    return number if fabs(number) > _TINY else _TINY

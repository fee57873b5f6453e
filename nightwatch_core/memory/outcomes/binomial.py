"""Tails of the binomial and beta-binomial distributions; no library but `math`.

The binomial is continued to broken numbers. Up to 200 on the rarer side the regularised incomplete
beta function is computed by its continued fraction: exact but for rounding. Beyond that Peizer and
Pratt's normal approximation (1968) stands in; within 6 standard deviations it is off by less than
2 parts in 10,000 of the tail's value.
"""

from math import erfc, exp, fabs, lgamma, log, log1p, sqrt

MOST_EXACT = 200.0  # of the rarer outcome
MOST_TERMS = 2_000  # of a beta-binomial tail that are added up
MOST_COUNTED = 100_000_000  # of them; more are as good as continuous
_TINY, _PRECISE, _STEPS = 1e-300, 1e-13, 20_000


def at_least(x: float, n: float, odds: float) -> float:
    """Chance of x or more successes in n tries, each with these odds (success to failure).

    >>> round(at_least(2, 2, 1.0), 4), round(at_least(8, 10, 1.0), 4), at_least(0, 5, 0.1)
    (0.25, 0.0547, 1.0)
    """
    if x <= 0:
        return 1.0
    p, q = odds / (1.0 + odds), 1.0 / (1.0 + odds)
    if min(x, n - x) <= MOST_EXACT:
        return _beta(x, max(n - x, 0.0) + 1.0, p, q)
    return _normal_tail(-_deviate(x - 1.0, n, p, q))


def at_most(x: float, n: float, odds: float) -> float:
    """Chance of x or fewer successes.

    >>> round(at_most(0, 2, 1.0), 6), at_most(5, 5, 0.1)
    (0.25, 1.0)
    """
    return at_least(n - x, n, 1.0 / odds) if odds > 0 else 1.0


def at_least_bursty(y: int, n: int, a: float, b: float) -> float:
    """Chance of y or more of n, each with a chance that itself varies as a beta variable (a, b).

    So do negative binomial counts share a total. Up to 2,000 terms are added up; a longer tail is
    that of the beta variable with the mean and the variance of the share.

    >>> round(at_least_bursty(1, 2, 1.0, 1.0), 6), at_least_bursty(0, 9, 2.0, 3.0)
    (0.666667, 1.0)
    """
    if y <= 0 or a <= 0.0 or b <= 0.0:
        return 1.0
    if n - y >= MOST_TERMS or n > MOST_COUNTED:
        spread = 1.0 / (1.0 + a + b)
        both = n / (1.0 + (n - 1.0) * spread) - 1.0
        share, mean = (y - 0.5) / n, a / (a + b)
        return _beta((1.0 - mean) * both, mean * both, 1.0 - share, share)
    ways = _rise(n - y, y + 1.0) - lgamma(n - y + 1.0)
    term = _exp(ways + _rise(y, a) + _rise(n - y, b) - _rise(n, a + b))
    total = 0.0
    for found in range(y, n + 1):
        total += term
        term *= (n - found) / (found + 1.0) * (a + found) / max(b + n - found - 1.0, _TINY)
    return min(1.0, total)


def _normal_tail(z: float) -> float:
    """Chance that a standard normal variable lies below z."""
    return erfc(-z / sqrt(2.0)) / 2.0


def _deviate(k: float, n: float, p: float, q: float) -> float:
    """Peizer and Pratt's normal deviate of the chance of k or fewer."""
    off = k + 2.0 / 3.0 - (n + 1.0 / 3.0) * p
    off += 0.02 * (q / (k + 1.0) - p / (n - k) + (q - 0.5) / (n + 1.0))
    skew = 1.0 + q * _curve((k + 0.5) / (n * p)) + p * _curve((n - k - 0.5) / (n * q))
    return off * sqrt(skew / ((n + 1.0 / 6.0) * p * q))


def _curve(t: float) -> float:
    """(1 - t² + 2t ln t) / (1 - t)², by its series where that would lose all digits."""
    e = t - 1.0
    if fabs(e) < 1e-3:
        return -e / 3.0 + e * e / 6.0 - e**3 / 10.0
    return (1.0 - t * t + 2.0 * t * log(t)) / (e * e)


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

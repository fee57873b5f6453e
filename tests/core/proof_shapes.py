"""What came of running fixes, as a gate tells it: proved, corrected, failed, not to be run."""

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.proposals import Check, Correction, GateResult, Reproduction

RED_RUN = """\
======================================================================
ERROR: test_a_quiet_day (test_rates.RatesTest.test_a_quiet_day)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "tests/test_rates.py", line 9, in test_a_quiet_day
    self.assertEqual(1, rate_for("EUR"))
  File "tidepool/rates.py", line 41, in rate_for
    return RATES[currency.upper()]
KeyError: 'EUR'

Ran 1 test in 0.002s

FAILED (errors=1)"""
SUITE = Check(name="tests", outcome="passed", text="unittest: the whole suite: 214 tests, green",
              seconds=6.2)  # fmt: skip
STOPPED = "pytest: the whole suite (stopped after 95 s on the commit without the fix)"
LATE = Check(name="tests", outcome="not finished", text=STOPPED, seconds=95.3)
CHECKS = (
    Check(name="syntax", outcome="passed", text="syntax of tidepool/importer.py"),
    Check(name="imports", outcome="passed", text="imports of tidepool/importer.py", seconds=0.3),
    SUITE,
)
TEST = Edit(path="tests/test_rates.py", action="create", new="import unittest\n")
REPRODUCTION = Reproduction(
    outcome="reproduced", name="tests/test_rates.py::test_a_quiet_day", test=(TEST,),
    error_class="KeyError", frames=("tidepool/rates.py:41 rate_for",), red=RED_RUN,
    green="Ran 1 test in 0.001s\n\nOK", tries=2, seconds=11.0,
)  # fmt: skip
FELL = Correction(
    outcome="failed", because="test_import is still red", first_failed="red with the fix: test_old",
    output="E   AssertionError: 3 != 4",
)  # fmt: skip
MENDED = Correction(
    outcome="passed", because="it keeps rates of other days too", first_failed="red: test_old"
)
PROVED = GateResult(
    outcome="passed", checks=CHECKS, reproduction=REPRODUCTION, correction=MENDED, seconds=19.0,
    preexisting=("test_mail",), flaky=("test_clock",),
)  # fmt: skip
UNPROVED = GateResult(
    executing=4,
    outcome="passed", checks=CHECKS, seconds=8.0,
    reproduction=Reproduction(outcome="not reproduced", because="it needs a feed", tries=3),
)  # fmt: skip
FELL_THROUGH = GateResult(
    outcome="failed", text="fails with the fix, passes without it: test_import", correction=FELL,
    checks=(
        Check(name="tests", outcome="failed", text="unittest: the whole suite: red: test_import",
              output="E   AssertionError: 4 != 5", seconds=6.0),
    ),
    reproduction=Reproduction(outcome="not tried", because="there is no test framework"),
)  # fmt: skip

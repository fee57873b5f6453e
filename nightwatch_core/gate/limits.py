"""The bounds of this room, each with its unit."""

NAMES = 20  # tests that are named
NAME_CHARACTERS = 200  # of a test
OUTPUT_CHARACTERS = 4_000  # of a failed check, from the end
NEAREST_FILES = 6  # tests of one changed file
LEAST_SECONDS = 5.0  # for a command to be worth starting
CHECK_SECONDS = 60.0  # of a check that is no test
MANIFEST_CHARACTERS = 200_000
SCRIPTS = 30  # that are looked at for folders they make
MADE_FOLDERS = 20
READ_CHARACTERS = 262_144  # of an output
EXPLAINED_CHARACTERS = 300  # of a reason
RUN_SECONDS = 40.0  # of a test or snippet that an analyst asks for
TEST_NAME = 200  # characters of a test that an analyst names

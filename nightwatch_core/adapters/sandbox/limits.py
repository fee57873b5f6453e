"""The bounds of this room, each with its unit."""

POLL_SECONDS = 0.2  # between two looks at time and memory
STEP_SECONDS = 0.01  # between two looks whether a killed run is gone
GRACE_SECONDS = 5.0  # until a killed run has to be gone
PROBE_SECONDS = 10.0
ENGINE_SECONDS = 30.0  # until an engine has to have removed a container
FLOOD = 64  # times the output that is kept: then the run is ended
DEVICES_MB = 64  # of /dev/shm
OPEN_FILES = 1_024
TREE_BYTES = 512 * 1024 * 1024
TREE_FILES = 60_000
PREPARE_SECONDS = 600.0
PREPARED_MB = 4_096  # of one project's dependencies
PREPARED_FILES = 400_000
KEPT_DAYS = 14  # dependencies that nobody used
KEPT_COUNT = 8
ROOM_SECONDS = 5.0  # between two looks at how much was fetched
LEFT_SECONDS = 12 * 3_600.0  # from then on a tree is nobody's any more

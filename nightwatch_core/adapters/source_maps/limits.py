"""The bounds of this room, each with its unit."""

MAP_BYTES = 64 * 1024 * 1024  # of one source map; larger ones are not read
MAPS = 20_000  # files of the folder that are looked at
KEPT_MAPS = 8  # opened, the last ones used
CONTEXT = 3  # lines of source above and below
SCOPE = 2_000  # lines of source in which the function is looked for
SOURCE_NAME, SOURCE_LINE = 1_000, 1_000  # characters

"""What can be asked of GitHub's API about the code at one commit."""

import base64
from collections.abc import Callable, Iterator, Mapping
from itertools import batched
from typing import Any


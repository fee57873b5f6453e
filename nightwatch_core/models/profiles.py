"""Words for how one project is tested on this machine, as it was proved."""

from pydantic import Field

from nightwatch_core.models.value import Value


class Profile(Value):
    """How a project is tested: found in its files, proved once, and changed by people."""

    repository: str
    root: str = ""  # its folder in the repository
    language: str
    interpreter: str = ""  # that it was proved with
    versions: tuple[str, ...] = ()  # of the interpreter, the first that this machine has
    environment: str = ""  # beside the checkout | installed
    install: str = ""  # a person's own command; empty: what the manifests declare
    not_installed: tuple[str, ...] = ()
    packages_of: str = ""  # day on which the installed packages were the newest; empty: today's
    variables: dict[str, str] = {}
    services: tuple[str, ...] = ()
    missing_services: tuple[str, ...] = ()  # those that this machine does not have
    setup: tuple[str, ...] = ()  # commands that are run before the tests
    test: str = ""  # command of the whole suite
    one_test: str = ""  # command of one file, which stands for {test}; empty: it cannot be chosen
    form: str = ""  # in which its results are printed
    folders: tuple[str, ...] = ()  # made before anything runs
    collected: int = Field(0, ge=0)
    passed: int = Field(0, ge=0)
    red: tuple[str, ...] = ()  # tests that fail on the base
    flaky: tuple[str, ...] = ()  # tests that were red and green on the same code
    seconds: float = 0.0  # of one run
    sampled: tuple[str, ...] = ()  # files that were run instead of the whole suite
    trouble: str = ""  # why too few tests pass, and what to do
    commit: str = ""
    date: str = ""
    digest: str = ""  # of the manifests and lock files that it was proved with
    sources: dict[str, str] = {}  # the file that each fact comes from
    by_hand: tuple[str, ...] = ()  # fields that a person keeps as they are
    asked: str = ""  # digest of the manifests for which a model was asked: never again for them
    proposed: str = ""  # how a model proposes to test it, in the words of nightwatch.toml
    because: str = ""  # why, in the model's words; untrusted

    @property
    def is_runnable(self) -> bool:
        """Tell whether at least half of the tests pass."""
        return self.collected > 0 and 2 * self.passed >= self.collected

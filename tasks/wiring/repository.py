"""What a check says of the repository that drafts go to, and of who may write there."""

from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import CodeHost
from nightwatch_core.publish import ci_of_branches as ci
from nightwatch_core.settings import settings
from tasks.dependencies import replacement
from tasks.wiring import local, services


def ci_of_branches(options: NightOptions) -> str:
    """Say which CI of the repository would run our drafts before anybody read them."""
    host = _code(options)
    head = host.head()
    tree, pushed = host.reader(head), options.delivery == "github"
    return ci.ci_of_branches(tree.paths(), tree.read_file, head.branch, pushed=pushed)


def one_token_does_both(options: NightOptions) -> bool:
    """Whether what reads on GitHub could write, too."""
    at = settings()
    is_github = "github" in (options.code, options.delivery) and replacement() is None
    return is_github and not (at.github_read_token or at.github_app_id)


def _code(options: NightOptions) -> CodeHost:
    """As it is, without cloning what is on GitHub: for a few files."""
    if instead := replacement():
        return instead.reading.code
    if options.code == "github":
        return services.github_code(options, settings(), local.NoRecords(), may_clone=False)
    return local.checkout(options, settings())

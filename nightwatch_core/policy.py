"""Which files a pull request of ours may touch: ordinary source and tests, nothing else.

Deny by default whatever runs at build time, decides about reviews, instructs agents, or is spelt so
that two programs may read it differently. Paths are compared after NFKC and case folding.
"""

import unicodedata
from collections.abc import Callable
from fnmatch import fnmatchcase

from nightwatch_core.models.proposal import FileChange

MAX_FILES = 5
MAX_LINES = 400
MAX_BYTES = 256 * 1024

CI_FILES = (
    "jenkinsfile*", "azure-pipelines*", "bitbucket-pipelines*", "appveyor*", "buildkite*",
    "circle.yml", "cloudbuild*", "codefresh*", "wercker*", "tox.ini", "noxfile.py", "fastfile",
    "sonar-project.properties", "renovate.json*", "codecov*", "netlify.toml", "vercel.json",
)  # fmt: skip
BUILD_FILES = (
    "makefile*", "gnumakefile", "*.mk", "dockerfile*", "containerfile*", "*.dockerfile",
    "docker-compose*", "compose.y*ml", "procfile*", "rakefile", "capfile", "vagrantfile",
    "justfile", "cmakelists.txt", "build.xml", "build.sbt", "gulpfile*", "gruntfile*",
    "webpack.config.*", "vite.config.*", "rollup.config.*", "babel.config.*", "jest.config.*",
    "*.gradle", "*.gradle.kts", "gradlew*", "mvnw*", "conftest.py", "setup.py", "sitecustomize.py",
    "usercustomize.py", "*.pth", "*.tf", "*.tfvars", "chart.yaml", "app.yaml", "serverless.y*ml",
)  # fmt: skip
MANIFESTS = (
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-*.yaml",
    "bun.lock*", "gemfile*", "*.gemspec", "gems.rb", "gems.locked", "pyproject.toml", "setup.cfg",
    "requirements*.txt", "constraints*.txt", "requirements*.in", "pipfile*", "poetry.lock",
    "uv.lock", "pdm.lock", "environment.y*ml", "go.mod", "go.sum", "go.work*", "cargo.toml",
    "cargo.lock", "pom.xml", "composer.json", "composer.lock", "*.csproj", "*.fsproj", "*.sln",
    "*.props", "*.targets", "packages.config", "packages.lock.json", "nuget.config", "mix.exs",
    "mix.lock", "deno.json*", "*.lock", "*.lockfile", "libs.versions.toml",
)  # fmt: skip
AGENT_FILES = (
    "claude*.md", "agents*.md", "agent.md", "gemini*.md", "copilot*.md", "skill.md",
    "codeowners", "security.md", "owners", "mcp.json", "llms*.txt",
)  # fmt: skip
PROTECTED_FOLDERS = ("vendor", "node_modules", "third_party", "site-packages", "ci", "workflows",
                     "hooks", "githooks", "husky")  # fmt: skip
BINARIES = (
    "*.exe", "*.dll", "*.so", "*.dylib", "*.jar", "*.war", "*.pyc", "*.class", "*.wasm", "*.zip",
    "*.gz", "*.tar", "*.png", "*.jpg", "*.gif", "*.pdf", "*.pem", "*.key", "*.p12",
)  # fmt: skip


def _malformed(path: str) -> bool:
    return (
        not path
        or len(path) > 400
        or any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co") for c in path)
        or any(c in path for c in '\\%:*?"<>|~$`')
        or path != path.strip()
    )


def _leaves_the_tree(path: str) -> bool:
    parts = path.split("/")
    return path.startswith("/") or any(part.strip(" .") == "" for part in parts)


def _ambiguous(path: str) -> bool:
    """Spelt so that folding changes it: full-width dots, ligatures, combining marks."""
    return unicodedata.normalize("NFKC", path) != path


def _dotted(path: str) -> bool:
    return any(part.startswith(".") or part.endswith((".", " ")) for part in path.split("/"))


def _named(*patterns: str) -> Callable[[str], bool]:
    def rule(path: str) -> bool:
        name = path.rsplit("/", 1)[-1]
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    return rule


def _in_protected_folder(path: str) -> bool:
    return any(part in PROTECTED_FOLDERS for part in path.split("/")[:-1])


RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is not a plain path", _malformed),
    ("leaves the repository", _leaves_the_tree),
    ("is spelt ambiguously", _ambiguous),
    ("is in a dot folder or a dot file", _dotted),
    ("configures CI", _named(*CI_FILES)),
    ("runs at build time", _named(*BUILD_FILES)),
    ("is a manifest or lock file", _named(*MANIFESTS)),
    ("instructs agents or reviewers", _named(*AGENT_FILES)),
    ("is in a protected folder", _in_protected_folder),
    ("is binary", _named(*BINARIES)),
)


def refusal(path: str) -> str:
    """Why a path may not be touched; empty where it may.

    >>> refusal("app/models/order.rb")
    ''
    >>> refusal(".github/workflows/ci.yml")
    '.github/workflows/ci.yml is in a dot folder or a dot file'
    >>> refusal("app/../Gemfile")
    'app/../Gemfile leaves the repository'
    """
    folded = unicodedata.normalize("NFKC", path).casefold()
    for reason, broken in RULES:
        if broken(path) or broken(folded):
            return f"{path[:200]!a} {reason}".replace("'", "")
    return ""


def refused(changes: tuple[FileChange, ...], before: Callable[[str], str | None]) -> str:
    """Why a set of changes may not be proposed; empty where it may."""
    for change in changes:
        if why := refusal(change.path):
            return why
    lines = sum(_changed_lines(before(change.path), change.text) for change in changes)
    size = sum(len((c.text or "").encode()) for c in changes if before(c.path) is None)
    limits = (
        (len(changes) > MAX_FILES, f"{len(changes)} files, at most {MAX_FILES}"),
        (lines > MAX_LINES, f"{lines} changed lines, at most {MAX_LINES}"),
        (size > MAX_BYTES, f"{size} bytes in new files, at most {MAX_BYTES}"),
    )
    return next((f"the change is too large: {why}" for over, why in limits if over), "")


def _changed_lines(before: str | None, after: str | None) -> int:
    old, new = (before or "").splitlines(), (after or "").splitlines()
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return max(len(old), len(new)) - head - tail


def _common(old: list[str], new: list[str]) -> int:
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    return same

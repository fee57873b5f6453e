"""Which changes may be proposed: of ordinary files, seen whole by a reviewer, and not too large."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from nightwatch_core.models.code import Ecosystem
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.text.escaping import clean
from nightwatch_core.traces.placing import is_vendored

# Names of files that build, check, deploy, instruct or hold secrets, for `protected_paths`.

# Shell patterns in folded case: one without a slash is compared with the name, one with a slash
# with the end of the path.
CI_FILES = (
    "jenkinsfile", "jenkinsfile[.-]*", "*.jenkinsfile", "azure-pipelines*", "*-pipeline.y*ml",
    "bitbucket-pipelines*", "*gitlab-ci*", "appveyor.y*ml", "buildkite*.y*ml", "circle.y*ml",
    "ci.y*ml", "ci.json", "cloudbuild*.y*ml", "cloudbuild*.json", "codefresh*.y*ml",
    "codemagic.y*ml", "bitrise.y*ml", "buildspec*.y*ml", "drone.y*ml", "shippable.y*ml",
    "screwdriver.y*ml", "semaphore.y*ml", "wercker.y*ml", "travis.y*ml", "concourse.y*ml",
    "tox.ini", "noxfile.py", "fastfile", "dangerfile", "dangerfile.*", "sonar-project.properties",
    "renovate*.json*", "dependabot.y*ml", "mergify.y*ml", "codecov.y*ml", "codeql*.y*ml",
    "action.y*ml", "netlify.toml", "vercel.json", "lefthook*.y*ml", "pre-commit*",
    "husky.config.*", "commitlint.config.*", "lint-staged.config.*", "release.config.*",
    "*.jenkins", "jenkins*.groovy", "codeship*.y*ml", "bors.toml", "gitversion.y*ml",
    "settings.kts", "dagger.json", "matchfile", "appfile", "railway.*", "nixpacks.toml",
    "zuul.y*ml", "prow.y*ml", "garden.y*ml", "devspace.y*ml", "okteto.y*ml", "run", "deploy",
    "codegen.y*ml",
)  # fmt: skip
BUILD_FILES = (
    "makefile", "makefile.*", "gnumakefile", "*.mk", "*.mak", "dockerfile", "dockerfile[.-]*",
    "*.dockerfile", "containerfile*", "docker-compose*.y*ml", "compose*.y*ml", "docker-bake.*",
    "procfile", "procfile.*", "rakefile", "rakefile.rb", "capfile", "thorfile", "guardfile",
    "brewfile", "berksfile", "vagrantfile", "tiltfile", "jakefile*", "cakefile", "earthfile",
    "taskfile.y*ml", "justfile", "sconstruct", "sconscript", "wscript", "cmakelists.txt",
    "*.cmake", "meson.build", "build", "build.bazel", "workspace", "workspace.bazel",
    "module.bazel", "*.bzl", "build.xml", "build.sbt", "build.rs", "*.gradle", "*.gradle.kts",
    "gradle.properties", "gradlew*", "mvnw*", "*-wrapper.properties", "extensions.xml",
    "configure", "configure.ac", "*.m4", "*.am", "gulpfile*", "gruntfile*", "webpack.*",
    "*.conf.js", "*.conf.ts", "*.config.js", "*.config.cjs", "*.config.mjs", "*.config.ts",
    "*.config.mts", "*.config.cts", "ember-cli-build.js", "angular.json", "nx.json", "turbo.json",
    "lerna.json", "project.json", "tsconfig*.json", "jsconfig.json", "babelrc*", "conftest.py",
    "pytest.ini", "setup.py", "manage.py", "fabfile.py", "dodo.py", "sitecustomize.py",
    "usercustomize.py", "*.pth", "phpunit*.xml*", "phpstan*.neon*", "phpcs*.xml*", "psalm*.xml*",
    "config/deploy.rb", "deploy.y*ml", "*.tf", "*.tfvars", "*.hcl", "*.bicep", "chart.yaml",
    "values*.yaml", "kustomization.y*ml", "skaffold.y*ml", "app.yaml", "app.json", "heroku.yml",
    "render.y*ml", "fly.toml", "now.json", "wrangler.*", "firebase.json", "amplify.y*ml",
    "serverless.y*ml", "template.yaml", "nginx.conf", "*.service", "crontab", "*.sh", "*.bash",
    "*.zsh", "*.fish", "*.ps1", "*.psm1", "*.bat", "*.cmd", "*.vbs",
    "*.rake", "bunfig.toml", "*.conf.py", "gunicorn*.py", "uwsgi*.ini", "supervisord*.conf",
    "jest.setup.*", "vitest.setup.*", "setup-jest.*", "setuptests.*", "*.setup.js", "*.setup.ts",
    "*.setup.mjs", "*.setup.cjs", "global-setup.*", "global-teardown.*", "spec_helper.rb",
    "rails_helper.rb", "test_helper.rb", "nodemon.json", "config.ru", "config/database.y*ml",
    "config/application.rb", "config/boot.rb", "config/environment.rb", "config/puma.rb",
    "config/unicorn*.rb", "config/cable.y*ml", "config/storage.y*ml", "config/environments/*.rb",
    "config/schedule.rb", "alembic.ini", "alembic/env.py", "migrations/env.py", "web.config",
    "appspec.y*ml", "cdk.json", "pulumi*.y*ml", "cron.y*ml", "*.timer", "*.socket", "*.nix",
    "*docker-entrypoint*", "mise.toml", "pants.toml", "snakefile", "docs/conf.py", "hosts.ini",
    "*.config.json", "project/*.sbt", "project/*.scala", "bootstrap/app.php", "artisan",
    "test/setup.js", "globalsetup.*", "test/bootstrap.php", "tests/bootstrap.php", "mocha.opts",
    "newrelic.js", "newrelic.ini", "newrelic.y*ml", "sentry.properties",
    "pm2.json", "httpd.conf", "apache*.conf", "circus.ini", "php.ini", "samconfig.toml",
    "playbook*.y*ml", "inventory.ini", "config/sidekiq.y*ml", "config/services.y*ml",
    "config/*.exs", "application.y*ml", "application-*.y*ml", "application*.properties",
    "bootstrap*.y*ml", "logback*.xml", "log4j*.xml", "log4j*.properties",
    "launchsettings.json", "*.thor", "*.cake", "buck", "cmakepresets.json", "meson_options.txt",
    "meson.options",
)  # fmt: skip
MANIFESTS = (
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-*.y*ml",
    "bun.lock*", "bower.json", "gemfile", "gemfile.*", "*.gemfile", "*.gemspec", "gems.rb",
    "gems.locked", "appraisals", "pyproject.toml", "setup.cfg", "manifest.in",
    "*requirements*.txt", "*requirements*.in", "requirements/*.txt", "requirements/*.in",
    "*constraints*.txt", "*constraints*.in", "pipfile", "pipfile.*", "pylock*", "poetry.toml",
    "uv.toml", "environment.y*ml", "conda*.y*ml", "pip.conf", "go.mod", "go.sum", "go.work*",
    "modules.txt", "cargo.toml", "pom.xml", "ivy*.xml", "settings.xml", "composer.json",
    "symfony.lock", "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "*.sln", "*.slnx", "*.props",
    "*.targets", "*.nuspec", "packages.config", "packages.lock.json", "nuget.config",
    "global.json", "paket.*", "mix.exs", "rebar.config", "deno.json*", "jsr.json",
    "import_map.json", "deps.edn", "project.clj", "package.swift", "package.resolved", "podfile*",
    "cartfile*", "pubspec.y*ml", "*.cabal", "stack.yaml", "cpanfile*", "vcpkg.json", "conanfile*",
    "*.lock", "*.lockfile", "*.lock.json", "libs.versions.toml",
    "pnpmfile.*", "rush.json", "rush/*.json", "pdm.toml", "hatch.toml", "pixi.toml",
    "buildout.cfg", "rust-toolchain*", "clippy.toml", "deny.toml", "*.podspec",
    "project/build.properties", "asdf.conf", "devbox.json", "apt.txt", "aptfile", "packages.txt",
)  # fmt: skip
AGENT_FILES = (
    "claude*.md", "agent*.md", "gemini*.md", "copilot*.md", "codex*.md", "qwen*.md", "warp.md",
    "conventions.md", "skill.md", "*.instructions.md", "*.prompt.md", "*.chatmode.md", "*.mdc",
    "cursorrules*", "windsurfrules*", "clinerules*", "mcp*.json", "llms*.txt",
    "devcontainer.json", "codeowners", "owners", "owners_aliases", "maintainers", "maintainers.*",
    "security.md", "security.txt", "contributing.md", "pull_request_template*", "issue_template*",
    "license", "license.md", "license.txt", "licence", "licence.md", "licence.txt", "copying",
    "notice",
    "agents/*.md", "skills/*.md", "prompts/*.md", "commands/*.md", "nightwatch.y*ml",
    "nightwatch.toml", "knowledge/*", "ignore.y*ml",
    "cline_docs/*", "crush.md", "crush.json", "opencode.json*", "goosehints", "jules.md",
    "junie/*.md", "devin.md", "airules.md", "apex/tasks/*", "greptile.json", "ellipsis.y*ml",
    "sweep.y*ml", "pr_agent.toml", "qodo.toml", "reviewers", "*.code-workspace",
)  # fmt: skip
SECRETS = (
    "*.env", "env.y*ml", "env.json", "env.sh", "env.local", "credentials", "credentials.y*ml",
    "credentials.json", "credentials.ini", "credentials.csv", "secrets.y*ml", "secrets.json",
    "secrets.toml", "*.secret", "*.secrets", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks",
    "*.keystore", "*.kdbx", "*.gpg", "*.asc", "*.enc", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "authorized_keys", "known_hosts", "htpasswd", "service-account*.json",
    "service_account*.json", "kubeconfig*",
    "*.ppk", "*.p8", "*.der", "*.token", "tokens.json", "pgpass", "my.cnf", "auth.json",
)  # fmt: skip
BINARIES = (
    "*.exe", "*.dll", "*.so", "*.so.*", "*.dylib", "*.a", "*.o", "*.bin", "*.jar", "*.war",
    "*.ear", "*.aar", "*.apk", "*.pyc", "*.pyd", "*.pkl", "*.whl", "*.egg", "*.gem", "*.phar",
    "*.nupkg", "*.class", "*.node", "*.wasm", "*.zip", "*.tar", "*.tgz", "*.gz", "*.bz2", "*.xz",
    "*.7z", "*.png", "*.jpg", "*.jpeg", "*.gif", "*.webp", "*.ico", "*.pdf", "*.woff*", "*.ttf",
    "*.mp4", "*.db", "*.sqlite*",
)  # fmt: skip
ANYWHERE = (  # folders
    "node_modules", "bower_components", "site-packages", "dist-packages", "third_party",
    "third-party", "git-hooks", "githooks", "__pycache__",
)  # fmt: skip
AT_THE_TOP = (  # folders; deeper, hooks and workflows are ordinary names of ordinary code
    "workflows", "hooks", "exe", "build", "dist", "vendor", "github", "gitlab",
)  # fmt: skip
OPERATIONS = (  # folders of what runs and deploys, at the top or in a part of a monorepo
    "ci", "husky", "bin", "script", "scripts", "deploy", "deployment", "deployments", "docker",
    "infra", "infrastructure", "terraform", "ansible", "helm", "charts", "k8s", "kubernetes",
    "gradle", "buildsrc", "cron.d", "build-logic", "bamboo-specs", "teamcity", "concourse",
    "tekton", "argocd", "zuul.d", "fastlane", "nomad", "nginx", "playbooks", "cdk",
)  # fmt: skip
SOURCE = (  # folders below which all names are ordinary
    "src", "app", "lib", "internal", "pkg", "source", "sources", "cmd", "test", "tests", "spec",
    "main", "core", "domain", "models", "services", "templates", "views",
)  # fmt: skip
ORDINARY_THERE = (  # below the top: compiled into the application, or only read by people
    ".go", ".java", ".kt", ".cs", ".rs", ".scala", ".swift", ".c", ".h", ".cpp",
    ".tsx", ".md", ".mdx", ".rst",
)  # fmt: skip
CHANGE_NOTES = (".change", ".changes", ".changeset*", ".changelog*", ".chronus", ".release-notes")
PROSE = (".md", ".rst", ".adoc", ".txt", ".yml", ".yaml")
DEVICES = ("con", "prn", "aux", "nul", *(p + n for p in ("com", "lpt") for n in "123456789"))

# Which files a fix of ours may touch: ordinary source and tests, nothing else.
#
# Deny by default whatever runs at build time, decides about reviews, instructs agents, or is
# spelt so
# that two programs may read it differently. Paths are compared after NFKC and case folding.
# Where an
# ordinary file has a name of these (a `hooks` folder below `src`, a shop's `vendor` models) the
# rules
# look at how deep it lies: what builds and checks run by themselves stands at the top.

_LOOK_ALIKE = re.compile("[\u0370-\u058f\u13a0-\u13ff]")  # Greek, Cyrillic, Armenian, Cherokee
_TROUBLESOME = '\\%:*?"<>|~`\u2044\u2215\u29f5\u29f8'  # the last look like slashes


def _malformed(path: str) -> bool:
    return (
        not path
        or len(path) > 400
        or any(len(part.encode("utf-8", "replace")) > 255 for part in path.split("/"))
        or any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn") for c in path)
        or any(c in path for c in _TROUBLESOME)
        or path.startswith(("-", "$"))
        or "$(" in path
        or "${" in path
        or path != path.strip()
    )


def _leaves_the_tree(path: str) -> bool:
    return any(part.strip(" .") == "" for part in path.split("/"))


def _ambiguous(path: str) -> bool:
    """Spelt so that folding changes it: full-width dots, ligatures, unseen or combining marks."""
    return unicodedata.normalize("NFKC", path) != path or clean(path) != path


def _dotted(path: str) -> bool:
    return any(map(_is_dotted, path.split("/")))


def _is_dotted(part: str) -> bool:
    is_hidden = part.startswith(".") and not part.startswith("..")  # `..name` is no tool's name
    return is_hidden or part.endswith((".", " "))


def _named(*patterns: str) -> Callable[[str], bool]:
    def rule(path: str) -> bool:
        name = path.rsplit("/", 1)[-1]
        return any(
            fnmatchcase(f"/{path}", f"*/{one}") if "/" in one else fnmatchcase(name, one)
            for one in patterns
        )

    return rule


def _in_protected_folder(path: str) -> bool:
    folders = path.split("/")[:-1]
    at_the_top = folders[:1] if folders[:1] != ["packages"] else folders[2:3]
    return any(part in ANYWHERE for part in folders) or any(
        part in (*AT_THE_TOP, *OPERATIONS) for part in at_the_top
    )


def _operates(path: str) -> bool:
    """In a folder of what runs and deploys that lies deeper, as in a monorepo."""
    *folders, name = path.split("/")
    source = next((at for at, part in enumerate(folders) if part in SOURCE), len(folders))
    return any(part in OPERATIONS for part in folders[:source]) and not name.endswith(
        ORDINARY_THERE
    )


def _is_device(path: str) -> bool:
    return any(part.split(".")[0].strip() in DEVICES for part in path.split("/"))


def _looks_alike(path: str) -> bool:
    """Whether a name mixes Latin letters with others that are drawn like them."""
    stems = (part.rpartition(".")[0] or part for part in path.split("/"))
    return any(re.search(r"[a-z]", stem, re.I) and _LOOK_ALIKE.search(stem) for stem in stems)


RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is not a plain path", _malformed),
    ("mixes letters that look alike", _looks_alike),
    ("leaves the repository", _leaves_the_tree),
    ("is spelt ambiguously", _ambiguous),
    ("is in a dot folder or a dot file", _dotted),
    ("is the name of a device", _is_device),
    ("configures CI", _named(*CI_FILES)),
    ("runs at build time", _named(*BUILD_FILES)),
    ("is a manifest or lock file", _named(*MANIFESTS)),
    ("instructs agents or reviewers", _named(*AGENT_FILES)),
    ("may hold secrets", _named(*SECRETS)),
    ("is in a protected folder", _in_protected_folder),
    ("lies where things are run or deployed from", _operates),
    ("is binary", _named(*BINARIES)),
)


def is_change_note(path: str, paths: Collection[str], is_new: bool = True) -> bool:
    """Whether a file is new and a note of a change, as repositories demand them with every change.

    It is one in a folder kept for them where files of its kind lie already; of all dot folders
    only those, since what else is in them configures, runs or instructs.

    >>> is_change_note(".changeset/odd-bees.md", (".changeset/calm-ants.md",))
    True
    >>> is_change_note(".github/odd-bees.md", (".github/calm-ants.md",))
    False
    """
    *folders, name = path.split("/")
    ending, dotted = name[name.rfind(".") :], [one for one in folders if _is_dotted(one)]
    return (
        is_new
        and ending in PROSE
        and not _is_dotted(name)
        and len(dotted) == 1
        and any(fnmatchcase(dotted[0], one) for one in CHANGE_NOTES)
        and any(
            one.rpartition("/")[0] == "/".join(folders) and one.endswith(ending) for one in paths
        )
    )


def _is_in_package(path: str, paths: Collection[str], _: bool) -> bool:
    """Whether a module lies in a Python package, as a command line's modules in `shop/bin`."""
    return path.endswith(".py") and f"{path.rpartition('/')[0]}/__init__.py" in paths


Excuse = Callable[[str, Collection[str], bool], bool]
EXCUSES: tuple[tuple[Callable[[str], bool], Excuse], ...] = (
    (_dotted, is_change_note),
    (_operates, _is_in_package),
)


def refusal(path: str, paths: Collection[str] = (), *, is_new: bool = False) -> str:
    """Why a path may not be touched; empty where it may.

    `paths` are the files of the tree: they tell a Python package from a folder of scripts, and a
    new note of a change, which may lie in a dot folder, by its siblings.

    >>> refusal("app/models/order.rb")
    ''
    >>> refusal(".github/workflows/ci.yml")
    '.github/workflows/ci.yml is in a dot folder or a dot file'
    >>> refusal("app/../Gemfile")
    'app/../Gemfile leaves the repository'
    """
    folded = unicodedata.normalize("NFKC", path).casefold()
    excused = {rule for rule, excuse in EXCUSES if excuse(path, paths, is_new)}
    for reason, broken in RULES:
        if broken not in excused and (broken(path) or broken(folded)):
            return f"{ascii(path[:200])[1:-1]} {reason}"
    return ""


MAX_FILES = 5
MAX_LINES = 400
MAX_BYTES = 256 * 1024
_COMPARED = 2_000  # lines that are compared one by one; of more, the whole stretch counts
_PLAIN = ("\N{ZERO WIDTH JOINER}", "\N{VARIATION SELECTOR-16}")  # in emoji


def refused(
    changes: tuple[FileChange, ...],
    before: Callable[[str], str | None],
    paths: Collection[str] = (),
) -> str:
    """Say why a set of changes may not be proposed; empty where it may.

    `paths` are the files of the tree.
    """
    for change in changes:
        old = before(change.path)
        why = refusal(change.path, paths, is_new=old is None) or hidden_in(change, old or "")
        if why:
            return why
    return too_large(changes, before)


def too_large(changes: tuple[FileChange, ...], before: Callable[[str], str | None]) -> str:
    """Say why a set of changes is more than a person reviews gladly; empty where it is not."""
    sizes = [_size(before(change.path), change.text) for change in changes]
    lines, size = sum(lines for lines, _ in sizes), sum(size for _, size in sizes)
    limits = (
        (len(changes) > MAX_FILES, f"{len(changes)} files, at most {MAX_FILES}"),
        (lines > MAX_LINES, f"{lines} changed lines, at most {MAX_LINES}"),
        (size > MAX_BYTES, f"{size} new bytes, at most {MAX_BYTES}"),
    )
    return next((f"the change is too large: {why}" for over, why in limits if over), "")


def hidden_in(change: FileChange, before: str) -> str:
    """Say why a reviewer would not see all of the change; empty where they would."""
    new = _hidden(change.text or "") - _hidden(before)
    if not new:
        return ""
    which = ", ".join(f"U+{ord(c):04X}" for c in sorted(new)[:5])
    return f"the change to {change.path} adds characters that nobody sees: {which}"


def _hidden(text: str) -> set[str]:
    kept = text.replace("\r\n", "\n")
    return {c for c in set(kept) if c not in _PLAIN and clean(f"a{c}b") != f"a{c}b"}


def _size(before: str | None, after: str | None) -> tuple[int, int]:
    """Changed lines, and bytes that are new."""
    old, new = differing_lines(before or "", after or "")
    if max(len(old), len(new)) > _COMPARED:
        return max(len(old), len(new)), _bytes(new)
    compared = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(a, b, c, d) for tag, a, b, c, d in compared if tag != "equal"]
    lines = sum(max(b - a, d - c) for a, b, c, d in changed)
    return lines, sum(_bytes(new[c:d]) for _, _, c, d in changed)


def differing_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines of both texts without those that they begin and end with alike.

    >>> differing_lines("a\\nb\\nc", "a\\nx\\ny\\nc")
    (['b'], ['x', 'y'])
    """
    old, new = before.split("\n"), after.split("\n")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return old[head : len(old) - tail], new[head : len(new) - tail]


def _bytes(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _common(old: list[str], new: list[str]) -> int:
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    return same


# Which version of a package a repository's lock files name.

_LONGEST = 5_000_000  # characters of a lock file
_MOST = 10  # lock files of one kind
_PLATFORM = re.compile(r"^v|-(?:x86|arm|aarch|java|universal|linux|darwin).*$")
_VERSION = r"(?P<version>[\w.+!-]{1,60})"


class LockFile(NamedTuple):
    """A kind of file that pins versions; `NAME` in the pattern stands for the package."""

    ecosystem: Ecosystem
    file: re.Pattern[str]
    pattern: str


_TOML = rf'\[\[package\]\]\s+name\s*=\s*"NAME"\s+version\s*=\s*"{_VERSION}"'
LOCK_FILES: tuple[LockFile, ...] = (
    *(
        LockFile("python", re.compile(rf"(?:^|/){name}\.lock$"), f"(?i:{_TOML})")
        for name in ("uv", "poetry", "pdm")
    ),
    LockFile(
        "python",
        re.compile(r"(?:^|/)Pipfile\.lock$"),
        rf'(?i:"NAME"): \{{[^{{}}]{{0,20000}}"version": "=={_VERSION}"',
    ),
    LockFile(
        "python",
        re.compile(r"(?:^|/)(?:requirements[\w.-]*|requirements/[\w.-]+)\.txt$"),
        rf"(?im:^[ \t]*NAME(?:\[[\w, -]*\])?[ \t]*==[ \t]*{_VERSION})",
    ),
    LockFile(
        "javascript",
        re.compile(r"(?:^|/)(?:package-lock|npm-shrinkwrap)\.json$"),
        rf'"(?:node_modules/)?NAME": \{{\s{{0,20}}"version": "{_VERSION}"',
    ),
    LockFile(
        "javascript",
        re.compile(r"(?:^|/)yarn\.lock$"),
        rf'(?m:^"?NAME@[^\n]{{0,500}}:\n[ \t]+version:?[ \t]+"?{_VERSION})',
    ),
    LockFile(
        "javascript",
        re.compile(r"(?:^|/)pnpm-lock\.yaml$"),
        r"(?m:^[ \t]+['\"]?/?NAME[@/](?P<version>\d[\w.+-]{0,60}))",
    ),
    LockFile(
        "ruby",
        re.compile(r"(?:^|/)(?:Gemfile|gems)\.lock(?:ed)?$"),
        rf"(?m:^ {{4}}NAME \({_VERSION}\))",
    ),
    LockFile(
        "go", re.compile(r"(?:^|/)go\.mod$"), rf"(?m:^(?:require)?[ \t]*NAME[ \t]+{_VERSION})"
    ),
    LockFile(
        "php",
        re.compile(r"(?:^|/)composer\.lock$"),
        rf'"name": "NAME",\s{{0,20}}"version": "v?{_VERSION}"',
    ),
)


def locked_version(
    ecosystem: Ecosystem,
    package: str,
    paths: Iterable[str],
    read: Callable[[str], str | None],
) -> tuple[str, str]:
    """Find the version a lock file names, and that file, the one nearest to the root first.

    >>> files = {"requirements.txt": "Django==5.1\\nrequests[socks]==2.31.0\\n"}
    >>> locked_version("python", "requests", files, files.get)
    ('2.31.0', 'requirements.txt')
    >>> locked_version("ruby", "rails", files, files.get)
    ('', '')
    """
    known = [path for path in paths if not is_vendored(path)]
    spelt = _spelt(ecosystem, package)
    for kind in LOCK_FILES:
        if kind.ecosystem != ecosystem:
            continue
        files = sorted(filter(kind.file.search, known), key=lambda path: (path.count("/"), path))
        for path in files[:_MOST]:
            text = (read(path) or "")[:_LONGEST]
            if match := re.search(kind.pattern.replace("NAME", spelt), text):
                return match["version"], path
    return "", ""


def same_version(one: str, other: str) -> bool:
    """Tell whether two versions are one, whatever stands before or behind them.

    >>> same_version("v1.9.0", "1.9.0"), same_version("1.16.0-x86_64-linux", "1.16.0")
    (True, True)
    >>> same_version("1.9.0", "1.9.1"), same_version("", "1")
    (False, False)
    """
    return bool(one) and _PLATFORM.sub("", one) == _PLATFORM.sub("", other)


def _spelt(ecosystem: Ecosystem, package: str) -> str:
    """The package's name as a pattern; Python takes "-", "_" and "." for one."""
    if ecosystem == "python":
        return "[-_.]+".join(map(re.escape, re.split(r"[-_.]+", package)))
    return re.escape(package)

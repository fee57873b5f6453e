"""Which files a fix of ours may touch: ordinary source and tests, nothing else.

Deny by default whatever runs at build time, decides about reviews, instructs agents, or is spelt so
that two programs may read it differently. Paths are compared after NFKC and case folding. Where an
ordinary file has a name of these (a `hooks` folder below `src`, a shop's `vendor` models) the rules
look at how deep it lies: what builds and checks run by themselves stands at the top.
"""

import unicodedata
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase

from nightwatch_core.text.escaping import clean

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
)  # fmt: skip
AGENT_FILES = (
    "claude*.md", "agent*.md", "gemini*.md", "copilot*.md", "codex*.md", "qwen*.md", "warp.md",
    "conventions.md", "skill.md", "*.instructions.md", "*.prompt.md", "*.chatmode.md", "*.mdc",
    "cursorrules*", "windsurfrules*", "clinerules*", "mcp*.json", "llms*.txt",
    "devcontainer.json", "codeowners", "owners", "owners_aliases", "maintainers", "maintainers.*",
    "security.md", "security.txt", "contributing.md", "pull_request_template*", "issue_template*",
    "license", "license.md", "license.txt", "licence", "licence.md", "licence.txt", "copying",
    "notice",
)  # fmt: skip
SECRETS = (
    "*.env", "env.y*ml", "env.json", "env.sh", "env.local", "credentials", "credentials.y*ml",
    "credentials.json", "credentials.ini", "credentials.csv", "secrets.y*ml", "secrets.json",
    "secrets.toml", "*.secret", "*.secrets", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks",
    "*.keystore", "*.kdbx", "*.gpg", "*.asc", "*.enc", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "authorized_keys", "known_hosts", "htpasswd", "service-account*.json",
    "service_account*.json", "kubeconfig*",
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
    "ci", "workflows", "hooks", "husky", "bin", "exe", "script", "scripts", "build", "dist",
    "vendor", "deploy", "deployment", "deployments", "docker", "infra", "infrastructure",
    "terraform", "ansible", "helm", "charts", "k8s", "kubernetes", "gradle", "buildsrc", "github",
    "gitlab",
)  # fmt: skip
CHANGE_NOTES = (".change", ".changes", ".changeset*", ".changelog*", ".chronus", ".release-notes")
PROSE = (".md", ".rst", ".adoc", ".txt", ".yml", ".yaml")
DEVICES = ("con", "prn", "aux", "nul", *(p + n for p in ("com", "lpt") for n in "123456789"))


def _malformed(path: str) -> bool:
    return (
        not path
        or len(path) > 400
        or any(len(part.encode("utf-8", "replace")) > 255 for part in path.split("/"))
        or any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn") for c in path)
        or any(c in path for c in '\\%:*?"<>|~$`')
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
    return part.startswith(".") or part.endswith((".", " "))


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
        part in AT_THE_TOP for part in at_the_top
    )


def _is_device(path: str) -> bool:
    return any(part.split(".")[0].strip() in DEVICES for part in path.split("/"))


RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is not a plain path", _malformed),
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
    ("is binary", _named(*BINARIES)),
)


def refusal(path: str, is_note: bool = False) -> str:
    """Why a path may not be touched; empty where it may. Notes of changes may be in dot folders.

    >>> refusal("app/models/order.rb")
    ''
    >>> refusal(".github/workflows/ci.yml")
    '.github/workflows/ci.yml is in a dot folder or a dot file'
    >>> refusal("app/../Gemfile")
    'app/../Gemfile leaves the repository'
    """
    folded = unicodedata.normalize("NFKC", path).casefold()
    for reason, broken in RULES:
        if (broken(path) or broken(folded)) and not (is_note and broken is _dotted):
            return f"{ascii(path[:200])[1:-1]} {reason}"
    return ""


def is_change_note(path: str, paths: Collection[str]) -> bool:
    """Whether a new file is a note of a change, as repositories demand them with every change.

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
        ending in PROSE
        and not _is_dotted(name)
        and len(dotted) == 1
        and any(fnmatchcase(dotted[0], one) for one in CHANGE_NOTES)
        and any(
            one.rpartition("/")[0] == "/".join(folders) and one.endswith(ending) for one in paths
        )
    )

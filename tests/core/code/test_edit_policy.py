""""""

import pytest
from core.code.outside_paths import AGENTS, ESCAPES, PACKAGES, STARTS, TOO_COMMON
from core.code.outside_paths import CI as OUTSIDE_CI
from core.code.outside_paths import ORDINARY as OUTSIDE_ORDINARY
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.adapters.git.branch import why_unsafe
from nightwatch_core.code import edit_policy
from nightwatch_core.code.edit_policy import PATHS, refusal, refused
from nightwatch_core.models.proposals import FileChange

CI = """
.github/workflows/ci.yml .github/dependabot.yml .gitlab-ci.yml .circleci/config.yml .travis.yml
Jenkinsfile Jenkinsfile.release azure-pipelines.yml azure-pipelines-nightly.yml
bitbucket-pipelines.yml appveyor.yml buildkite.yml cloudbuild.yaml buildspec.yml ci.yml
codecov.yml tox.ini noxfile.py Dangerfile fastlane/Fastfile renovate.json netlify.toml
.husky/pre-commit lefthook.yml ci/run action.yml templates/deploy.gitlab-ci.yml
.buildkite/pipeline.yml .drone.yml sonar-project.properties
"""
BUILD = """
Makefile GNUmakefile lib/Makefile rules.mk Dockerfile Dockerfile.prod docker/web/Dockerfile
docker-compose.yml docker-compose.override.yaml compose.yaml Procfile Rakefile Capfile
Vagrantfile Justfile CMakeLists.txt BUILD BUILD.bazel WORKSPACE tools/defs.bzl build.gradle
app/build.gradle.kts settings.gradle gradle/wrapper/gradle-wrapper.properties gradlew mvnw
gulpfile.js Gruntfile.js webpack.config.js vite.config.ts next.config.mjs babel.config.js
jest.config.ts karma.conf.js conftest.py tests/conftest.py setup.py sitecustomize.py extra.pth
pytest.ini phpunit.xml.dist config/deploy.rb main.tf prod.tfvars Chart.yaml serverless.yml
app.yaml fly.toml build.rs build.xml bin/rails bin/setup scripts/release.py entrypoint.sh
install.ps1 run.bat tsconfig.json terraform/main.py k8s/deployment.yaml helm/values.yaml
angular.json ember-cli-build.js bunfig.toml lib/tasks/orders.rake jest.setup.js web/jest.setup.ts
gunicorn.conf.py config/database.yml config/environments/production.rb config/puma.rb config.ru
spec/spec_helper.rb uwsgi.ini src/setupTests.js alembic/env.py docs/conf.py
"""
MANIFESTS = """
package.json web/package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml
pnpm-workspace.yaml bun.lockb Gemfile Gemfile.lock gems.rb shop.gemspec pyproject.toml setup.cfg
MANIFEST.in requirements.txt requirements-dev.txt dev-requirements.txt requirements/base.txt
constraints.txt requirements.in Pipfile Pipfile.lock poetry.lock uv.lock environment.yml go.mod
go.sum go.work Cargo.toml Cargo.lock pom.xml composer.json composer.lock Shop.csproj Shop.sln
Directory.Build.props packages.lock.json NuGet.config global.json mix.exs mix.lock Podfile
Package.swift pubspec.yaml deno.json libs.versions.toml .npmrc .yarnrc.yml .bundle/config
"""
REVIEWS_AND_AGENTS = """
CODEOWNERS docs/CODEOWNERS .github/CODEOWNERS OWNERS SECURITY.md CLAUDE.md claude.md
CLAUDE.local.md sub/AGENTS.md AGENTS.override.md GEMINI.md copilot-instructions.md .cursorrules
.cursor/rules/a.mdc .windsurfrules .claude/settings.json .mcp.json mcp.json
skills/deploy/SKILL.md python.instructions.md review.prompt.md llms.txt
.devcontainer/devcontainer.json .aider.conf.yml CONVENTIONS.md LICENSE pull_request_template.md
.vscode/tasks.json .idea/workspace.xml knowledge/ignore.yml nightwatch.yml agents/reviewer.md
knowledge/errors/a.md
"""
GIT = """
.git/config .git/hooks/pre-commit .gitmodules .gitattributes .gitignore sub/.git/config
hooks/pre-receive .githooks/pre-push githooks/post-merge .GIT/config .Git/HEAD sub/.gitmodules
"""
SECRETS = """
.env .env.production config/master.key config/credentials.yml.enc server.pem id_rsa
deploy/id_ed25519 secrets.yml config/secrets.yml app.keystore service-account-prod.json prod.env
credentials.json .netrc .aws/credentials .ssh/config
"""
OTHERS = """
backend/ci/run backend/k8s/web.yaml apps/web/scripts/release.js services-b/deploy/up.py
packages/ui/bin/cli
vendor/bundle/x.rb vendor/autoload.php web/node_modules/x/index.js lib/third_party/a.go
venv/lib/site-packages/x.py app.jar lib/native.so a.exe logo.png app.pyc module.wasm data.zip
"""
PROTECTED = " ".join((CI, BUILD, MANIFESTS, REVIEWS_AND_AGENTS, GIT, SECRETS, OTHERS)).split()

TRAVERSALS = (
    "", ".", "..", "/", "/etc/passwd", "../x.rb", "app/../../x.rb", "app/../Gemfile", "a//b.rb",
    "a/./b.rb", "app/", "./a.rb", "...", "a/.../b", ". ./x", "a/.. /b", "~/.bashrc", "~root/x",
    "..\\x.rb", "app\\..\\x.rb", "C:\\x.rb", "C:/x.rb", "c:x.rb", "\\\\host\\share\\x", "//host/x",
    "a\0.rb", "a\n.rb", "a\r.rb", "a\tb.rb", "\x1b[31ma.rb", "%2e%2e/x.rb", "..%2fx.rb",
    "%252e%252e/x", "a%00.rb", "\uff0e\uff0e/x.rb", "\uff0e\uff0e\uff0fx.rb", "a\uff0fb.rb",
    "\u2025/x.rb", "\u2024\u2024/x", "\u2026/x", "a\u2215..\u2215b%", "app/\u202egnp.rb",
    "app/\u200bGemfile", "Gem\u00adfile", "\ufeffGemfile", "Gemfile\ufe0f", "Gemfile\u034f",
    "\uff27emfile", "\u212aefile.rb", "a\u0301.rb", "a\u00a0b.rb", "a\u3000b.rb", "a\u2028b.rb",
    "\ue000.rb", "\U000e0041.rb", "a\ud800.rb", "git~1/config", "GIT~1/x", "x.rb:stream",
    "a.rb::$DATA", "$HOME/x.rb", "${HOME}/x", "`id`.rb", "$(id).rb", "a|b.rb", "a<b.rb", "a>b",
    "a*.rb", "a?.rb", 'a".rb', " a.rb", "a.rb ", "a.rb.", "app./x.rb", "app /x.rb", "CON", "nul.rb",
    "app/aux.rb", "COM1.txt", "x" * 401, "a/" + "x" * 300, "file:///x.rb", "https://x/y.rb",
)  # fmt: skip

ORDINARY = """
app/controllers/ci_controller.rb app/models/order.rb lib/hooks/foo.rb app/models/ci/build.rb
app/workflows/checkout.rb app/models/vendor/order.rb spec/models/order_spec.rb config/routes.rb
config/initializers/money.rb app/views/orders/show.html.erb
app/services/dockerfile_builder.rb app/models/license.rb app/jobs/deploy.rb
features/support/env.rb shop/views.py shop/settings.py shop/migrations/0002_price.py
tests/test_cart.py tasks.py wsgi.py src/hooks/useCart.ts src/components/Cart.tsx server/index.js
pages/[id].tsx app/(shop)/page.tsx src/env.ts internal/cart/cart.go cmd/server/main.go
cart_test.go pkg/build/planner.go src/main/java/com/shop/Order.java
src/test/java/com/shop/OrderTest.java src/main/resources/messages.properties
app/Http/Controllers/OrderController.php routes/web.php src/Entity/Order.php tests/CartTest.php
Shop/Orders/OrderService.cs Shop.Tests/OrderTests.cs Controllers/HomeController.cs
appsettings.json lib/secrets.rb app/models/package.rb docs/cart.md src/größe.py src/..hidden.py
provider/kubernetes/client.go shop/src/ci/run.py Shop/Infrastructure/Orders.cs
"""


@pytest.mark.parametrize("path", PROTECTED)
def test_what_runs_decides_or_instructs_is_protected(path):
    assert refusal(path)


def test_no_protected_path_is_let_through_in_another_case():
    spelt = [s for path in PROTECTED for s in (path.upper(), path.lower(), path.title())]
    assert [path for path in spelt if not refusal(path)] == []


@pytest.mark.parametrize("path", TRAVERSALS)
def test_a_path_that_two_programs_may_read_differently_is_refused(path):
    assert refusal(path)


@pytest.mark.parametrize("path", ORDINARY.split())
def test_ordinary_source_and_tests_pass(path):
    assert refusal(path) == ""


def test_every_table_is_in_folded_case_and_says_nothing_twice():
    every = [pattern for rule in PATHS.files for pattern in rule.patterns]
    folders = frozenset[str]().union(*(names for _, names in PATHS.folders))
    others = (
        name for names in (PATHS.endings, PATHS.names) for each in names.values() for name in each
    )
    folders |= frozenset(others)
    assert [one for one in (*every, *folders) if one != one.casefold()] == []
    assert [one for one in set(every) if every.count(one) > 1] == []


@given(st.text(max_size=60))
def test_any_text_is_judged_and_what_passes_stays_inside(path):
    why = refusal(path)
    assert isinstance(why, str)
    if not why:
        assert ".." not in path.split("/")
        assert not path.startswith("/")
        assert path.isprintable()


def test_modules_of_a_package_are_no_scripts():
    assert refusal("shop/bin/worker.py")
    assert refusal("shop/bin/worker.py", ("shop/bin/__init__.py",)) == ""
    assert refusal("bin/worker.py", ("bin/__init__.py",))


def changed(path="app/a.rb", text="x = 1\n"):
    return FileChange(path=path, text=text)


def none_before(path):
    return None


def test_a_small_change_is_allowed():
    assert refused((changed(),), none_before) == ""


def test_at_most_five_files():
    files = tuple(changed(f"app/{n}.rb") for n in range(6))
    assert refused(files[:5], none_before) == ""
    assert "6 files, at most 5" in refused(files, none_before)


def test_at_most_400_lines_counted_over_all_files():
    half, more = "x\n" * 200, "x\n" * 201
    assert refused((changed(text=half), changed("app/b.rb", half)), none_before) == ""
    two = (changed(text=half), changed("app/b.rb", more))
    assert "401 changed lines" in refused(two, none_before)


def test_distant_edits_count_as_themselves_not_as_what_lies_between():
    rows = [f"line {n}" for n in range(1_000)]
    before = "\n".join(rows)
    rows[3], rows[990] = "first", "second"
    assert refused((changed(text="\n".join(rows)),), {"app/a.rb": before}.get) == ""


def test_new_bytes_are_bounded_in_new_files_and_in_old_ones():
    long_line = "x" * (edit_policy.MAX_BYTES + 1)
    assert "bytes" in refused((changed(text=long_line),), none_before)
    assert "bytes" in refused((changed(text=f"a\n{long_line}"),), {"app/a.rb": "a\nb"}.get)
    assert refused((changed(text=f"{long_line}\nb"),), {"app/a.rb": f"{long_line}\na"}.get) == ""


def test_a_huge_rewrite_is_judged_quickly():
    before, after = "\n".join(map(str, range(60_000))), "\n".join(map(str, range(60_000, 1, -1)))
    assert "changed lines" in refused((changed(text=after),), {"app/a.rb": before}.get)


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b[2K", "\U000e0041"])
def test_characters_that_no_reviewer_sees_are_not_added(hidden):
    assert "nobody sees" in refused((changed(text=f"if admin{hidden}:\n"),), none_before)
    before = {"app/a.rb": f"# {hidden}\nx = 1\n"}
    assert refused((changed(text=f"# {hidden}\nx = 2\n"),), before.get) == ""


ODD = {"Cc": "\x01", "Cf": "\u200b", "Zl": "\u2028", "Zp": "\u2029", "Cs": "\ud800"}
ODD |= {"Co": "\ue000", "Cn": "\u0378"}


@pytest.mark.parametrize("path", ["shop/w\u043erk.py", "\u0430pp/work.py", "shop/c\u03b1rt.py"])
def test_letters_that_look_alike_are_in_no_name(path):
    assert "look alike" in refusal(path)
    assert not refusal("shop/\u0440\u0430\u0431\u043e\u0442\u0430.txt")


OUTSIDE_PROTECTED = {"ci": OUTSIDE_CI, "packages": PACKAGES, "starts": STARTS, "agents": AGENTS}


@pytest.mark.parametrize("kind", OUTSIDE_PROTECTED)
def test_what_is_executed_or_obeyed_is_protected_in_any_case_and_part(kind: str) -> None:
    rows = [form(path) for path in OUTSIDE_PROTECTED[kind] for form in (str, str.upper, str.lower)]
    assert [path for path in rows if not refusal(path)] == []


def test_no_spelling_leaves_the_tree_or_reaches_gits_own_files() -> None:
    assert [path for path in ESCAPES if not refusal(path)] == []


def test_what_leaves_the_tree_is_refused_once_more_where_it_would_be_written() -> None:
    leaving = [path for path in ESCAPES if ".." in path or ".git/" in path.lower()]
    assert [path for path in leaving if not why_unsafe(path)] == []


def test_ordinary_files_of_real_projects_may_be_mended() -> None:
    assert len(OUTSIDE_ORDINARY) >= 100
    assert [
        (path, refusal(path)) for path in (*OUTSIDE_ORDINARY, *TOO_COMMON) if refusal(path)
    ] == []

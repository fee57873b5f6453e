"""Names of files that build, check, deploy, instruct or hold secrets, for `protected_paths`."""

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

"""Secret files are known by their path, however it is written; code about secrets is not."""

import pytest

from nightwatch_core.privacy.rules import is_secret_file

SECRET = [
    ".env",
    ".env.local",
    ".env.production",
    ".ENV",
    "web/.env",
    "./.env",
    "a//.env",
    "a\\.env",
    "prod.env",
    ".envrc",
    "config/secrets.yml",
    "config/secrets.yml.enc",
    "config/secrets/prod.exs",
    "config/credentials.yml.enc",
    "config/master.key",
    "config/credentials/production.key",
    "deploy/id_rsa",
    "id_ed25519",
    "tls/server.pem",
    "a.p12",
    "release.keystore",
    ".npmrc",
    "sub/.netrc",
    "_netrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".aws/credentials",
    ".git-credentials",
    ".docker/config.json",
    ".kube/config",
    "client_secret_17.json",
    "google-service-account.json",
    "app-credentials.json",
    "secrets.yaml",
    "secrets.json",
    "prod.secrets.env",
    "terraform.tfvars",
    "terraform.tfstate",
    ".ssh/id_work",
    "ｉd_rsa",
    ".vault-token",
    "auth.keytab",
]
PLAIN = [
    ".env.example",
    ".env.sample",
    ".env.template",
    "example.env.md",
    "app/secrets.py",
    "lib/credentials.rb",
    "src/key.go",
    "src/keys.ts",
    "config/routes.rb",
    "config/database.yml",
    "id_rsa.pub",
    ".ssh/known_hosts.pub",
    "app/models/secret.rb",
    "docs/secrets.md",
    "test/test_env.py",
    "environment.rb",
    "package.json",
    "tokens.css",
    "terraform.tfvars.example",
    "secrets.example.yml",
    "app/credentials_controller.rb",
    "monkey.py",
    "a.env.ts",
]


@pytest.mark.parametrize("path", SECRET)
def test_what_holds_secrets_is_not_read(path):
    assert is_secret_file(path)


@pytest.mark.parametrize("path", [*PLAIN, "", "/", "."])
def test_what_speaks_of_secrets_is_code(path):
    assert not is_secret_file(path)

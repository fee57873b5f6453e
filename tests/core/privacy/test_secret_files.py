"""Secret files are known by their path, however it is written; code about secrets is not."""

import pytest

from nightwatch_core.privacy.rules import is_secret_file

SECRET = [
    r".env",
    r".env.local",
    r".env.production",
    r".ENV",
    r"web/.env",
    r"./.env",
    r"a//.env",
    r"a\.env",
    r"prod.env",
    r".envrc",
    r"config/secrets.yml",
    r"config/secrets.yml.enc",
    r"config/secrets/prod.exs",
    r"config/credentials.yml.enc",
    r"config/master.key",
    r"config/credentials/production.key",
    r"deploy/id_rsa",
    r"id_ed25519",
    r"tls/server.pem",
    r"a.p12",
    r"release.keystore",
    r".npmrc",
    r"sub/.netrc",
    r"_netrc",
    r".pypirc",
    r".pgpass",
    r".htpasswd",
    r".aws/credentials",
    r".git-credentials",
    r".docker/config.json",
    r".kube/config",
    r"client_secret_17.json",
    r"google-service-account.json",
    r"app-credentials.json",
    r"secrets.yaml",
    r"secrets.json",
    r"prod.secrets.env",
    r"terraform.tfvars",
    r"terraform.tfstate",
    r".ssh/id_work",
    r"ｉd_rsa",
    r".vault-token",
    r"auth.keytab",
]
PLAIN = [
    r".env.example",
    r".env.sample",
    r".env.template",
    r"example.env.md",
    r"app/secrets.py",
    r"lib/credentials.rb",
    r"src/key.go",
    r"src/keys.ts",
    r"config/routes.rb",
    r"config/database.yml",
    r"id_rsa.pub",
    r".ssh/known_hosts.pub",
    r"app/models/secret.rb",
    r"docs/secrets.md",
    r"test/test_env.py",
    r"environment.rb",
    r"package.json",
    r"tokens.css",
    r"terraform.tfvars.example",
    r"secrets.example.yml",
    r"app/credentials_controller.rb",
    r"monkey.py",
    r"a.env.ts",
]


@pytest.mark.parametrize("path", SECRET)
def test_what_holds_secrets_is_not_read(path):
    assert is_secret_file(path)


@pytest.mark.parametrize("path", [*PLAIN, "", "/", "."])
def test_what_speaks_of_secrets_is_code(path):
    assert not is_secret_file(path)

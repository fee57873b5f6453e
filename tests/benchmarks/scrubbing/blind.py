"""Texts with secrets and people in them that no rule was tuned on: written before the rules were.

Whoever changes a rule looks at `development`, and only counts here.
"""

import string
from collections.abc import Callable, Iterator
from urllib.parse import quote

from tests.benchmarks.scrubbing.values import ALNUM, HEX, LOWER, Values

SEED = 90_210
TIMES = 8  # texts of every template

Template = tuple[str, Callable[[Values], tuple[str, str]]]  # name, and text with what is hidden


def _t(name: str, text: str, make: Callable[[Values], str]) -> Template:
    def made(values: Values) -> tuple[str, str]:
        secret = make(values)
        return text.replace("@@", secret), secret

    return name, made


UPPER = string.ascii_uppercase + string.digits
SECRETS: tuple[Template, ...] = (
    _t("vendor", "stripe.error.AuthenticationError: Invalid API Key provided: @@", lambda v: "sk_live_" + v.of(ALNUM, 24)),
    _t("vendor", "git clone https://x-access-token:@@@github.com/acme/shop.git failed with 128", lambda v: "ghs_" + v.of(ALNUM, 36)),
    _t("vendor", "remote: HTTP Basic: Access denied (token @@)", lambda v: "glpat-" + v.of(ALNUM, 20)),
    _t("vendor", "SendGrid responded 401 for @@.", lambda v: f"SG.{v.of(ALNUM, 22)}.{v.of(ALNUM, 43)}"),
    _t("vendor", "HfHubHTTPError: 403 Client Error. Used @@", lambda v: "hf_" + v.of(ALNUM, 34)),
    _t("vendor", "uploading with twine, __token__ @@", lambda v: "pypi-AgEIcHlwaS5vcmc" + v.of(ALNUM + "-_", 90)),
    _t("vendor", "npm ERR! 401 Unauthorized //registry.npmjs.org/:_authToken=@@", lambda v: "npm_" + v.of(ALNUM, 36)),
    _t("vendor", "openai.AuthenticationError: Incorrect API key provided: @@. You can find your API key at", lambda v: "sk-proj-" + v.of(ALNUM + "-_", 64)),
    _t("vendor", "DigitalOcean droplet list: unable to authenticate you (@@)", lambda v: "dop_v1_" + v.of(HEX, 64)),
    _t("vendor", "vault write failed: token=@@ has no policy", lambda v: "hvs." + v.of(ALNUM, 90)),
    _t("vendor", "S3 PutObject SignatureDoesNotMatch AWSAccessKeyId @@", lambda v: "AKIA" + v.of(UPPER, 16)),
    _t("vendor", "shopify: X-Shopify-Access-Token @@ was revoked", lambda v: "shpat_" + v.of(HEX, 32)),
    _t("vendor", "posting to https://discord.com/api/webhooks/112233445566778899/@@ gave 404", lambda v: v.of(ALNUM + "-_", 68)),
    _t("vendor", "TelegramError: Unauthorized https://api.telegram.org/bot@@/sendMessage", lambda v: f"{v.digits(10)}:AA{v.of(ALNUM, 33)}"),
    _t("vendor", "grafana push: 401 for @@", lambda v: f"glsa_{v.of(ALNUM, 32)}_{v.of(HEX, 8)}"),
    _t("vendor", "Databricks: token @@ is expired", lambda v: "dapi" + v.of(HEX, 32)),
    _t("planetscale", "mysql://k3x9:@@@aws.connect.psdb.cloud/shop?sslaccept=strict", lambda v: "pscale_pw_" + v.of(ALNUM, 43)),
    _t("sentry", "Raven dsn is https://@@@o447951.ingest.sentry.io/5429219", lambda v: v.of(HEX, 32)),
    _t("dsn", "SQLSTATE[HY000] [1045] Access denied in PDO->__construct('mysql:host=db1;dbname=shop', 'shop', '@@', Array)", Values.password),
    _t("dsn", "could not connect: host=10.2.0.4 port=5432 user=shop password=@@ dbname=shop", Values.password),
    _t("dsn", "Login failed. Server=tcp:sql01,1433;Initial Catalog=Shop;User ID=app;Password=@@;Encrypt=True;", Values.password),
    _t("dsn", "amqp.exceptions.AccessRefused: amqps://worker:@@@rabbit.internal:5671/%2F", Values.password),
    _t("dsn", "Error: MongoServerError: bad auth, mongodb+srv://app:@@@cluster0.ab12c.mongodb.net/shop", lambda v: v.of(ALNUM, 18)),
    _t("dsn", "jdbc:postgresql://db:5432/shop?user=svc&password=@@&ssl=true", Values.password),
    _t("url", "GET https://api.partner.test/v2/orders?api_key=@@&page=3 503", lambda v: v.of(LOWER, 32)),
    _t("url", "302 -> https://app.acme.test/cb?code=ok&access_token=@@", lambda v: v.of(ALNUM, 40)),
    _t("url", "blob https://acme.blob.core.windows.net/c/f.csv?sv=2022-11-02&sp=r&sig=@@", lambda v: quote(v.base64(32), safe="")),
    _t("url", "https://bucket.s3.amazonaws.com/k?X-Amz-Date=20240101T000000Z&X-Amz-Signature=@@", lambda v: v.of(HEX, 64)),
    _t("python", "    client = Client(api_key='@@', timeout=5)", lambda v: v.of(ALNUM, 32)),
    _t("python", 'DATABASES = {"default": {"USER": "shop", "PASSWORD": "@@", "HOST": "db"}}', Values.password),
    _t("python", "SECRET_KEY = 'django-insecure-@@'", lambda v: v.of(ALNUM + "^&*", 50)),
    _t("ruby", 'config.secret_key_base = "@@"', lambda v: v.of(HEX, 128)),
    _t("ruby", 'Stripe.api_key = ENV.fetch("STRIPE") { "@@" }', lambda v: "rk_live_" + v.of(ALNUM, 24)),
    _t("ruby", 'Parameters: {"user"=>{"login"=>"ana", "password"=>"@@"}, "commit"=>"Sign in"}', Values.password),
    _t("php", "'connections' => ['mysql' => ['username' => 'root', 'password' => '@@']]", Values.password),
    _t("php", "define( 'AUTH_KEY', '@@' );", lambda v: v.of(ALNUM + "!|%", 64)),
    _t("java", "spring.datasource.password=@@", Values.password),
    _t("java", '<property name="hibernate.connection.password">@@</property>', Values.password),
    _t("java", "java.sql.SQLException: connect(url=jdbc:oracle:thin:@db:1521, user=app, password=@@)", Values.password),
    _t("go", 'var clientSecret = "@@"', lambda v: v.of(ALNUM, 40)),
    _t("go", "panic: bad config {Addr:redis:6379 Password:@@ DB:0}", Values.password),
    _t("csharp", '{"ConnectionStrings":{"Default":"Server=db;Uid=app;Pwd=@@;"}}', Values.password),
    _t("csharp", '<add key="ServiceBusKey" value="Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@@"/>', lambda v: v.base64(32)),
    _t("js", "const jwtSecret = `@@`;", lambda v: v.of(ALNUM, 28)),
    _t("js", "{ auth: { user: 'mailer', pass: '@@' } }", Values.password),
    _t("yaml", "      - name: SMTP_PASSWORD\n        value: @@", Values.password),
    _t("yaml", "redis:\n  host: cache\n  requirepass: @@", Values.password),
    _t("env", "export MAILGUN_SIGNING_KEY=@@", lambda v: v.of(HEX, 32)),
    _t("env", "AWS_SECRET_ACCESS_KEY=@@", lambda v: v.of(ALNUM + "/+", 40)),
    _t("json", r'body: "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"@@\"}"', lambda v: v.of(ALNUM, 44)),
    _t("json", '{"event":"login","user_id":17,"sessionToken":"@@"}', lambda v: v.of(ALNUM, 32)),
    _t("header", "> Authorization: Basic @@", lambda v: v.base64(21)),
    _t("header", '"headers":{"x-api-key":"@@","accept":"*/*"}', lambda v: v.of(LOWER, 36)),
    _t("header", "curl -H 'Authorization: Bearer @@' https://api", lambda v: v.of(ALNUM, 40)),
    _t("header", "Cookie: theme=dark; _shop_session=@@; lang=en", lambda v: v.of(ALNUM, 48)),
    _t("header", "set-cookie: JSESSIONID=@@; Path=/; HttpOnly", lambda v: v.of(UPPER, 32)),
    _t("header", "('HTTP_COOKIE', 'sessionid=@@; csrftoken=x')", lambda v: v.of(LOWER, 32)),
    _t("jwt", "invalid signature for @@ (kid 3)", Values.jwt),
    _t("jwt", "jwt malformed: token=@@", Values.jwt),
    _t("pem", "-----BEGIN OPENSSH PRIVATE KEY-----\n@@\n-----END OPENSSH PRIVATE KEY-----", lambda v: v.base64(48)),
    _t("pem", r'"private_key": "-----BEGIN PRIVATE KEY-----\n@@\n-----END PRIVATE KEY-----\n"', lambda v: v.base64(48)),
    _t("hash", "UPDATE users SET password_digest = '@@' WHERE id = 7", Values.bcrypt),
    _t("hash", "DETAIL: Failing row contains (17, ana, @@, null).", Values.bcrypt),
    _t("hash", "parameters: ('ana', '$argon2id$v=19$m=65536,t=3,p=4$@@')", lambda v: f"{v.of(ALNUM, 22)}${v.of(ALNUM, 43)}"),
    _t("hash", "[SQL: INSERT INTO auth_user ...] pbkdf2_sha256$600000$@@", lambda v: f"{v.of(ALNUM, 22)}${v.base64(32)}"),
    _t("hash", "shadow entry root:$6$@@:19000:0", lambda v: f"{v.of(ALNUM, 16)}${v.of(ALNUM + './', 86)}"),
    _t("otp", "SMS to customer failed: Your verification code is @@", lambda v: v.digits(6)),
    _t("otp", "otp=@@ did not match for user 5", lambda v: v.digits(6)),
    _t("otp", "Two-factor code @@ was already used", lambda v: v.digits(6)),
    _t("sql", "INSERT INTO integrations (name, api_token) VALUES ('crm', '@@')", lambda v: v.of(ALNUM, 36)),
    _t("sql", '[["name", "crm"], ["client_secret", "@@"], ["id", 4]]', lambda v: v.of(ALNUM, 36)),
    _t("sql", "SELECT * FROM sessions WHERE token = '@@' LIMIT 1", lambda v: v.of(ALNUM, 32)),
    _t("prose", "Login of ana with password '@@' was refused by LDAP", Values.password),
    _t("prose", "The license key @@ is not valid for this server", lambda v: "-".join(v.of(UPPER, 5) for _ in range(5))),
    _t("cli", "+ mysqldump -u root --password=@@ shop", Values.password),
    _t("cli", "exec: sshpass -p @@ ssh deploy@web1", Values.password),
    _t("cli", "curl -u deploy:@@ https://nexus.acme.test", Values.password),
)  # fmt: skip
PERSONAL: tuple[Template, ...] = (
    _t("email", "duplicate key value violates unique constraint: Key (email)=(@@) already exists.", Values.email),
    _t("email", "smtplib.SMTPRecipientsRefused: {'@@': (550, b'no such user')}", Values.email),
    _t("email", "ActiveRecord::RecordInvalid: Email @@ has already been taken", Values.email),
    _t("email", "To: <@@>", Values.email),
    _t("email", '{"user":{"id":3,"mail":"@@"}}', Values.email),
    _t("email", "GET /unsubscribe?m=@@&x=1", lambda v: quote(v.email(), safe="")),
    _t("email", "mailto:@@?subject=hi", Values.email),
    _t("phone", "Twilio 21211: The 'To' number @@ is not a valid phone number.", Values.phone),
    _t("phone", '{"name":"Ana","phone":"@@"}', Values.phone),
    _t("phone", "calling @@ timed out after 30s", Values.phone),
    _t("phone", "customer mobile: @@", lambda v: f"0{v.one('151', '170', '160')} {v.digits(8)}"),
    _t("card", "card_declined for @@ exp 04/27", Values.card),
    _t("card", '"card_number": "@@", "cvc": "x"', Values.card),
    _t("card", "PAN @@ failed luhn in Payment#charge", Values.card),
    _t("iban", "SEPA export: no mandate for @@", Values.iban),
    _t("iban", "iban='@@' bic='COBADEFF'", Values.iban),
    _t("iban", "('Holm', '@@', 12.50)", Values.iban),
)  # fmt: skip


def samples(templates: tuple[Template, ...]) -> Iterator[tuple[str, str, str]]:
    """Kind, text and what has to go from it."""
    values = Values(SEED)
    for kind, made in templates:
        for _ in range(TIMES):
            yield kind, *made(values)

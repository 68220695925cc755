"""60 invented secrets and 60 harmless look-alikes, for the measurement of `--mask`.

Each secret is assembled from parts, so that scanners of this repository stay silent. They were written before the rules
of the masking were changed, and are not fitted to them.
"""

import random
import string

_DRAW = random.Random(64)


def _of(letters: str, length: int) -> str:
    return "".join(_DRAW.choice(letters) for _ in range(length))


_WORD = string.ascii_letters + string.digits


def _any(length: int) -> str:
    return _of(_WORD, length)


def _hex(length: int) -> str:
    return _of("0123456789abcdef", length)


def _case(template: str, secret: str) -> tuple[str, str]:
    return template.replace("@@", secret), secret


SECRETS = [
    # keys of services
    _case("export OPENAI_API_KEY=@@", "sk" + "-proj-" + _any(48)),
    _case("client = Anthropic(api_key='@@')", "sk" + "-ant-" + "api03-" + _any(60)),
    _case("aws_access_key_id = @@", "AK" + "IA" + _of(string.ascii_uppercase + "234567", 16)),
    _case("aws_secret_access_key = @@", _any(40)),
    _case("AWS_SESSION_TOKEN=@@", "FwoG" + "ZXIvYXdz" + _any(120)),
    _case("git clone https://x-access-token:@@/org/repo", "gh" + "s_" + _any(36) + "@github.com"),
    _case("remote uses @@ now", "github" + "_pat_" + _any(22) + "_" + _any(59)),
    _case("glab auth login --token @@", "gl" + "pat-" + _any(20)),
    _case("google key @@ in the page", "AI" + "za" + _any(35)),
    _case("slack: @@", "xo" + "xb-" + _of(string.digits, 12) + "-" + _of(string.digits, 12) + "-" + _any(24)),
    _case("curl -X POST @@ -d '{}'", "https://hooks.slack" + ".com/services/T" + _of("ABCDEFGH0123", 8) + "/B"
          + _of("ABCDEFGH0123", 8) + "/" + _any(24)),
    _case("url: @@", "https://discord" + ".com/api/webhooks/" + _of(string.digits, 18) + "/" + _any(68)),
    _case("stripe.api_key = \"@@\"", "sk" + "_live_" + _any(24)),
    _case("webhook secret is @@", "wh" + "sec_" + _any(32)),
    _case("twilio: account @@", "SK" + _hex(32)),
    _case("SENDGRID @@", "SG" + "." + _any(22) + "." + _any(43)),
    _case("mailgun key-value: @@", "key" + "-" + _hex(32)),
    _case("npm config set //registry.npmjs.org/:_authToken @@", "np" + "m_" + _any(36)),
    _case("twine upload -u __token__ -p @@", "py" + "pi-AgEIcHlwaS5vcmc" + _any(70)),
    _case("login(token='@@')", "h" + "f_" + _any(34)),
    _case("bot @@ started", _of(string.digits, 10) + ":AA" + _any(33)),
    _case("DIGITALOCEAN @@", "dop" + "_v1_" + _hex(64)),
    _case("databricks host, @@", "da" + "pi" + _hex(32)),
    _case("vault login @@", "hv" + "s." + _any(24)),
    _case("jwt: @@", "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "J" + _any(40) + "." + _any(43)),
    # options of commands
    _case("deploy --token @@ --yes", _any(24)),
    _case("tool --api-key @@ run", _any(32)),
    _case("tool --secret @@", _hex(40)),
    _case("mysql -u root -p@@ shop", _any(12)),
    _case("mysql --password @@ shop", "Tr0ub4dor" + "&3"),
    _case("sshpass -p @@ ssh root@10.0.0.4", _any(14)),
    _case("curl -u admin:@@ https://api.example.com/v1", _any(16)),
    _case("curl --user deploy:@@ https://api.example.com", _any(16)),
    _case("docker login -u ana -p @@ registry.example.com", _any(20)),
    _case("redis-cli -a @@ ping", _any(18)),
    # escaped JSON
    _case(r'{\"api_key\": \"@@\"}', _any(32)),
    _case(r'{\"token\":\"@@\",\"user\":1}', _any(30)),
    _case(r'body: "{\\\"client_secret\\\": \\\"@@\\\"}"', _any(32)),
    _case('{"refresh_token": "@@"}', "1//0" + _any(60)),
    _case('{"private_key_id": "a", "client_secret": "@@"}', "GOC" + "SPX-" + _any(28)),
    # headers
    _case("Authorization: Bearer @@", _any(40)),
    _case("Authorization: Basic @@", _any(30) + "=="),
    _case("Cookie: theme=dark; sessionid=@@; lang=en", _any(32)),
    _case("Set-Cookie: session=@@; Path=/; HttpOnly", _any(48)),
    _case("X-Auth-Token: @@", _hex(40)),
    _case("-H 'X-Api-Key: @@'", _any(40)),
    _case("PRIVATE-TOKEN: @@", _any(20)),
    _case("Proxy-Authorization: Basic @@", _any(28)),
    _case("X-CSRF-Token: @@", _any(32)),
    # URLs and connection strings
    _case("redis://:@@@cache.internal:6379/0", _any(20)),
    _case("postgres://shop:@@@db.internal/shop", _any(16)),
    _case("mongodb+srv://app:@@@cluster0.example.net/", _any(18)),
    _case("amqp://guest:@@@mq:5672", _any(10)),
    _case("Server=db;Database=shop;User Id=sa;Password=@@;", _any(14)),
    _case("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=@@;EndpointSuffix=core.windows.net",
          _any(86) + "=="),
    _case("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@@", _any(43) + "="),
    _case("GET /v1/items?api_key=@@&page=2", _any(28)),
    _case("https://files.example.com/a?sig=@@&se=2026-12-01", _any(43) + "%3D"),
    # blocks and settings
    _case("@@", "-----BEGIN RSA " + "PRIVATE KEY-----\n" + _any(64) + "\n-----END RSA " + "PRIVATE KEY-----"),
    _case("SECRET_KEY = '@@'", "django-insecure-" + _any(50)),
]  # fmt: skip

HARMLESS = [
    "commit " + _hex(40),
    "git show " + _hex(8),
    "HEAD is now at " + _hex(7) + " Fix the rounding",
    "index " + _hex(7) + ".." + _hex(7) + " 100644",
    "Merge " + _hex(40) + " into " + _hex(40),
    "sha256:" + _hex(64),
    _hex(64) + "  dist/shop-1.2.0.tar.gz",
    "md5 " + _hex(32),
    '"integrity": "sha512-' + _any(86) + '=="',
    "--hash=sha256:" + _hex(64),
    'etag: W/"' + _hex(32) + '"',
    "id 5f0c1c4e-7f0e-4d57-9a83-1f0b8a3d2c11",
    '{"uuid": "93f8fad2-884e-4dc9-8d24-20cde6d5eea8"}',
    "request_id=req_01HZX4" + _of(string.ascii_uppercase + "23456789", 20),
    "call_id: call_" + _any(24),
    "toolu_01" + _any(22),
    "chatcmpl-" + _any(29),
    "msg_" + _hex(48),
    "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "arn:aws:s3:::shop-data/2026/11/29/part-00001.parquet",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    '<img src="/static/logo.' + _hex(20) + '.png">',
    "wrote chart_" + _hex(32) + ".svg",
    "/home/user/.cache/huggingface/hub/models--intfloat--e5-small/snapshots/" + _hex(40) + "/config.json",
    "/usr/lib/python3.11/site-packages/pkg_resources/_vendor/packaging/_tokenizer.py",
    "C:\\Users\\ana\\AppData\\Local\\Programs\\Python\\Python311\\python.exe",
    "https://github.com/org/repo/commit/" + _hex(40),
    "https://docs.example.com/guide/authentication#token-based-authentication",
    "https://example.com/search?q=how+to+reset+a+password&page=2",
    "max_tokens=4096, temperature=0.7, top_p=0.95",
    "usage: prompt_tokens: 12345678, completion_tokens: 23456789",
    "tokens per second: 1234567890",
    "The tokenizer returns token ids: 101, 2023, 2003, 102",
    "Enter the token that you got by e-mail.",
    "The password must have at least twelve characters.",
    "def check_password(user, password): return user.check(password)",
    "password = getpass.getpass()",
    "api_key = os.environ['OPENAI_API_KEY']",
    "token = request.headers.get('Authorization')",
    "from secrets import token_urlsafe, compare_digest",
    "self.secret_key_name = config.secret_key_name",
    "if not api_key: raise ValueError('api_key is missing')",
    "the cookie recipe: butter, sugar, flour; bake: 12 minutes",
    "class CookieMiddleware(SessionMiddleware): pass",
    "curl -u is the option for a user name",
    "docker run -p 8080:80 -p 8443:443 nginx",
    "mkdir -p build/lib.linux-x86_64-cpython-311/judge",
    "git log --author=ana --since=2026-01-01",
    "patient 2026-11-29: HbA1c 7.2 %, LDL 130 mg/dL, eGFR 88 mL/min/1.73m2",
    "CYP2C19*2/*17, HLA-B*57:01 negative, BRCA1 c.5266dupC",
    "MRN 00012345678, accession 2026-SP-0098765, ICD-10 E11.65",
    "ATGGCCATTGTAATGGGCCGCTGAAAGGGTGCCCGATAGCATGCATTTACGGCAT",
    "ISBN 978-3-16-148410-0, DOI 10.1016/j.cell.2026.01.001",
    "IBAN shape: DE00 0000 0000 0000 0000 00; order 100000000000000001",
    "correct horse battery staple is the example of the comic",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "assert total([('a', 19.99, 3)], 0.15) == 50.97",
    "CRITICAL_SECTION_TIMEOUT_MILLISECONDS = 30000000000",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + _any(43) + " ana@laptop",
]

"""More invented secrets and look-alikes: lists that were written before the rules that find them.

The first 60 of each come from someone who had not seen any rule. Twice 20 followed, each after the rules were mended.
"""

import base64
import random
import string

_DRAW = random.Random(6464)
_WORD = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_URL64 = _WORD + "-_"


def _of(letters: str, length: int) -> str:
    return "".join(_DRAW.choice(letters) for _ in range(length))


def _any(length: int) -> str:
    return _of(_WORD, length)


def _hex(length: int) -> str:
    return _of("0123456789abcdef", length)


def _uuid() -> str:
    return "-".join(_hex(n) for n in (8, 4, 4, 4, 12))


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _case(template: str, secret: str) -> tuple[str, str]:
    return template.replace("@@", secret), secret


_PEM_BODY = "\n".join(_of(_WORD + "+/", 64) for _ in range(5))
_DASH = "-" * 5

SECRETS = [
    # command lines
    _case("$ mysql -h db.internal -u app -p@@ -e 'select count(*) from orders'", "Gr33n" + "Lantern!81"),
    _case("+ PGPASSWORD=@@ psql -h 10.0.3.7 -U deploy -d billing -c '\\dt'", "vK2p" + "QmZx9w"),
    _case("$ redis-cli -h cache-01 -p 6379 -a @@ ping", "Zt8" + "mQwJr4Lk0"),
    _case("$ sshpass -p '@@' ssh root@192.168.4.20 uptime", "Monsoon" + "#2291"),
    _case("docker login registry.example.com -u ci --password @@", "Kd93" + "_pL0x-Tiger"),
    _case("echo '@@' | docker login ghcr.io -u bot --password-stdin", "gh" + "p_" + _any(36)),
    _case("$ curl -u elastic:@@ https://es:9200/_cat/indices", "wN4" + "eXb7Rr2"),
    _case("curl -s -H 'X-Api-Key: @@' https://api.example.com/v2/items", _hex(32)),
    _case('curl -H "Private-Token: @@" https://gitlab.example.com/api/v4/projects', _any(20)),
    _case("$ ldapsearch -x -D cn=admin,dc=corp -w @@ -b dc=corp", "Br1ck" + "yard77"),
    _case("openssl pkcs12 -in cert.p12 -nodes -passin pass:@@", "cobalt" + "Heron19"),
    _case("$ net use Z: \\\\fs01\\share /user:CORP\\jdoe @@", "Wint3r" + "Palace$5"),
    _case("wget --http-user=mirror --http-password=@@ https://dl.example.com/f.tgz", "s7r" + "UqP20kd"),
    _case("kubectl create secret generic db --from-literal=password=@@", "qF5" + "hyL8nWd"),
    _case("sqlcmd -S tcp:sql01 -U sa -P @@ -Q 'SELECT 1'", "Yellow" + "Cab(77)x"),
    _case("$ mongosh --username admin --password @@ --eval 'rs.status()'", "Mp4" + "rTz8Kc"),
    # headers, cookies, basic auth
    _case("> Authorization: Basic @@", _b64("svc-ci:" + "Purple" + "Rain77")),
    _case("Cookie: theme=dark; sessionid=@@; lang=en", _of(_LOWER, 32)),
    _case("< Set-Cookie: connect.sid=@@; Path=/; HttpOnly", "s%3A" + _any(32) + "." + _any(43)),
    _case("headers: {'Authorization': 'Bearer @@', 'Accept': '*/*'}", _any(44)),
    _case("Authorization: Token @@", _hex(40)),
    _case("x-amz-security-token: @@", "IQoJb3" + "JpZ2lu" + _any(200)),
    _case('Proxy-Authorization: Digest username="x", response="@@"', _hex(32)),
    _case("DD-API-KEY: @@", _hex(32)),
    # JSON, escaped JSON, YAML, env, ini
    _case('{"user": "ops", "password": "@@", "port": 5432}', "l1me" + "-Orchid-3"),
    _case('{"arguments": "{\\"client_secret\\": \\"@@\\", \\"scope\\": \\"all\\"}"}', _any(34)),
    _case('"body": "{\\\\\\"refresh_token\\\\\\":\\\\\\"@@\\\\\\"}"', "1//0" + "g" + _of(_URL64, 60)),
    _case("smtp:\n  host: mail.example.com\n  user: bot\n  pass: @@", "hV6" + "tNz2Jq"),
    _case("  - name: DB_PASSWORD\n    value: @@", "azure" + "Falcon42"),
    _case("SECRET_KEY=@@", "django" + "-insecure-" + _of(_LOWER + "!@#$%^&*(-_=+)", 50)),
    _case('NEXTAUTH_SECRET="@@"', _b64("".join(_any(32)))),
    _case("MAIL_PWD=@@", "tj9" + "WqLm3x"),
    _case("[default]\naws_access_key_id=" + "AS" + "IA" + "EXAMPLE\naws_secret_access_key=@@", _of(_WORD + "/+", 40)),
    _case("encryption:\n  master_key: '@@'", _hex(64)),
    _case("//registry.example.com/:_auth=@@", _b64("bot:" + "Velvet" + "Drum8")),
    _case("machine api.heroku.com login bot@example.com password @@", _uuid()),
    _case('<add key="ApiSecret" value="@@" />', _any(32)),
    _case("<password>@@</password>", "Oak" + "Tree_992"),
    # URLs and connection strings
    _case("DATABASE_URL=postgres://app:@@@db.prod:5432/main?sslmode=require", "N3pt" + "une-Rising"),
    _case("amqps://worker:@@@rabbit.example.com/vhost1", _any(24)),
    _case("Server=tcp:x.database.windows.net,1433;User ID=adm;Password=@@;Encrypt=True;", "Qu1et" + "Storm!6"),
    _case(
        "DefaultEndpointsProtocol=https;AccountName=st01;AccountKey=@@;EndpointSuffix=core.windows.net", _any(86) + "=="
    ),
    _case("jdbc:oracle:thin:scott/@@@//ora01:1521/ORCL", "T1g" + "er_9lives"),
    _case("jdbc:mysql://db/app?user=root&password=@@&useSSL=false", "rB5" + "xVw1Qe"),
    _case("GET /v1/report?format=csv&api_key=@@ HTTP/1.1", _hex(40)),
    _case("https://bucket.s3.amazonaws.com/a.csv?X-Amz-Expires=900&X-Amz-Signature=@@", _hex(64)),
    _case("https://st01.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=@@", _any(43) + "%3D"),
    _case("GET https://app.example.com/reset?email=a@b.co&token=@@", _any(40)),
    # tokens of services
    _case("Linear key: @@", "lin" + "_api_" + _any(40)),
    _case("POST https://api.telegram.org/bot@@/sendMessage", _of(string.digits, 10) + ":" + "AAF" + _of(_URL64, 32)),
    _case(
        "posting to https://example.webhook.office" + ".com/webhookb2/@@",
        _uuid() + "@" + _uuid() + "/IncomingWebhook/" + _hex(32) + "/" + _uuid(),
    ),
    _case("grafana service account: @@", "gl" + "sa_" + _any(32) + "_" + _hex(8)),
    _case("Using xAI credential @@", "xa" + "i-" + _any(80)),
    _case('level=debug msg="connecting" sentry_dsn=https://@@@o1.ingest.sentry.io/44', _hex(32)),
    # private keys
    _case(
        f"cat id_rsa\n{_DASH}BEGIN OPENSSH PRIVATE" + f" KEY{_DASH}\n@@\n{_DASH}END OPENSSH PRIVATE" + f" KEY{_DASH}",
        _PEM_BODY,
    ),
    _case(
        f'"private_key": "{_DASH}BEGIN PRIVATE' + f" KEY{_DASH}\\n@@\\n{_DASH}END PRIVATE" + f' KEY{_DASH}\\n"',
        _PEM_BODY.replace("\n", "\\n"),
    ),
    # prose, traces, infrastructure
    _case("I'll log in with the admin password `@@` that you gave me.", "Marble" + "-Fox-12"),
    _case("The password for the staging database is @@, and the user is app.", "k8Hn" + "2vBqs"),
    _case("psycopg2.OperationalError: connection failed: dbname=app user=app password=@@ host=db1", "Sk1" + "pper88"),
    _case(
        'resource "aws_db_instance" "main" {\n  username        = "root"\n  master_password = "@@"\n}',
        "Cedar" + "Hill_404",
    ),
    # the second list
    _case("gcloud auth activate-service-account; access_token: @@", "ya" + "29.a0Af" + _of(_URL64, 120)),
    _case("pip config set global.index-url https://ci:@@@pypi.example.com/simple", "Bison" + "Trail_9"),
    _case("rsync --password-file=<(echo @@) src/ host::mod", "Lp" + "7fWq2Zd"),
    _case("restic -r s3:x backup /home  # RESTIC_PASSWORD='@@'", "slate heron " + "41 bridge"),
    _case("ansible_become_pass: @@", "Cop" + "per!Moon3"),
    _case("TF_VAR_db_password=@@ terraform apply -auto-approve", "wP3" + "xkTT90vd"),
    _case('  + admin_password = "@@"', "Juniper" + "#Road8"),
    _case("Events: MountVolume failed; data: {password: @@}", _b64("kiwi" + "Storm88")),
    _case("stringData:\n  api-token: @@", _any(40)),
    _case("2026-11-29 12:00:01 DEBUG oauth2: exchanging code=abc client_secret=@@ grant", _any(32)),
    _case("CREATE USER app WITH ENCRYPTED PASSWORD '@@';", "Zephyr" + "_2211"),
    _case("ALTER USER 'root'@'localhost' IDENTIFIED BY '@@';", "Amber" + "Leaf!5"),
    _case("mc alias set local http://minio:9000 minioadmin @@", "rX8" + "vTqL2mNp5"),
    _case("nmcli dev wifi connect HomeNet password @@", "teal" + "Otter2024"),
    _case("az storage blob list --account-name st --account-key @@", _any(86) + "=="),
    _case("const client = new Client({ user: 'app', password: '@@' })", "nV4" + "$kk2Lq"),
    _case('driver.find_element(By.ID, "password").send_keys("@@")', "Harbor" + "Light7"),
    _case("Login with user admin and password @@ worked.", "Toucan" + "_55x"),
    _case("heroku config:set STRIPE_WEBHOOK_SECRET=@@ -a shop", "wh" + "sec_" + _any(32)),
    _case("WEBHOOK=https://hooks.zapier.com/hooks/catch/@@/", _of(string.digits, 7) + "/" + _of(_LOWER, 7)),
    # the third list
    _case('{"action": "fill", "selector": "input[name=password]", "text": "@@"}', "Gable" + "Wren#31"),
    _case("await page.fill('#password', '@@');", "Nova" + "Lake_77"),
    _case("imap = imaplib.IMAP4_SSL(h); imap.login('me@example.com', '@@')", "abcd efgh " + "ijkl mnop"),
    _case("ssh.connect(host, username='pi', password=\"@@\")", "rasp" + "Berry$9"),
    _case("engine = create_engine('mysql+pymysql://root:@@@127.0.0.1/test')", "p4n" + "daExpress"),
    _case("snowsql -a xy123 -u BOT; export SNOWSQL_PWD=@@", "Glacier" + "*Path4"),
    _case("[client]\nuser=backup\npassword=@@\n", "d7K" + "sWm1Qz"),
    _case("Found credentials in /etc/app.conf: admin / password: @@", "Citrus" + "Bay-90"),
    _case("I created the API key @@ and stored it.", _any(36)),
    _case("wandb: WANDB_API_KEY=@@", _hex(40)),
    _case("notify: https://ntfy.sh auth header 'Bearer tk_@@'", _of(_LOWER, 29)),
    _case("Your new access token is: @@", _any(40)),
    _case("kubectl get secret db -o yaml\ndata:\n  password: @@", _b64("lime" + "Rocket55")),
    _case("aws configure set aws_secret_access_key @@", _of(_WORD + "/+", 40)),
    _case("curl 'https://api.openweathermap.org/data/2.5/weather?q=Oslo&appid=@@'", _hex(32)),
    _case("curl -d 'grant_type=password&username=a&password=@@' https://id/token", "Hedge" + "hog%2145"),
    _case("ENV DATABASE_PASSWORD @@", "Ivory" + "Gate_61"),
    _case("x-goog-api-key: @@", "AI" + "za" + _of(_URL64, 35)),
    _case("git remote set-url origin https://@@@github.com/o/r.git", "gh" + "o_" + _any(36)),
    _case('<string name="api_key">@@</string>', _any(32)),
]

HARMLESS = [
    # hashes and ids
    "commit " + _hex(40),
    "HEAD is now at " + _hex(8) + " Fix token refresh",
    "sha256:" + _hex(64),
    "Digest: sha256:" + _hex(64) + " Status: Downloaded newer image",
    "docker ps: container " + _hex(12) + " up 3 hours",
    "request_id=" + _uuid() + " status=200 in 12ms",
    'etag: "' + _hex(32) + '"',
    "integrity sha512-" + _any(86) + "==",
    "arn:aws:iam::123456789012:role/deploy-role",
    "traceparent: 00-" + _hex(32) + "-" + _hex(16) + "-01",
    "tool_call_id: call_" + _any(24),
    "id: toolu_" + _any(24),
    "chatcmpl-" + _any(29) + " finished: stop",
    "MD5 (dist.tar.gz) = " + _hex(32),
    "pod api-" + _of(_LOWER, 10) + "-" + _of(_LOWER, 5) + " restarted",
    "ObjectId('" + _hex(24) + "')",
    "go.sum: golang.org/x/text v0.3.7 h1:" + _any(43) + "=",
    "key = 'user:" + _uuid() + ":profile'",
    # code that handles secrets
    "password = getpass.getpass('Password: ')",
    "if user.check_password(password):",
    "token = request.headers.get('Authorization')",
    "api_key = os.environ['OPENAI_API_KEY']",
    "const secret = process.env.JWT_SECRET;",
    "def reset_password(user, new_password, confirm_password):",
    "self.token_count += len(tokenizer.encode(text))",
    "headers = {'Authorization': f'Bearer {token}'}",
    "password: str = Field(min_length=8, max_length=128)",
    "auth_token: Optional[str] = None",
    "SELECT id, password_hash FROM users WHERE email = $1",
    '<input type="password" name="password" placeholder="Password">',
    "assert response.json()['token'] == expected_token",
    "passwordResetTokenExpiry: new Date(Date.now() + 3600000)",
    "KEY_UP, KEY_DOWN = curses.KEY_UP, curses.KEY_DOWN",
    "tokens = model.generate(**inputs, max_new_tokens=256)",
    "for key, value in sorted(settings.items()): print(key, value)",
    # placeholders and docs
    "OPENAI_API_KEY=<your key here>",
    "export TOKEN=$(gcloud auth print-access-token)",
    "password: ${{ secrets.DB_PASSWORD }}",
    "curl -H 'Authorization: Bearer $TOKEN' https://api.example.com",
    "postgres://$USER:$PASSWORD@localhost:5432/app",
    'api_key: "{{ vault_api_key }}"',
    "Usage: tool --password PASSWORD --token TOKEN",
    "--token  the API token to use (default: read from config)",
    "Enter password for user 'postgres':",
    "password: ********",
    "The password must contain at least 12 characters and one digit.",
    "Secret Manager is enabled; see https://cloud.google.com/secret-manager/docs",
    "error: invalid token '}' at line 14 column 3",
    # medical, legal, other values
    "Potassium 4.1 mmol/L, creatinine 88 umol/L, HbA1c 6.2 %",
    "Key finding: no acute intracranial haemorrhage.",
    "Case No. 2:19-cv-04821-JAK, 42 U.S.C. § 1983",
    "ISBN 978-3-16-148410-0, DOI 10.1038/s41586-021-03819-2",
    "IBAN check failed for account DE00 0000",
    "key: C# minor, tempo: 128 bpm",
    # encoded and public material
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + _any(43) + " dev@laptop",
    f"{_DASH}BEGIN PUBLIC KEY{_DASH}\nMIIBIjANBgkq" + _any(52) + f"\n{_DASH}END PUBLIC KEY{_DASH}",
    "data:image/png;base64,iVBORw0KGgo" + _any(120),
    f"{_DASH}BEGIN CERTIFICATE{_DASH}\nMIID" + _any(60) + f"\n{_DASH}END CERTIFICATE{_DASH}",
    # versions and numbers
    "torch==2.4.1+cu121 transformers==4.44.2 tokenizers==0.19.1",
    "prompt_tokens: 18234, completion_tokens: 911, total_tokens: 19145",
    # the second list
    "PASS: test_login2 (0.12s)",
    "pass: 12, fail: 0, skip: 3",
    "2nd pass: Refactored 14 Files",
    "npm notice integrity: sha512-" + _any(20) + "[...]" + _any(12) + "==",
    "public_key: " + _hex(64),
    "partition_key = '2026-11-29#orders'",
    "mysql> SHOW GRANTS FOR 'app'@'10.0.0.%';",
    "zip -r out.zip dist/ -P",
    "ssh -p 2222 deploy@10.0.0.4",
    "pytest -p no:cacheprovider -k 'token and not slow'",
    "password=password, verify=False",
    'raise ValueError("password too short: 6 < 12")',
    "The token `max_new_tokens=256` bounds the answer.",
    "it('rejects a wrong password', async () => {",
    "git@github.com:org/repo.git at " + _hex(7),
    "https://cdn.example.com/app." + _hex(20) + ".js?v=" + _hex(8),
    "key=" + "value; other_key=other_value",
    "master_key_rotation: 90 days, encryption_key_bits: 4096",
    "secret: projects/p1/secrets/db-pass/versions/3",
    "auth: OAuth2PasswordBearer(tokenUrl='token')",
    # the third list
    "The password field is 32 characters wide.",
    "page.fill('#username', 'alice01')",
    "await expect(page.getByLabel('Password')).toBeVisible();",
    "Password123 is listed as a weak example in OWASP",
    "secret_santa: list of 14 names",
    "token: 'EOF' (line 3)",
    "The API key was rotated on 2026-11-02.",
    "authorization: plaintiff v. defendant, 17 U.S.C. 512",
    "auth=('user', None)",
    "session_id: " + "None",
    "Loaded key_value_cache with 4096 entries",
    "error TS2339: Property 'token' does not exist on type 'Session'.",
    "grant_type=authorization_code&redirect_uri=https%3A%2F%2Fapp.example.com",
    "private_key_path: ~/.ssh/id_ed25519",
    'data: {"tokens": [15496, 11, 995], "logprobs": null}',
    "cookies: {secure: true, sameSite: 'strict', maxAge: 86400000}",
    "chrome-extension://" + _of("abcdefghijklmnop", 32) + "/popup.html",
    "Authorization: required for this endpoint",
    "INFO key rotation finished: 12 keys, 0 errors",
    "access_token_url = 'https://id.example.com/oauth/token'",
]

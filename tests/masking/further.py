"""A second set of labelled texts, made after the patterns had been fitted to the first one.

The patterns of that time found 78 of the 96 credentials and masked 9 of the 152 texts without one; then they were
extended.
"""

from __future__ import annotations

import uuid

from tests.masking.labelled import ALNUM, DIGITS, LOWER, RANDOM, UPPER, URLSAFE, drawn, hexadecimal


def further_credentials() -> list[tuple[str, str, str]]:
    """Kind, text and the credential in it."""
    cases = []
    for _ in range(3):
        made: list[tuple[str, str, tuple[str, ...]]] = [
            ("address", "gh" + "o_" + drawn(ALNUM, 36), ("git clone https://x-access-token:{}@github.com/a/b.git",)),
            (
                "key",
                "s" + "k-svcacct-" + drawn(URLSAFE, 70) + "4" + drawn(URLSAFE, 20),
                ("OPENAI_API_KEY='{}' run.py",),
            ),
            (
                "key",
                drawn(ALNUM + "+/", 40),
                ("[default]\naws_access_key_id = x\naws_secret_access_key = {}\n",),
            ),
            ("password", drawn(ALNUM, 16) + "!7", ("wifi password: {}", "user: ana, password: {}, host: x")),
            ("key", drawn(ALNUM, 32) + "8", ("Bearer {}", "AccountName=a;AccountKey={}==;EndpointSuffix=example.net")),
            (
                "password",
                drawn(ALNUM, 10) + "2",
                (
                    "amqps://svc:{}@mq.internal/vhost",
                    "MYSQL_ROOT_PASSWORD: {}",
                    "docker login -u ana --password {} reg.example.com",
                    "PGPASSWORD={} psql -h db",
                ),
            ),
            (
                "key",
                drawn(URLSAFE, 36) + "5",
                (
                    "the token you asked for is {}",
                    "webhook secret: {}",
                    "const secret = '{}';",
                    '<add key="ApiKey" value="{}" />',
                    "--api-key {}",
                ),
            ),
            ("key", "dckr" + "_pat_" + drawn(URLSAFE, 26) + "3", ("use {} for the registry",)),
            ("key", hexadecimal(16), ("DATADOG_API_KEY={}", '"apiKey":"{}"', "X-Auth-Token: {}")),
            ("name of one program", hexadecimal(16), ("sonar.login={}",)),
            (
                "password",
                "P" + drawn(LOWER, 6) + "#" + drawn(DIGITS, 3),
                (
                    "Her password was {} until May",
                    "Username: ana\nPassword: {}",
                    "passwd={}",
                    "curl -u ana:{} https://x.example",
                    "contraseña: {}",
                    "mot de passe : {}",
                    "密码：{}",
                    "пароль: {}",
                ),
            ),
            ("no name", "P" + drawn(LOWER, 6) + "#" + drawn(DIGITS, 3), ("login ana / {}",)),
            ("key", drawn(ALNUM, 64), ("cookie: session={}", "JWT_SECRET={}")),
        ]
        cases += [(kind, place.format(key), key) for kind, key, places in made for place in places]
    return cases


def further_harmless() -> list[str]:
    """Texts in which nothing may be masked."""
    texts = []
    crockford, nix = "0123456789ABCDEFGHJKMNPQRSTVWXYZ", "0123456789abcdfghijklmnpqrsvwxyz"
    for number in range(4):
        texts += [
            f'File "/home/a/.cache/pypoetry/virtualenvs/demo-{drawn(URLSAFE, 8)}-py3.11/lib/x.py", line {number}',
            f"Docker image registry.example.com/team/app@sha256:{hexadecimal(32)}",
            f'ETag: W/"{hexadecimal(16)}"',
            f"container {hexadecimal(32)} exited",
            f"Bitcoin tx {hexadecimal(32)}",
            f'ObjectId("{hexadecimal(12)}")',
            f"https://drive.google.com/file/d/{drawn(URLSAFE, 33)}/view?usp=sharing",
            f"https://hooks.example.com/a?id={uuid.UUID(bytes=RANDOM.randbytes(16))}",
            f"trace-id: 00-{hexadecimal(16)}-{hexadecimal(8)}-01",
            f'"resolved": "https://registry.example.org/x/-/x-1.0.0.tgz#{hexadecimal(20)}"',
            f"chunk-vendors.{hexadecimal(4)}.js 1,234 kB",
            f"ULID 01{drawn(crockford, 24)}",
            f"GUID {{{str(uuid.UUID(bytes=RANDOM.randbytes(16))).upper()}}}",
            f"VIN WVWZZZ{drawn(UPPER + DIGITS, 11)}",
            f"Invoice INV-{drawn(DIGITS, 12)}-{drawn(DIGITS, 9)}",
            f"DOI 10.1000/{drawn(DIGITS, 8)}.2026.{drawn(DIGITS, 7)}",
            f"/nix/store/{drawn(nix, 32)}-python3-3.11.9",
            f"go: downloading google.golang.org/genproto v0.0.0-20240401170217-{hexadecimal(6)}",
            f"Content-Type: multipart/form-data; boundary=----WebKitFormBoundary{drawn(ALNUM, 16)}",
        ]
    return texts + _FURTHER_BY_HAND


_FURTHER_BY_HAND = r"""
Please enter your password to continue.
Password must contain 8 characters and 1 digit.
Password strength: strong
Forgot password? Click here.
password reset link sent to ana@example.com
The password field is 255 characters long
passwords: 12 found
your PIN is required
Enter password:
New password:
password for ana:
sudo: 3 incorrect password attempts
Error: password authentication failed for user "ana"
FATAL: password authentication failed for user "app2"
token: {token}
tokens used: 12345, cost: $0.12
Unexpected token '<', "<!DOCTYPE" is not valid JSON
Unexpected token: identifier2
SyntaxError: Unexpected token } in JSON at position 123
The access token was refreshed.
token = re.match(r"\\w+", line)
token = line.split()[0]
for token in tokens: print(token)
const token = await getToken();
let apiKey = process.env.API_KEY;
apiKey: process.env.REACT_APP_KEY_2
secret_key = settings.SECRET_KEY
SECRET_KEY = config("SECRET_KEY")
password: ENC(…)
password_hash TEXT NOT NULL
password varchar(255) not null
token: string | null;
interface Props { token: string; apiKey?: string }
key: value
api key: see the wiki
"The secret is to start early," she said.
The secret to success is 10,000 hours.
My secret is that I love 80s music.
secret santa is on 2026-12-24
public key: ssh-rsa
The key is in drawer 14.
access key: Alt+Shift+2
shared access token expired at 2026-05-01T10:00:00Z
basic authorization is needed
Authorization: none
Bearer of 3 gifts
bearer token authentication2
password-protected zip file no. 2
password is 5 words long
The token is 128 bits long.
The password is at least 12 characters.
My password is longer than yours
password is stored as bcrypt2
secret: projects/1234/secrets/db-2/versions/3
token_url: https://example.com/oauth2/token
max_new_tokens=512, eos_token_id=50256
pad_token_id: 50256
token: 12
api_key: null
apikey=demo
password=test
InternalFrameInternalFrameTitlePaneInternalFrameTitlePaneMaximizeButtonWindowNotFocusedState2
libgtk-3-0t64:amd64 3.24.41-4ubuntu1.2
com.example.myapp.features.authentication.presentation.LoginViewModelTest3
test_a_user_with_very_many_memories_loads_the_foremost_2
MAX_CONCURRENT_REQUESTS_PER_USER_V2=100
feature/JIRA-1234-add-oauth2-login-for-mobile-app
20260501T100000Z-0001-ana-report-final-v2.pdf
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1
+-----------------------+----------------------+
|2026-05-01|2026-05-02|2026-05-03|2026-05-04|
lorem1ipsum2dolor3sit4amet5consectetur6adipiscing
""".strip().splitlines()

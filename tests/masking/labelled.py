"""Texts with credentials and texts that only look as if they had some, for precision and recall.

Every key is invented and put together when the module is imported, from a fixed seed: a scanner of repositories finds
none in this file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable

RANDOM = random.Random(20260501)

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
URLSAFE = ALNUM + "-_"


def drawn(characters: str, length: int) -> str:
    """Characters drawn at random, of which one is a digit if there are digits among them."""
    text = "".join(RANDOM.choices(characters, k=length))
    if "0" in characters and not any(c.isdigit() for c in text):
        text = text[: length // 2] + "7" + text[length // 2 + 1 :]
    return text


def _base64(size: int) -> str:
    return base64.b64encode(RANDOM.randbytes(size)).decode()


def hexadecimal(size: int) -> str:
    return RANDOM.randbytes(size).hex()


def _pem(kind: str, lines: int = 6) -> str:
    body = "\n".join(_base64(48) for _ in range(lines)) + "\n" + _base64(20)
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def _jwt() -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": hexadecimal(5), "iat": RANDOM.randrange(10**9)})
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, drawn(URLSAFE, 43)])


KEYS: dict[str, Callable[[], str]] = {
    "AWS access key": lambda: "AK" + "IA" + drawn(UPPER + DIGITS, 16),
    "AWS session key": lambda: "AS" + "IA" + drawn(UPPER + DIGITS, 16),
    "GitHub token": lambda: "gh" + "p_" + drawn(ALNUM, 36),
    "GitHub fine-grained": lambda: "github" + "_pat_" + drawn(ALNUM, 22) + "_" + drawn(ALNUM, 59),
    "GitLab token": lambda: "gl" + "pat-" + drawn(URLSAFE, 20),
    "OpenAI key": lambda: "s" + "k-" + drawn(ALNUM, 48),
    "OpenAI project key": lambda: "s" + "k-proj-" + drawn(URLSAFE, 64),
    "Anthropic key": lambda: "s" + "k-ant-api03-" + drawn(URLSAFE, 80),
    "Stripe key": lambda: "s" + "k_live_" + drawn(ALNUM, 24),
    "Stripe restricted": lambda: "r" + "k_test_" + drawn(ALNUM, 32),
    "Slack token": lambda: "xox" + "b-" + drawn(DIGITS, 12) + "-" + drawn(DIGITS, 12) + "-" + drawn(ALNUM, 24),
    "Slack webhook": lambda: (
        "https://hooks." + f"slack.com/services/T{drawn(UPPER, 8)}/B{drawn(UPPER, 8)}/{drawn(ALNUM, 24)}"
    ),
    "Google API key": lambda: "AI" + "za" + drawn(URLSAFE, 35),
    "Google client secret": lambda: "GOC" + "SPX-" + drawn(URLSAFE, 28),
    "Google token": lambda: "ya" + "29." + drawn(URLSAFE, 60),
    "JSON web token": _jwt,
    "SendGrid key": lambda: "S" + "G." + drawn(URLSAFE, 22) + "." + drawn(URLSAFE, 43),
    "npm token": lambda: "np" + "m_" + drawn(ALNUM, 36),
    "PyPI token": lambda: "py" + "pi-AgEIcHlwaS5vcmc" + drawn(URLSAFE, 70),
    "Hugging Face token": lambda: "h" + "f_" + drawn(ALNUM, 34),
    "Telegram token": lambda: drawn("123456789", 9) + ":A" + "A" + drawn(URLSAFE, 33),
    "Twilio key": lambda: "S" + "K" + hexadecimal(16),
    "random token": lambda: drawn(ALNUM, 40),
    "random base64": lambda: _base64(32),
    "random url-safe token": lambda: drawn(URLSAFE, 43),
}
"""Credentials that are recognised wherever they stand."""

PLACES = (
    "{}",
    "Here is the key: {} - please keep it safe.",
    "Bitte benutze {} für den Server.",
    "export SERVICE_ACCESS={}",
    'curl -H "X-Custom: {}" https://api.example.com/v1/items',
    '{{"name": "prod", "value": "{}"}}',
    "我的密钥是 {} ，不要告诉别人",
)

PASSWORDS = (
    "hunter2!",
    "Tr0ub4dor&3",
    "S3cure_Pass",
    "xK9#mQ2$vL",
    "letmein99",
    "P@ssw0rd2024",
    "qwErty12",
    "korrekt.7pferd",
)

ASSIGNED = (
    "DB_PASSWORD={}",
    'password = "{}"',
    "PASSWORD: {}",
    '{{"user": "ana", "password": "{}"}}',
    "my password is {}",
    "The password is {}, the user is root.",
    "Das Passwort ist {}",
    "mysql --user=root --password={} shop",
    "Server=db;Database=shop;User Id=sa;Password={};",
    "host=db user=app password={} dbname=shop",
    "Set the admin password to {}.",
    "spring.datasource.password={}",
)

_WORDS_ASSIGNED = (
    "DB_PASSWORD=swordfish",
    "password: 'correct horse battery staple'",
    'passphrase = "open sesame tonight"',
    "Password: swordfish",
    "password=swordfish host=db",
)


def credentials() -> list[tuple[str, str, str]]:
    """Kind, text and the credential in it."""
    cases = []
    for number, (kind, make) in enumerate(KEYS.items()):
        for place in (
            PLACES[number % len(PLACES)],
            PLACES[(number + 3) % len(PLACES)],
            PLACES[(number + 5) % len(PLACES)],
        ):
            key = make()
            cases.append((kind, place.format(key), key))
    for number, place in enumerate(ASSIGNED):
        pair = (PASSWORDS[number % 8], PASSWORDS[(number + 3) % 8])
        cases += [("password", place.format(password), password) for password in pair]
    for text in _WORDS_ASSIGNED:
        word = next(w for w in ("swordfish", "correct horse battery staple", "open sesame tonight") if w in text)
        cases.append(("password of words", text, word))
    for scheme in ("postgresql", "mysql", "mongodb+srv", "redis", "amqp", "https"):
        secret = drawn(ALNUM, 12)
        cases.append(
            ("address with a password", f"Connect to {scheme}://app:{secret}@db.example.com:5432/shop now", secret)
        )
    for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
        key = _pem(kind)
        cases.append(("private key", f"My key:\n{key}\nThanks", key.split("\n")[2]))
        cases.append(("private key in JSON", json.dumps({"key": key}), key.split("\n")[2]))
    cut = _pem("RSA PRIVATE KEY")[:200]
    cases.append(("private key that is cut off", cut, cut.split("\n")[2]))
    for name, key in (
        ("api_key", hexadecimal(16)),
        ("API-Key", str(uuid.UUID(bytes=RANDOM.randbytes(16)))),
        ("x-api-key", hexadecimal(20)),
        ("access_token", drawn(ALNUM, 18)),
        ("auth_token", drawn(LOWER + DIGITS, 20)),
        ("aws_secret_access_key", drawn(ALNUM + "/+", 40)),
        ("client_secret", drawn(URLSAFE, 20)),
        ("secret_key", hexadecimal(32)),
        ("AccountKey", _base64(64)),
        ("SIGNING_SECRET", hexadecimal(16)),
        ("refresh_token", drawn(URLSAFE, 24)),
        ("BOT_TOKEN", drawn(ALNUM, 20)),
    ):
        cases.append(("assigned key", f"{name}={key}", key))
        cases.append(("assigned key", f'  "{name}": "{key}",', key))
        cases.append(("assigned key", f"{name}: {key}", key))
    for scheme, key in (
        ("Bearer", drawn(URLSAFE, 32)),
        ("Basic", base64.b64encode(b"ana:hunter2!").decode()),
        ("token", hexadecimal(20)),
    ):
        cases.append(("header", f"Authorization: {scheme} {key}", key))
        cases.append(("header", f"-H 'Authorization: {scheme} {key}' \\", key))
    cases.append(("query", f"https://example.com/cb?code=1&access_token={(q := drawn(ALNUM, 30))}&state=5", q))
    return cases


def _harmless_of_machines() -> list[str]:
    texts = []
    for _ in range(8):
        identifier = uuid.UUID(bytes=RANDOM.randbytes(16), version=4)
        texts += [
            f"The order {identifier} was shipped.",
            f"commit {hexadecimal(20)} fixes the build",
            f"sha256:{hashlib.sha256(RANDOM.randbytes(9)).hexdigest()}",
            f"md5 {hexadecimal(16)}  release.tar.gz",
            f"https://docs.example.com/document/d/{drawn(URLSAFE, 44)}/edit#gid=0",
            f"https://www.youtube.com/watch?v={drawn(URLSAFE, 11)}&list=PL{drawn(URLSAFE, 32)}",
            f"s3://bucket/2026/05/{hexadecimal(16)}/part-{drawn(DIGITS, 5)}.parquet",
            f"data:image/png;base64,{_base64(900)}",
            f"![chart](data:image/jpeg;base64,{_base64(60)})",
            "\n".join(_base64(57) for _ in range(6)) + "\n" + _base64(31),
            f'"integrity": "sha512-{_base64(64)}"',
            f"github.com/lib/pq v1.10.9 h1:{_base64(32)}",
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_base64(32)[:43]} ana@laptop",
            f"256 SHA256:{_base64(32).rstrip('=')} ana@laptop (ED25519)",
            f"Order no. {drawn(DIGITS, 16)}, tracking 1Z{drawn(UPPER + DIGITS, 16)}",
            f"pod/web-{hexadecimal(5)}-{drawn(LOWER, 5)} 1/1 Running 0 {drawn('123456789', 2)}d",
            f"Message-ID: <{drawn(ALNUM, 28)}@mail.example.com>",
        ]
    return texts


_HARMLESS_BY_HAND = """
I forgot my password again, can you reset it?
Your password must have at least 12 characters.
The password is required.
The password is case-sensitive.
The password is incorrect, please try again.
The password was changed on 2026-05-01 by the administrator.
Password: ********
password: required
password: <your password>
password = os.environ["DB_PASSWORD"]
password=${DB_PASSWORD}
password = getpass.getpass()
password: str
def connect(host, user, password=None): ...
connect(user=user, password=password)
self.password = password
if password == confirm_password:
api_key = os.getenv("API_KEY")
api_key: string
"apiKey": "YOUR_API_KEY"
api_key={{ secrets.API_KEY }}
token = tokenizer.eos_token
token: a unit of text that a model reads
max_tokens: 4096
The token is valid until tomorrow.
token count: 6845
token_type=bearer
Tokens are counted as bytes divided by four.
The secret of a good soup is time.
The secret is patience and good stock.
secret: true
SECRET_NAME=projects/demo/secrets/db
kubectl get secret db-credentials -o yaml
Bearer of good news arrived yesterday.
He is a key figure in the negotiations.
primary key: user_id
foreign key (user_id) references users
The access key is under the door mat.
ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519
private_key: /etc/ssl/private/server.pem
password_file: /run/secrets/db_password
Call getUserAccountBalanceForQuarter3Report2024 first.
AbstractSingletonProxyFactoryBean2Test failed
TestHTTP2ServerPushPromiseHandling
org.springframework.boot.autoconfigure.SpringBootApplication2
/usr/lib/python3.11/site-packages/sklearn/utils/_estimator_html_repr.py
C:\\Users\\ana\\AppData\\Local\\Programs\\Python\\Python311\\python.exe
.sk-toggleable__label-arrow { float: left; margin-right: 0.25em; }
sk-estimator-doc-link-container is a class of style sheets
npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.
Collecting numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
Successfully installed anyio-4.3.0 certifi-2024.2.2 h11-0.14.0 httpcore-1.0.5
2026-05-01T10:00:00.123456Z INFO request_id=req-42 path=/api/v1/users/12345/orders?limit=50&offset=100
192.168.100.200 - - [01/May/2026:10:00:00 +0000] "GET /index.html HTTP/1.1" 200 5316
Donaudampfschifffahrtsgesellschaftskapitän
Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz
pneumonoultramicroscopicsilicovolcanoconiosis
IBAN DE89 3704 0044 0532 0130 00
ISBN 978-3-16-148410-0
+49 (0)30 1234567, +1-555-0100
The flight is LH1234 on 2026-05-01, seat 14C, booking ABC123.
My address is 221B Baker Street, London NW1 6XE.
The meeting is at https://example.zoom.us/j/1234567890
Look at https://github.com/example/project/blob/main/src/very/long/path/to/a/Module2Handler.ts#L10-L20
https://example.com/search?q=how+to+reset+password&lang=en
mailto:ana.example@example.com
http://localhost:8080/path:with:colons
postgresql://localhost:5432/shop
postgresql://app@db.example.com/shop
redis://cache:6379/0
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
==================================================================
------------------------------------------------------------------
0123456789012345678901234567890123456789012345678901234567890123456789
abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ
select count(*) from memory.messages where user_id = 'ana' and thread_id = 't1'
{"temperature": 0.7, "max_tokens": 256, "model": "gpt-4o-mini-2024-07-18"}
arn:aws:iam::123456789012:role/service-role/MyLambdaExecutionRole-ab12cd34
The new release is v2026.05.01-rc.1+build.20260501.abcdef0
Das Passwort ist abgelaufen.
Das Passwort wurde gestern geändert.
El token es válido hasta mañana.
-----BEGIN CERTIFICATE-----
The file begins with -----BEGIN PRIVATE KEY----- and so on.
She paid 12,345.67 EUR; the invoice is RE-2026-000123456789.
""".strip().splitlines()


def harmless() -> list[str]:
    """Texts in which nothing may be masked."""
    return _harmless_of_machines() + _HARMLESS_BY_HAND

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
from pathlib import Path

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
    RANDOM.seed(20260501)  # the same ones, whatever tests have drawn before
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
    for place in 3 * (
        "MYSQL_ROOT_PASSWORD: {}", "docker login -u ana --password {} reg.example.com", "PGPASSWORD={} psql -h db",
        "Her password was {} until May", "Username: ana\nPassword: {}", "curl -u ana:{} https://x.example",
        "contraseña: {}", "mot de passe : {}", "密码：{}", "пароль: {}",
    ):  # fmt: skip
        key = "P" + drawn(LOWER, 6) + "#" + drawn(DIGITS, 3)
        cases.append(("password", place.format(key), key))
    for place in 3 * (
        "Bearer {}", "the token you asked for is {}", "webhook secret: {}", "const secret = '{}';", "--api-key {}",
        '<add key="ApiKey" value="{}" />', "DATADOG_API_KEY={}", "X-Auth-Token: {}", "cookie: session={}",
        "AccountName=a;AccountKey={}==;EndpointSuffix=example.net",
    ):  # fmt: skip
        key = drawn(ALNUM, 36) + "5"
        cases.append(("key", place.format(key), key))
    cases += [("no name", "login ana / Pxqwerv#123", "Pxqwerv#123"), ("name of one program", f"sonar.login={key}", key)]
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
            f'File "/home/a/.cache/pypoetry/virtualenvs/demo-{drawn(URLSAFE, 8)}-py3.11/lib/x.py", line 1',
            f"https://drive.google.com/file/d/{drawn(URLSAFE, 33)}/view?usp=sharing",
            f"trace-id: 00-{hexadecimal(16)}-{hexadecimal(8)}-01",
            f"VIN WVWZZZ{drawn(UPPER + DIGITS, 11)}",
            f"DOI 10.1000/{drawn(DIGITS, 8)}.2026.{drawn(DIGITS, 7)}",
            f"go: downloading google.golang.org/genproto v0.0.0-20240401170217-{hexadecimal(6)}",
        ]
    return texts


def harmless() -> list[str]:
    """Texts in which nothing may be masked."""
    by_hand = Path(__file__).with_name("harmless.txt").read_text(encoding="utf-8").splitlines()
    return _harmless_of_machines() + by_hand

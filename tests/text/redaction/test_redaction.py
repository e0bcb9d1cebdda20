"""What redaction cuts, what it keeps, and how well it does both on public samples."""

from __future__ import annotations

import base64
import random
import string
from typing import Any

import pytest

from bench import redaction as bench
from clew.text.redaction import Found, Policy, redact, redact_json
from tests.testing.data import shared

pytestmark = pytest.mark.requirement("CAPTURE-3")

_CHANCE = random.Random(4)


def _made_of(characters: str, size: int) -> str:
    return "".join(_CHANCE.choices(characters, k=size))


def _noise(size: int) -> str:
    return "k7" + _made_of(string.ascii_letters + string.digits, size - 2)


def _hex(size: int) -> str:
    return "e1" + _made_of("0123456789abcdef", size - 2)


CAPITALS = string.ascii_uppercase + "234567"
ISSUED = [
    ("aws-key", "AKIA" + _made_of(CAPITALS, 16)),
    ("gcp-key", "AIza" + _noise(35)),
    ("gcp-key", "ya29." + _noise(60)),
    ("azure-key", _noise(3) + "8Q~" + _noise(34)),
    ("github-token", "ghp_" + _noise(36)),
    ("github-token", "github_pat_" + _noise(22) + "_" + _noise(59)),
    ("gitlab-token", "glpat-" + _noise(20)),
    ("gitlab-token", "glrt-" + _noise(20)),
    ("atlassian-token", "ATATT3" + _noise(180)),
    ("npm-token", "npm_" + _noise(36)),
    ("pypi-token", "pypi-" + _noise(120)),
    ("rubygems-key", "rubygems_" + _hex(48)),
    ("docker-token", "dckr_pat_" + _noise(27)),
    ("slack-token", "xoxb-" + "4821736509-7719283746-" + _noise(24)),
    ("slack-token", "xapp-1-A01B2C3D4E5-1234567890-" + _hex(64)),
    ("stripe-key", "sk_live_" + _noise(24)),
    ("twilio-key", "SK" + _hex(32)),
    ("sendgrid-key", "SG." + _noise(22) + "." + _noise(43)),
    ("mailchimp-key", _hex(32) + "-us12"),
    ("mailgun-key", "key-" + _hex(32)),
    ("shopify-token", "shpat_" + _hex(32)),
    ("square-token", "sq0atp-" + _noise(22)),
    ("telegram-token", "741852963:A" + _noise(34)),
    ("facebook-token", "481726395018273|" + _noise(27)),
    ("databricks-token", "dapi" + _hex(32)),
    ("digitalocean-token", "dop_v1_" + _hex(64)),
    ("doppler-token", "dp.pt." + _noise(43)),
    ("dropbox-token", "sl." + _noise(135)),
    ("fly-token", "fo1_" + _noise(43)),
    ("grafana-token", "glsa_" + _noise(32) + "_" + _hex(8)),
    ("vault-token", "hvs." + _noise(90)),
    ("terraform-token", _noise(14) + ".atlasv1." + _noise(60)),
    ("heroku-key", "HRKU-" + _noise(60)),
    ("huggingface-token", "hf_" + _noise(34)),
    ("linear-token", "lin_api_" + _noise(40)),
    ("newrelic-key", "NRAK-" + _made_of(CAPITALS, 27)),
    ("notion-token", "ntn_" + _noise(46)),
    ("openai-key", "sk-proj-" + _noise(60)),
    ("anthropic-key", "sk-ant-api03-" + _noise(93)),
    ("perplexity-key", "pplx-" + _noise(48)),
    ("planetscale-token", "pscale_tkn_" + _noise(43)),
    ("postman-key", "PMAK-" + _hex(24) + "-" + _hex(34)),
    ("pulumi-token", "pul-" + _hex(40)),
    ("sentry-token", "sntryu_" + _hex(64)),
    ("sonar-token", "squ_" + _noise(40)),
    ("typeform-token", "tfp_" + _noise(59)),
    ("yandex-token", "AQVN" + _noise(36)),
    ("age-key", "AGE-SECRET-KEY-1" + _made_of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    ("onepassword-key", "A3-" + "-".join(_made_of(CAPITALS, size) for size in (6, 6, 5, 5, 5, 5))),
    ("cloudflare-key", "v1.0-" + _hex(24) + "-" + _hex(146)),
    ("airtable-token", "pat" + _noise(14) + "." + _hex(64)),
    ("openshift-token", "sha256~" + _noise(43)),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ." + _noise(43)),
]


@pytest.mark.parametrize(("kind", "secret"), ISSUED, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(ISSUED)])
def test_a_secret_with_a_known_form_is_cut_wherever_it_is(kind: str, secret: str) -> None:
    for before, after in [
        ("", ""),
        ("see ", " there"),
        ('{"a": "', '"}'),
        ("line\\n", "\\nnext"),
        ("?q=", "&r=1"),
        ("(", ")"),
    ]:
        redacted = redact(f"{before}{secret}{after}")
        assert redacted.text == f"{before}[redacted:{kind}]{after}"
        assert redacted.found == (Found(kind, len(before), len(before) + len(secret)),)


VALUE = "q8Zr2LmX0vTy7KpW"
NAMED = [
    f'api_key = "{VALUE}"',
    f"API_TOKEN={VALUE}",
    f"export ACME_SECRET='{VALUE}'",
    f'{{"client_secret": "{VALUE}"}}',
    f'{{\\"accessToken\\": \\"{VALUE}\\"}}',
    f"auth_token: {VALUE}",
    f"<apiToken>\n  {VALUE}\n</apiToken>",
    f'<add key="ClearTextPassword" value="{VALUE}" />',
    f'System.setProperty("ACME_TOKEN", "{VALUE}")',
    f"ACME_TOKEN ?= {VALUE}",
    f'token := "{VALUE}"',
    f'const apiKey: string = "{VALUE}";',
    f"acme login --token {VALUE}",
    f"- name: ACME_TOKEN\n  value: {VALUE}",
    f"https://example.org/x?access_token={VALUE}&page=2",
    f"X-Api-Key: {VALUE}",
    f"Authorization: Bearer {VALUE}",
    f"Authorization: token {VALUE}",
    f"machine example.org login ann password {VALUE}",
    f"Server=db;User Id=sa;Password={VALUE};",
    f"discord: {VALUE}",
    f"postgres://ann:{VALUE}@db.example.org/app",
    f"curl -u ann:{VALUE} https://example.org",
    f"BUNDLE_GEMS__EXAMPLE__ORG=ann:{VALUE}",
    f"Cookie: session={VALUE}",
    f"Set-Cookie: sid={VALUE}; Path=/; HttpOnly",
    f"https://store.example.org/file?sv=1&sig={VALUE}{VALUE}%3D",
    f"kind: Secret\nmetadata:\n  name: x\ndata:\n  anything: {VALUE}\n",
    "password: hunter2!",
    f"the password is {VALUE}",
    f'"DB_PASS": "{VALUE}"',
]


@pytest.mark.parametrize("text", NAMED)
def test_a_secret_is_known_by_its_name_or_the_form_around_it_and_only_it_is_cut(text: str) -> None:
    redacted = redact(text)
    (found,) = redacted.found
    secret = text[found.start : found.end]
    assert secret.removesuffix("%3D").replace(VALUE, "") in {"", "hunter2!"}
    assert redacted.text == text.replace(secret, f"[redacted:{found.kind}]")


def test_the_kind_names_the_form_that_was_recognised() -> None:
    assert [item.kind for item in redact(f"password={VALUE}, {ISSUED[4][1]}").found] == ["password", "github-token"]
    assert redact(f"token = {ISSUED[4][1]}").text == "token = [redacted:github-token]"
    assert redact(f"redis://:{VALUE}@cache").text == "redis://:[redacted:connection-string]@cache"
    assert redact("Basic " + base64.b64encode(b"ann:pw").decode()).text == "Basic [redacted:basic-login]"


def test_a_private_key_is_cut_whole_even_when_truncated() -> None:
    body = "\n".join(_noise(64) for _ in range(4))
    whole = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    assert redact(f"a\n{whole}\nb").text == "a\n[redacted:private-key]\nb"
    assert redact(whole.replace("\n", "\\n")).text == "[redacted:private-key]"
    assert redact(whole[:200]).text == "[redacted:private-key]"
    assert not redact("starts with -----BEGIN PRIVATE KEY----- and then the key").found


ORDINARY = [
    "",
    "api_key = YOUR_API_KEY",
    "API_KEY=${API_KEY}",
    "token: <token>",
    "TOKEN=xxxxxxxxxxxxxxxxxxxx",
    "const key = process.env.API_KEY;",
    'password = os.environ["PASSWORD"]',
    "password=get_password(user)",
    "secret: str",
    "The password is required, and my token is here.",
    "The password: please choose one that you remember.",
    "Ben's own secret: the wine cellar is never locked.",
    "Das Passwort: müssen wir noch ändern.",
    "Ana's password: señorita was only the hint.",
    "password: 请在这里输入，然后点确定。",
    "123e4567-e89b-12d3-a456-426614174000",
    "commit e83c5163316f89bfbde7d9ab23ca2e25604af290",
    "src/clew/domain/redaction.py and https://example.org/a/b?c=d#e",
    "postgres://user:${PASSWORD}@host/db",
    "curl -u user:password https://example.org",
    "Use bearer tokens for OAuth flows; keep token storage in vault.",
    "Set aws_secret_access_key from environment variables.",
    "max_tokens=200000000000000000, token_type=bearer, primary_key: user_id_2",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "basic information, cookie: yes, session",
    "model: claude-sonnet-4-20250514, key: value1",
    "我的密码是什么？\x00\ud800",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_and_placeholders_stay(text: str) -> None:
    assert redact(text) == redact(text, Policy.OFF)
    assert redact(text).text == text


PERSONAL = [
    ("email", "ann.lee@example.org"),
    ("phone", "+44 20 7946 0958"),
    ("phone", "555-867-5309"),
    ("credit-card", "4111 1111 1111 1111"),
    ("iban", "GB29 NWBK 6016 1331 9268 19"),
    ("ssn", "536-22-1234"),
    ("ip-address", "93.184.216.34"),
    ("ip-address", "2606:2800:220:1:248:1893:25c8:1946"),
    ("street-address", "12 Old Mill Road"),
    ("street-address", "Hauptstraße 7"),
]


@pytest.mark.parametrize(("kind", "written"), PERSONAL)
def test_personal_data_is_cut_only_where_the_policy_says_so(kind: str, written: str) -> None:
    text = f"reach me: {written} thanks"
    assert redact(text, Policy.PII).text == f"reach me: [redacted:{kind}] thanks"
    assert redact(text).text == text


def test_numbers_that_fail_their_check_are_not_personal() -> None:
    text = "card 4111 1111 1111 1112 0, account GB00NWBK60161331926819, version 1.2.3.4444, at 127.0.0.1 on 2024-05-06"
    assert redact(text, Policy.PII).text == text


def test_secrets_are_cut_under_the_personal_policy_too() -> None:
    assert redact(f"token={VALUE}", Policy.PII).found == redact(f"token={VALUE}").found


def test_json_is_redacted_in_values_and_keys_and_by_the_name_of_the_key() -> None:
    token = ISSUED[4][1]
    value = {
        "password": "correct horse",
        "Authorization": "Token abc",
        "note": [f"use {token}", 7, None],
        token: True,
        "deeper": {"apiKey": "short", "cookie": "a=b"},
    }
    redacted, kinds = redact_json(value)
    assert redacted == {
        "password": "[redacted:password]",
        "Authorization": "[redacted:authorization]",
        "note": ["use [redacted:github-token]", 7, None],
        "[redacted:github-token]": True,
        "deeper": {"apiKey": "[redacted:generic-secret]", "cookie": "[redacted:cookie]"},
    }
    assert set(kinds) == {"password", "authorization", "github-token", "generic-secret", "cookie"}
    assert redact_json(redacted) == (redacted, ())


@pytest.mark.parametrize(
    "value", [{"password": "${PASSWORD}", "max_tokens": "5", "a": [1, {"b": "c"}]}, [], "text", 5, None]
)
def test_json_without_secrets_is_the_same_object(value: Any) -> None:
    redacted, kinds = redact_json(value)
    assert redacted is value
    assert kinds == ()


def test_keys_that_become_equal_stay_apart() -> None:
    redacted, _ = redact_json({ISSUED[4][1]: 1, "ghp_" + _noise(36): 2})
    assert redacted == {"[redacted:github-token]": 1, "[redacted:github-token] (2)": 2}


def test_json_may_be_nested_deeper_than_the_stack() -> None:
    value: Any = f"token={VALUE}"
    for _ in range(50_000):
        value = [value]
    redacted, kinds = redact_json(value)
    for _ in range(50_000):
        (redacted,) = redacted
    assert redacted == "token=[redacted:generic-secret]"
    assert kinds == ("generic-secret",)


def test_nothing_is_cut_when_redaction_is_off() -> None:
    value = {"password": VALUE}
    assert redact(f"password={VALUE}", Policy.OFF).text == f"password={VALUE}"
    assert redact_json(value, Policy.OFF) == (value, ())


def test_recall_and_false_positives_hold_on_public_samples() -> None:
    figures = bench.measure_quality(shared("secrets").parent)
    for group in ("all", "written with", "held back"):
        assert figures["recall"][group]["by_sample"] >= 0.95
        assert figures["recall"][group]["by_class"] >= 0.95
    assert figures["false_positives"]["conversation turns"] <= 0.001
    assert figures["false_positives"]["lines of instruction files"] <= 0.005
    assert figures["false_positives"]["look-alikes"] <= 0.25
    for kind in ("email", "phone", "credit-card", "iban"):
        assert figures["personal"][kind]["recall"] >= 0.85
        assert figures["personal"][kind]["precision"] >= 0.95


@pytest.mark.requirement("CAPTURE-3")
@pytest.mark.parametrize(
    "name",
    [
        "DB_PASSWORD=",
        "export MYSQL_ROOT_PASSWORD=",
        "db_password: ",
        "dbPassword=",
        "APP_PASSWD=",
        "KEY_PASSPHRASE=",
        "SMTP_PASS=",
    ],
)
@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_password_is_known_by_the_end_of_its_name(name: str, quote: str) -> None:
    clean = redact(f"{name}{quote}Kx9blueHarbor42{quote}\n")
    assert clean.text == f"{name}{quote}[redacted:password]{quote}\n"

"""Secrets behind markup, in fields of their own, in other languages, encoded, or without any name."""

from __future__ import annotations

import base64

import pytest

from clew.text.redaction import redact

pytestmark = pytest.mark.requirement("CAPTURE-3")

WORD = "hunter2!x"
VALUE = "q8Zr2LmX0vTy7KpW"
GITHUB = "ghp_k7Zr2LmX0vTy7KpWq8Zr2LmX0vTy7KpWq8Zr"
DISCORD = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"
HEADER = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
CLAIMS = "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "**Password:** {}",
        "**Password**: {}",
        "*password*: {}",
        "Password: **{}**",
        "- `password`: {}",
        "| password | {} |",
        "| **Password** | `{}` |",
        "| user | password |\n| --- | --- |\n| ann | {} |",
        "user | password\n--- | ---\nann | {}",
        "<td>password</td><td>{}</td>",
        "<b>Password:</b> {}",
        "pw: {}",
        "user: ann, pass: {}",
        "password＝{}",
        "password：{}",
    ],
)
def test_markup_between_a_name_and_its_value_hides_nothing(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        '{"name":"DB_PASSWORD","value":"%s"}',
        '{"value":"%s","name":"DB_PASSWORD"}',
        '{"key": "API_TOKEN", "type": "secret", "value": "%s"}',
        '{\\"name\\":\\"DB_PASSWORD\\",\\"value\\":\\"%s\\"}',
        "- value: %s\n  name: DB_PASSWORD",
        "<name>DB_PASSWORD</name><value>%s</value>",
    ],
)
def test_a_name_and_its_value_may_be_in_fields_of_their_own(text: str) -> None:
    clean = redact(text % VALUE)
    assert clean.text == text % f"[redacted:{clean.found[0].kind}]"


@pytest.mark.parametrize(
    "text",
    [
        "密码：{}",
        "密码是{}。谢谢",
        "密碼: {}",
        "パスワード：{}",
        "비밀번호는 {} 입니다",
        "la contraseña es {}",
        "CONTRASEÑA: {}",
        "Mot de passe : {}",
        "Пароль: {}",
        "пароль — {}",
        "Das Passwort lautet {}",
        "Kennwort: {}",
        "senha: {}",
        "hasło: {}",
        "wachtwoord: {}",
        "parola: {}",
        "şifre: {}",
        "ŞİFRE: {}",
        "lösenord: {}",
        "heslo: {}",
        "mật khẩu: {}",
        "סיסמה: {}",
        "पासवर्ड: {}",
    ],
)
def test_a_password_is_known_by_its_name_in_other_languages(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize("text", ["API密钥：{}", "APIキー: {}", "clave: {}", "Schlüssel: {}", "токен: {}"])
def test_a_key_is_known_by_its_name_in_other_languages(text: str) -> None:
    assert redact(text.format(VALUE)).text == text.format("[redacted:generic-secret]")


@pytest.mark.parametrize("scheme", ["Api-Token", "GenieKey", "Klaviyo-API-Key", "OAuth", "Splunk"])
def test_an_authorization_header_may_name_any_scheme(scheme: str) -> None:
    assert redact(f"Authorization: {scheme} {VALUE}").text == f"Authorization: {scheme} [redacted:authorization]"


@pytest.mark.parametrize(
    "text",
    [
        "%22password%22%3A%22{}%22",
        "password%3D{}",
        "x=1%26password%3D{}%26y=2",
        "password%253D{}",
        "&quot;password&quot;:&quot;{}&quot;",
        "\\u0022password\\u0022:\\u0022{}\\u0022",
        "%E5%AF%86%E7%A0%81%3D{}",
    ],
)
def test_encoded_edges_hide_nothing(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "run",
    [
        _base64(GITHUB),
        _base64(_base64(GITHUB)),
        base64.urlsafe_b64encode(f"??>>{GITHUB}".encode()).decode().rstrip("="),
        base64.b64encode(GITHUB.encode("utf-16-le")).decode(),
        _base64(f'{{"password": "{WORD}"}}'),
        GITHUB.encode().hex(),
    ],
)
def test_a_run_that_decodes_to_a_secret_is_cut_whole(run: str) -> None:
    clean = redact(f"see {run} there")
    assert clean.text == f"see [redacted:{clean.found[0].kind}] there"


@pytest.mark.parametrize(
    ("kind", "token"),
    [
        ("discord-token", DISCORD),
        ("jwt", f"{HEADER}.{CLAIMS}.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"),
        ("jwt", f"{HEADER}.{CLAIMS}"),
        ("generic-secret", f"acme_live_{VALUE}{VALUE}"),
        ("generic-secret", f"acme_{VALUE}{VALUE}"),
    ],
)
def test_a_bare_token_is_known_by_its_structure(kind: str, token: str) -> None:
    for text in ("{}", "use {} for this one", "| staging | {} | ann |", "it was ({}), then it broke."):
        assert redact(text.format(token)).text == text.format(f"[redacted:{kind}]")


def test_a_word_for_a_key_earlier_in_the_line_announces_it() -> None:
    long = VALUE + VALUE
    assert (
        redact(f"use the staging key, {long} for now").text == "use the staging key, [redacted:generic-secret] for now"
    )
    assert not redact(f"the build is {long} for now").found


@pytest.mark.parametrize(
    "text",
    [
        "toolu_01A09q90qw90lq917835lq9k and call_Xb3kd9fGq2LmZr0vTy7KpWaa",
        "| Token | Purpose |\n| --- | --- |\n| `mdLinkUrl` | Link |",
        "| name | password |\n| --- | --- |\n| ann | unknown |",
        "Tests: 12 pass: all of them, 3 failed. PASS: tests/test_a.py::test_b",
        "密码：请输入。パスワードは忘れました。",
        '{"name": "password", "value": "${PASSWORD}"}',
        "https://example.org/a%20b%3Fc%3Dd&amp;e=f",
        _base64("an ordinary sentence that somebody encoded"),
        "the public key fingerprint e83c5163316f89bfbde7d9ab23ca2e25604af290",
        "integrity sha512-oRFlYnAgTdZrCmQ9JxqVZK2hC1Wl0fEJcVb7Yg3uPz5kTn8vM4aXsDqL6iRwHj",
    ],
)
def test_text_that_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text).text == text

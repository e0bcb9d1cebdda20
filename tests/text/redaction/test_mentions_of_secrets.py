"""Names of secrets in text about something else: a document, an action, a flow, a turn. And names of real secrets."""

from __future__ import annotations

from typing import Any

import pytest

from clew.text.redaction import redact, redact_json, secret_in_name
from clew.text.redaction.across import asks_for_secret

pytestmark = pytest.mark.requirement("CAPTURE-3")

WORD = "hunter2!x"
VALUE = "q8Zr2LmX0vTy7KpW"
HASH = "e83c5163316f89bfbde7d9ab23ca2e25"


@pytest.mark.parametrize(
    "document",
    [
        {"title": "How to reset your password", "content": "Open the settings and choose Security."},
        {"name": "reset_password", "data": "def reset(user): return mail(user)"},
        {"name": "reset_password", "value": "reset-by-mail2"},
        {"name": "forgotPassword", "value": "/auth/forgot"},
        {"name": "get_secret", "value": "oneword"},
        {"name": "password_policy", "value": "12-chars"},
        {"name": "Set-Cookie", "value": "see RFC 6265"},
        {"name": "Authorization", "value": f"as of commit {HASH} it is optional"},
        {"name": "DB_PASSWORD", "value": "the password of the base, ask Ann"},
        {"name": "How we store a password", "value": "bcrypt12"},
        {"name": "重置密码", "value": "请打开设置。"},
        {"name": "token", "value": "NOUN"},
        {"name": "credentials", "value": "include"},
        {"key": "login.password", "value": "Passwort"},
        {"title": "password", "content": "hunter2"},
        {"reset_password": "Open the settings and choose Security."},
        {"name": "Ann", "value": "blue sky"},
    ],
)
def test_a_document_whose_name_mentions_a_secret_stays(document: dict[str, Any]) -> None:
    assert redact_json(document) == (document, ())


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("DB_PASSWORD", "bluesky", "password"),
        ("DbPassword", WORD, "password"),
        ("spring.datasource.password", "hunter2", "password"),
        ("/prod/db/password", "x1y2", "password"),
        ("mot de passe", WORD, "password"),
        ("密码", WORD, "password"),
        ("API_KEY", "short", "generic-secret"),
        ("reset_token", VALUE, "generic-secret"),
        ("refresh_token", VALUE, "generic-secret"),
        ("Authorization", f"Api-Token {VALUE}", "authorization"),
        ("Set-Cookie", f"sid={VALUE}; Path=/; Expires=Wed, 21 Oct 2026", "cookie"),
    ],
)
def test_the_value_beside_the_name_of_a_secret_is_cut(name: str, value: str, kind: str) -> None:
    shown = {"value": f"[redacted:{kind}]", "name": name}
    assert redact_json({"value": value, "name": name}) == (shown, (kind,))
    assert redact_json({"value": [value], "name": name}) == ({"value": [f"[redacted:{kind}]"], "name": name}, (kind,))
    assert redact_json(shown) == (shown, ())


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "reset_password", "value": "by-mail2"}',
        '{"title": "password", "content": "bcrypt12"}',
        "password-reset: flow-7",
        "forgot_password = flow-7",
    ],
)
def test_text_about_an_action_on_a_password_stays(text: str) -> None:
    assert redact(text).text == text
    assert redact(f"password_reset: {WORD}").text == "password_reset: [redacted:password]"


@pytest.mark.parametrize(
    "name",
    [
        "password-reset: flow-7",
        "reset-password: flow-7",
        "forgot_password=flow-7",
        "PasswordReset: run-12",
        "password-flow: step-2",
    ],
)
def test_an_id_that_names_something_about_a_password_holds_none(name: str) -> None:
    assert secret_in_name(name) is None


@pytest.mark.parametrize(
    "name", ["password: hunter2x", "db_password=blue-sky-42", f"password-reset: {WORD}", "https://ann:hunter2@x.org"]
)
def test_an_id_that_gives_a_password_holds_it(name: str) -> None:
    assert secret_in_name(name) == "password"


@pytest.mark.parametrize("end", ["\n", "\r\n", " \r\n"])
@pytest.mark.parametrize(
    "table",
    ["| user | password |\n| --- | :-: |\n| ann | {0} |\n| bob | `{0}` |\n", "password | user\n--- | ---\n{0} | ann\n"],
)
def test_a_table_may_end_its_lines_in_any_way(table: str, end: str) -> None:
    text = table.replace("\n", end)
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "turn",
    [
        "What's the prod password?",
        "And the token for staging?",
        "Which password did you set?",
        "Do you remember the password?",
        "Where is the API key?",
        "Please send me the password.",
        "Please paste the api key below. Thanks!",
        "Can you give me your access token?",
        "I need the password.",
        "Send me the password. I'll add it to the vault.",
        "Enter passphrase",
        "Wi-Fi password please",
        "Here is the token:",
        "here's the new API key",
        "the password for the box is",
        "**Password:**",
        "the key is sk-abc",
        "it is [redacted:jwt]",
        "你的密码是什么？",
        "请把密码发给我",
        "token 发我一下，请",
        "我的密码：",
        "비밀번호가 뭐예요?",
        "비밀번호 알려주세요",
        "パスワードは何ですか？",
        "パスワードを教えてください",
        "пришли пароль",
        "Wie lautet das Passwort?",
        "Das Passwort ist",
        "Envoie-moi le mot de passe.",
        "la contraseña es:",
    ],
)
def test_a_turn_that_asks_for_a_secret_or_hands_it_over_announces_it(turn: str) -> None:
    assert asks_for_secret(turn)


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "I fixed the token",
        "I fixed the token.",
        "I need to fix the token",
        "I know he fixed the token",
        "The token works now. Which build was it?",
        "Which commit fixed the token?",
        "Which token test failed?",
        "I fixed the token bug:",
        "the token is fixed",
        "the key is up-to-date.",
        "What is the cache key?",
        "here is the token count",
        "send the log of the token service",
        "我修好了密码",
        "密码已经改好了。",
        "Пароль починил.",
        "Ich habe das Passwort geändert.",
    ],
)
def test_a_turn_that_only_mentions_a_secret_announces_none(turn: str) -> None:
    assert not asks_for_secret(turn)

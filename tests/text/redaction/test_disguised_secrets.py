"""Secrets behind a joiner, a longer name, a layout, in fields of their own, or invisible characters."""

from __future__ import annotations

from typing import Any

import pytest

from clew.text.redaction import redact, redact_json, secret_in_name

pytestmark = pytest.mark.requirement("CAPTURE-3")

WORD = "hunter2!x"
VALUE = "q8Zr2LmX0vTy7KpW"
GITHUB = "ghp_k7Zr2LmX0vTy7KpWq8Zr2LmX0vTy7KpWq8Zr"
ISSUED = [
    GITHUB,
    "npm_k7Zr2LmX0vTy7KpWq8Zr2LmX0vTy7KpWq8Zr",
    "AKIAQ3EGZRTYWPLKM2NB",
    "sk-ant-api03-k7Zr2LmX0vTy7KpWq8Zr2LmX0vTy",
    "sk_live_k7Zr2LmX0vTy7KpWq8Zr",
    "741852963:Ak7Zr2LmX0vTy7KpWq8Zr2LmX0vTy7KpWq8",
]


@pytest.mark.parametrize("secret", ISSUED)
@pytest.mark.parametrize(
    "before", ["key-", "my-", "s_", "a.b_", "secret_", "api_key-", "my_token__", "x+", "user/", "-"]
)
def test_a_known_form_is_found_behind_any_joiner(before: str, secret: str) -> None:
    for after in ("", "" if secret.startswith("sk") else "-x"):
        name = f"{before}{secret}{after}"
        assert secret[8:] not in redact(f"see {name} there").text
        assert secret_in_name(name) is not None


@pytest.mark.parametrize(
    "name", [f"my\u200b-{GITHUB}", GITHUB.replace("_", "%5F"), f"ｇｈｐ＿{GITHUB[4:]}", f"user:password={WORD}"]
)
def test_a_secret_in_a_name_is_found_in_any_spelling(name: str) -> None:
    assert secret_in_name(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "task-skill-review_2024",
        "desk-sk-lookup",
        "cache-key-e83c5163316f89bfbde7d9ab23ca2e25",
        "payments-api-123e4567-e89b-12d3-a456-426614174000",
        "20240506123456789-a1b2c3d4e5f6A7B8C9D0e1f2a3b4c5d6",
        "password-reset-2024",
        "ann@example.org",
    ],
)
def test_ordinary_ids_hold_no_secret(name: str) -> None:
    assert secret_in_name(name) is None


@pytest.mark.parametrize(
    "text",
    [
        "password for prod: {}",
        "Password for the staging box on Hetzner = {}",
        "Password (prod): {}",
        "Password [prod]: {}",
        "the passphrase of the key -> {}",
        "DB password (do not share!): {}",
        "contraseña de la base: {}",
        "mot de passe de la base : {}",
        "mot de passe pour l'API : {}",
        "пароль от базы: {}",
        "пароль для админки — {}",
        "Passwort für die DB: {}",
        "Kennwort zum Server ist {}",
        "senha do banco: {}",
        "password della base: {}",
        "wachtwoord voor de server: {}",
        "hasło do bazy: {}",
        "heslo k databázi: {}",
        "lösenord till servern: {}",
        "mật khẩu cho máy chủ: {}",
        "the wifi password at the office is {}",
        "the password for the prod box is now {}",
        "the password you asked for is {}",
        "My password - {}",
        "she set the password to {}",
        "the root password has been changed to {}",
        "the prod password → {}",
        "データベースのパスワードは「{}」です",
    ],
)
def test_a_name_may_say_what_the_password_opens(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize("text", ["token for staging: {}", "API key (prod): {}", "clé de la base : {}"])
def test_a_name_may_say_what_the_key_opens(text: str) -> None:
    assert redact(text.format(VALUE)).text == text.format("[redacted:generic-secret]")


@pytest.mark.parametrize(
    "text",
    [
        "{} is the password",
        "`{}` is the password for staging",
        "so {} is our prod password.",
        "use {} as the password",
        "{} ist das Passwort",
        "{} es la contraseña",
        "{} est le mot de passe",
        "{} — пароль",
        "{}是密码",
    ],
)
def test_a_password_may_come_before_its_name(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "__Password:__ {}",
        "__Password__: {}",
        "Password:<br>{}",
        "Password:<br/>\n{}",
        "<p>Password:</p><p>{}</p>",
        '<dt>Password</dt><dd class="x">{}</dd>',
        "<b>Password:</b>&nbsp;{}",
        "Password:&nbsp;{}",
        "Mot de passe\u202f:\xa0{}",
        "Password: <!-- prod --> {}",
        "Password:\t{}",
        "Password\t{}",
        "Password:\n{}",
        "Password:\r\n\r\n  {}\r\n",
        "Password:\\n{}\\nnext",
        "Password:\n```\n{}\n```",
        "Password:\n\n```text\n{}\n```\n",
        "### Password\n{}",
        "## DB password\n\n`{}`\n",
        "**Password**\n{}",
        "> Password:\n> {}",
        "- Password:\n  - {}",
        "Username\nann\nPassword\n{}\n",
        "密码：\n{}",
    ],
)
def test_layout_between_a_name_and_its_value_hides_nothing(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize("text", ["API key:\n{}", "### Token\n```\n{}\n```"])
def test_a_key_may_be_on_the_line_below_its_name(text: str) -> None:
    assert redact(text.format(VALUE)).text == text.format("[redacted:generic-secret]")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"Name":"DB_PASSWORD","Value":"%s"}', "password"),
        ('{"VALUE":"%s","NAME":"DB_PASSWORD"}', "password"),
        ('{"ParameterKey":"DbPassword","ParameterValue":"%s"}', "password"),
        ('{"DB_PASSWORD":{"value":"%s"}}', "password"),
        ('{"DB_PASSWORD": {"type": "secure", "Value": "%s"}}', "password"),
        ('{\\"DB_PASSWORD\\":{\\"value\\":\\"%s\\"}}', "password"),
        ('{"password":["%s"]}', "password"),
        ("DB_PASSWORD:\n  value: %s", "password"),
        ('{"header":"Authorization","value":"Api-Token %s"}', "authorization"),
        ('{"Authorization":["Api-Token %s"]}', "authorization"),
    ],
)
def test_text_with_name_and_value_in_fields_of_any_case_and_depth_loses_the_value(text: str, kind: str) -> None:
    assert redact(text % VALUE).text == text % f"[redacted:{kind}]"


@pytest.mark.parametrize(
    "value",
    [
        {"DB_PASSWORD": {"value": "blue sky"}},
        {"DB_PASSWORD": {"Value": {"plaintext": "blue sky"}}},
        {"DB_PASSWORD": [{"value": ["blue sky"]}]},
        {"pass\u200bword": "blue sky"},
    ],
)
def test_json_with_name_and_value_in_fields_of_any_case_and_depth_loses_the_value(value: Any) -> None:
    redacted, kinds = redact_json(value)
    assert "blue sky" not in str(redacted)
    assert len(kinds) == 1
    assert redact_json(redacted) == (redacted, ())


def test_the_other_fields_stay() -> None:
    value = {"DB_PASSWORD": {"interval": "30 days", "description": "of the base", "value": "${DB_PASSWORD}"}}
    assert redact_json(value) == (value, ())


@pytest.mark.parametrize("name", ["%70assword%3D", "p%61ss%77ord=", "&#112;assword=", "\\u0070assword="])
def test_an_encoded_letter_does_not_hide_a_name(name: str) -> None:
    assert redact(f"{name}{WORD}").text == f"{name}[redacted:password]"


@pytest.mark.parametrize("invisible", ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200b\u2060"])
def test_invisible_characters_hide_nothing(invisible: str) -> None:
    for text in (f"pass{invisible}word: {{}}", f"密{invisible}码：{{}}", f"password{invisible}: {{}}"):
        assert redact(text.format(WORD)).text == text.format("[redacted:password]")
    split = f"{GITHUB[:2]}{invisible}{GITHUB[2:20]}{invisible}{GITHUB[20:]}"
    assert redact(f"see {split} there").text == "see [redacted:github-token] there"


@pytest.mark.parametrize("name", ["ｐａｓｓｗｏｒｄ：", "Ｐassword: ", "ＤＢ＿ＰＡＳＳＷＯＲＤ＝", "𝗽𝗮𝘀𝘀𝘄𝗼𝗿𝗱: "])
def test_full_width_letters_hide_nothing(name: str) -> None:
    assert redact(f"{name}{WORD}").text == f"{name}[redacted:password]"
    assert redact(f"見て ｇｈｐ＿{GITHUB[4:]}、ね").text == "見て [redacted:github-token]、ね"


@pytest.mark.parametrize(
    "text",
    [
        "mdp: {}",
        "le mdp est {}",
        "비번: {}",
        "비번은 {} 입니다",
        "密码 {}",
        "密码{}",
        "通行码：{}",
        "パスコード：{}",
        "合言葉は{}",
        "пароль {}",
        "Passwort {}",
        "password {} works",
        "pass word: {}",
        "psw: {}",
        "kodeord: {}",
        "geslo: {}",
        "slaptažodis: {}",
        "кодовое слово: {}",
        "parolası: {}",
        "contraseñas: {}",
        "hasła: {}",
        "code secret : {}",
        "پسورد: {}",
        "كلمة سر: {}",
        "סיסמת: {}",
        "รหัสผ่าน {}",
    ],
)
def test_a_password_is_known_by_its_other_names_and_behind_a_blank(text: str) -> None:
    assert redact(text.format(WORD)).text == text.format("[redacted:password]")


@pytest.mark.parametrize(
    "text",
    [
        "Password for prod: see 1Password. The password for staging is the same.",
        "The password you choose is 12+ characters. Password requirements: 8-16 characters",
        "Password (required): string. Password reset on 2024-05-06: done. Passwords like hunter2 are weak.",
        "v1.2.3-rc1 is the password manager release; step1 is the password prompt.",
        "Python3.11 is the password checker, and SHA-256 is the password hash.",
        "### Password\nUse at least 12 characters\n\nPassword:\n- at least 8\n- one digit",
        "### Token\nhttps://example.org/docs/tokens#create2\n",
        "password:\n  type: string\n  minLength: 8\n",
        "token for CI: ${{ secrets.CI_TOKEN_1 }}, password for prod: $PROD_PW1",
        "密码 长度为8至16位。密码至少8位，我的密码 忘记了",
        "пароль от 8 символов, пароль для почты: забыл",
        "mot de passe pour la base : à demander",
        "tests pass 12/12, pass x1 to f(), pw stands for power",
        "key for the cache: user_profile_settings_v2",
        "я 密\u200b码 ｆｕｌｌ ｗｉｄｔｈ \u200bnothing 100%25 sure %41 &nbsp; here",
        "Ann’s password: it’s in the vault 👨\u200d👩\u200d👧",
    ],
)
def test_ordinary_sentences_about_secrets_stay(text: str) -> None:
    assert redact(text).text == text

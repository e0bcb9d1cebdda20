"""In any text, redaction changes only what it reports as cut, and a second pass changes nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.redaction import Policy, Redacted, redact, redact_json
from tests.testing.effort import effort

pytestmark = pytest.mark.requirement("CAPTURE-3")

SECRETS = (
    "ghp_k7Zr2LmX0vTy7KpWq8Zr2LmX0vTy7KpWq8Zr",
    "AKIAQ3EGZRTYWPLKM2NB",
    "sk-ant-api03-k7Zr2LmX0vTy7KpWq8Zr2LmX0vTy",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.k7Zr2LmX0vTy7KpWq8",
    "q8Zr2LmX0vTy7KpW",
)
PIECES = (
    "password", "token", "api_key", "discord", "auth", "key", "=", ": ", ":", '"', "'", " ", "\n", "\\n", "<", ">", ",",
    "&", "postgres://ann:", "@host", "Bearer ", "Cookie: a=", "; ", "curl -u ann:", "kind: Secret\ndata:\n  a: ",
    "漢", "\ud800", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "[redacted:jwt]", "[redacted:", "]",
    "--", "%3D", "%22", "&quot;", "| ", "|---|---|\n",
    "**", "密码：", " for prod", " is ", " is the password", "passwort", "пароль", " от ", "mdp", "### ", "<br>",
    "reset_", "mot de passe", "\r\n",
    "&nbsp;", "```\n", "__", "-", "_", "\u200b", "\u00ad", "ｐａｓｓｗｏｒｄ", "：", "%70", "%5F", "hunter2!x",
    '{"Value":', "[", "{", "name", "value", "cGFzc3dvcmQ9aHVudGVyMiF4", "x@y.org",
    "+44 20 7946 0958", "4111 1111 1111 1111", "12 Old Mill Road", *SECRETS,
)  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=24).map("".join)
POLICIES = st.sampled_from([Policy.SECRETS, Policy.PII])
MARKER = re.compile(r"\[redacted:[a-z0-9-]+\]")
TREES = st.recursive(
    st.one_of(TEXTS, st.none(), st.integers()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=effort(200, 2000), deadline=None)
@given(TEXTS, POLICIES)
def test_only_what_was_found_is_replaced_and_by_its_kind(text: str, policy: Policy) -> None:
    redacted = redact(text, policy)
    pieces = []
    done = 0
    for item in redacted.found:
        assert done <= item.start < item.end <= len(text)
        marker = f"[redacted:{item.kind}]"
        assert MARKER.fullmatch(marker)
        pieces += [text[done : item.start], marker]
        done = item.end
    assert "".join([*pieces, text[done:]]) == redacted.text


@settings(max_examples=effort(200, 2000), deadline=None)
@given(TEXTS, POLICIES)
def test_redacting_again_finds_nothing(text: str, policy: Policy) -> None:
    once = redact(text, policy).text
    assert redact(once, policy) == Redacted(once, ())


@settings(max_examples=effort(100, 1000), deadline=None)
@given(st.text(), st.sampled_from(SECRETS[:4]), st.text())
def test_a_known_secret_between_blanks_is_always_cut(before: str, secret: str, after: str) -> None:
    assert secret not in redact(f"{before} {secret} {after}").text


@settings(max_examples=effort(100, 1000), deadline=None)
@given(TREES, POLICIES)
def test_redacting_json_again_finds_nothing(value: Any, policy: Policy) -> None:
    once, kinds = redact_json(value, policy)
    assert redact_json(once, policy) == (once, ())
    assert (once is value) == (kinds == ())


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "key=",
        "token=",
        "token: a1B2",
        'password="',
        "cookie: a=b; ",
        "eyJaaaaaaaa.",
        "://a:b@",
        "sig=",
        "Bearer a",
        "漢",
        "password%3D",
        "| password |\n|---|---|\n",
        '"value":"a","name":"token"',
        "密码：",
        "cGFzc3dvcmQ9",
        "the key a1B2c3D4e5F6g7H8i9J0 ",
        "password for prod: ",
        "password the a b c d is ",
        "a1!b2c is the password ",
        "пароль от ",
        "密码 ",
        "password:\n",
        "Password:<br>",
        "_ghp_",
        "-:AA",
        '"password":{"value":',
        "pass\u200bword",
        "ｐａｓｓｗｏｒｄ：",
        "%70assword",
        "name=password ",
    ],
)
def test_the_work_grows_no_faster_than_the_text(piece: str) -> None:
    short = _calls(lambda: redact(piece * 400))
    long = _calls(lambda: redact(piece * 3200))
    assert long <= 9 * short + 200


def _calls(action: Callable[[], object]) -> int:
    """How many functions are called, those written in C too, which is the same on every machine."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count

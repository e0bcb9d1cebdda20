"""Secrets that only their name gives away: `password = …`, `"api_key": …`, `<token>…</token>`, `--token …`.

The name says how much its value must look like a secret. What is called a password is one unless it reads as a word of
a text or as code; a token or a secret must look made by chance; a value that is only called a key, or follows the name
of a service, must look so more plainly, since most keys open nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.text.redaction import phrases
from clew.text.redaction.fields import HARMLESS_HEAD, KEY_FIELDS, VALUE_FIELDS, is_about_password, names_an_action
from clew.text.redaction.languages import FOREIGN_KEYS, FOREIGN_PASSWORDS, IS, SHORT_FOREIGN_PASSWORDS
from clew.text.redaction.syntax import BLANK, CLOSERS, MARKS, TAIL, VALUE
from clew.text.redaction.values import (
    Cut,
    is_made_of_words,
    is_mixed,
    is_random,
    is_stand_in,
    is_surely_password,
    is_uuid,
)

_PASS_WORDS = ("password", "passwd", "passphrase", "passcode", "pwd")
_SPLIT_PASS_WORDS = ("pass word", "pass phrase", "pass code", "pass-word", "pass-phrase", "pass-code")
PASSWORD_NAMES = (
    *_PASS_WORDS,
    *_SPLIT_PASS_WORDS,
    "_pass",
    "dbpass",
    *(f"_{word}" for word in _PASS_WORDS),
    "dbpassword",
    "dbpasswd",
    *(word for word in FOREIGN_PASSWORDS if word.isascii()),
)
"""With the prefixes of the shorter ones, too: of all names that begin at one place, only the longest counts."""
SHORT_NAMES = ("pass", "pw", "psw", "pswd", *SHORT_FOREIGN_PASSWORDS)
"""Words with another meaning, too: they need a mark behind them, and a value that no word is."""

TOKEN_NAMES = (
    "token", "secret", "apikey", "api_key", "api-key", "api key", "accesskey", "access_key", "access-key", "privatekey",
    "private_key", "private-key", "credential", "accountkey", "sharedkey", "shared_key", "authkey", "auth_key",
    "encryptionkey", "encryption_key", "signingkey", "signing_key", "masterkey", "master_key", "authorization",
    "x-auth", "connectionstring", "connection_string",
)  # fmt: skip
KEY_NAMES = (
    "key", "auth", "creds", "jwt", "client_id", "clientid", "client-id",
    *(word for word in FOREIGN_KEYS if word.isascii()),
)  # fmt: skip
SERVICE_NAMES = tuple(
    "adafruit adobe airtable akamai algolia alibaba amplitude anthropic artifactory asana atlassian auth0 aws "
    "azure beamer bitbucket bitly bittrex braintree bugsnag cloudflare cloudinary codecov cohere coinbase "
    "confluent contentful contribsys databricks datadog deepseek digitalocean discord docusign doppler drone "
    "dropbox dynatrace easypost elastic etsy facebook fastly figma finicity finnhub firebase flickr flutterwave "
    "freshbooks github gitlab gitter gocardless grafana harness hashicorp heroku honeycomb hubspot huggingface "
    "infracost instagram intercom jenkins jfrog jira kraken kucoin launchdarkly linear linkedin lob looker "
    "mailchimp mailgun mailjet mandrill mapbox mattermost maxmind meraki messagebird mixpanel netlify newrelic "
    "new_relic notion npm nytimes octopus okta openai opsgenie pagerduty paypal pendo plaid planetscale postman "
    "postmark pulumi pusher rapidapi readme rollbar salesforce scaleway segment sendbird sendgrid sendinblue "
    "sentry servicenow shippo shopify sidekiq slack snyk sonar sourcegraph splunk square squarespace stripe "
    "sumologic supabase telegram terraform travis trello twilio twitch twitter typeform vault vercel vonage webex "
    "wepay workday yandex yelp zapier zendesk zoho zoom".split()
)
"""Services whose credentials have no form of their own, or had none at first."""

_ASSIGNED = re.compile(
    rf"{TAIL}{CLOSERS}"
    r"(?:"
    rf"{BLANK}{{0,20}}+(?:=>|:=|\?=|\+=|\|\|=|(?:={{1,3}}|＝)(?!>)|->"
    r"|(?:[：﹕]|:(?!:))(?:[ \t]{0,4}(?:str|string|String)[ \t]{0,4}=)?)"
    rf"{MARKS}(?:{BLANK}{{0,20}}+{MARKS}|\s{{0,20}}+(?=\\?[\"']))"
    rf"|{BLANK}{{0,20}}+\|(?!\|)[ \t]{{0,40}}+{MARKS}"
    rf"|{BLANK}(?:{IS}|—|–):?{BLANK}{{1,4}}+"
    rf"|{BLANK}?(?:是|为|為|は|는|은)[：:]?{BLANK}{{0,4}}+"
    r"|>\s{0,40}+(?=[^\s<>])"
    r"|[:=]?[ \t]{0,4}</[a-zA-Z]{1,10}>[:=]?\s{0,20}+(?:<[a-zA-Z]{1,10}>\s{0,20}+){0,2}+"
    r"|(?<=[\"']),[ \t]{0,8}+(?=[\"'])(?![\"'][\w.\-]{1,40}+[\"']\s{0,4}:)"
    r")(?P<scheme>(?:[\"'][ \t]{0,2})?(?:Bearer|Basic|Token|token|ApiKey|SSWS|Key)[ \t]{1,4}+(?=[^\s\"']))?" + VALUE,
    re.ASCII,
)
_SCHEME = re.compile(
    r"(?P<tail>)[\"'`\])\\*]{0,4}+[ \t]{0,4}+[:=：,]{1,2}+[*]{0,2}+[ \t]{0,4}+\\?[\"']?"
    r"(?P<scheme>[A-Za-z][\w\-]{1,40}+[ \t=]{1,4}+(?:[A-Za-z]{2,20}+=)?)" + VALUE,
    re.ASCII,
)
"""A header whose value begins with the name of a scheme, whichever it is."""
_KEY_FIELD = rf"(?i:{'|'.join(KEY_FIELDS)})"
_VALUE_FIELD = rf"(?:[A-Za-z]{{1,20}}(?:[_\-]|(?=[A-Z])))?(?i:{'|'.join(VALUE_FIELDS)})"
_VALUE_WORD = re.compile("|".join(VALUE_FIELDS), re.IGNORECASE)
_OPEN, _SHUT = r"(?:\\?[\"'`]?|<)", r"(?:\\?[\"'`]?[ \t]{0,4}+[:=][ \t]{0,4}+|>\s{0,8}+)"
_OTHER_FIELDS = (
    rf"(?:{_OPEN}(?!{_VALUE_FIELD}\b)[\w.\-]{{1,40}}+{_SHUT}"
    r"\\?[\"']?[\w.\-/ ]{0,80}+\\?[\"']?(?:</\w{1,20}+>)?,?\s{0,40}+){0,3}+"
)
_FIELD_BEHIND = re.compile(
    r"(?P<tail>[\w.\-]{0,40}+)(?:\\?[\"'`])?[ \t]{0,4}+(?:</\w{1,20}+>)?,?\s{0,40}+"
    rf"{_OTHER_FIELDS}{_OPEN}{_VALUE_FIELD}{_SHUT}(?P<scheme>)" + VALUE,
    re.ASCII,
)
"""The value in a field of its own, behind the one that holds the name."""
_FIELD_BEFORE = re.compile(
    rf"(?<![A-Za-z]){_OPEN}{_VALUE_FIELD}{_SHUT}(?P<scheme>)(?P<tail>)"
    + VALUE
    + r"(?:\\?[\"'`])?[ \t]{0,4}+(?:</\w{1,20}+>)?,?\s{0,40}+"
    + rf"{_OPEN}[A-Za-z_\-]{{0,20}}?{_KEY_FIELD}{_SHUT}\\?[\"'`]?[\w.\-]{{0,40}}\Z",
    re.ASCII,
)
_FIELD_INSIDE = re.compile(
    rf"{TAIL}(?:\\?[\"'`])?[ \t]{{0,4}}+(?:=>|[:=])\s{{0,20}}+"
    rf"(?:\[\s{{0,20}}+(?=\\?[\"'])|(?:\{{\s{{0,20}}+)?{_OTHER_FIELDS}{_OPEN}{_VALUE_FIELD}{_SHUT}){{1,4}}+"
    r"(?P<scheme>)" + VALUE,
    re.ASCII,
)
"""The value in a list or an object of its own, under its name."""
_IS_KEY_FIELD = re.compile(rf"{_KEY_FIELD}{_SHUT}\\?[\"'`]?[\w.\-]{{0,40}}\Z", re.ASCII)
_FIELD_REACH_CHARS = 600
_KEY_FIELD_CHARS = 24
_VALUE_HEAD_CHARS = 24
_OPTION = re.compile(r"(?P<tail>[\w\-]{0,20}+)[ \t]{1,4}+(?P<scheme>)" + VALUE, re.ASCII)
_NO_MARK = re.compile(r"\w|[ \t]{1,20}[^\s:=：＝|]")
_NAME_HEAD_CHARS = 40
_HARMLESS_HEAD_CHARS = 20
_MOST_NAMES_IN_RUN = 8
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")

_HARMLESS_TAIL = re.compile(
    r"(?:s?[_\-.]?(?:name|type|url|uri|path|file|dir|count|limit|length|len|size|ttl|expir|field|header|prefix|suffix|format"
    r"|policy|regex|pattern|hash|sum|index|idx|usage|budget|provider|manager|ring|board|word|note|frame|store|chain|group"
    r"|status|state|version|mode|endpoint|scheme|class|hint|label|placeholder|input|param|arn|ref|alias|locat|owner|kind"
    r"|algorithm|schema|table|column|rotat|valid|check|enabled|required|min|max|per|izer|ized|ization|at\b|in\b|by\b))",
    re.IGNORECASE,
)
_IDENTITY_TAIL = re.compile(r"(?:id|key)(?![a-z])", re.IGNORECASE)


class Names:
    """Reads the assignments of one text.

    Names may be part of the value of another, as in `a=b=c=…`; each such run of characters is read
    for its first few names only, or a text of nothing else would be read over and over.
    """

    def __init__(self) -> None:
        self._run_end = 0
        self._names_in_run = 0

    def password_cuts(self, text: str, start: int, end: int) -> Iterator[Cut]:
        """The value of what is named a password."""
        found = self._read(text, start, end) or _login(text, start, end) or phrases.read_spaced(text, end)
        if found:
            first, last, quoted = _value(found)
            value = text[first:last]
            is_call = not quoted and text.startswith(("(", "[", "{"), last)
            is_password = not is_call and phrases.is_password_in(found, value, quoted=quoted)
            name = _head(text, start) + text[start:end] if is_password else ""
            if is_password and (not is_about_password(name, found["tail"]) or is_surely_password(value)):
                yield Cut(first, last, "password")
                return
        place = phrases.password_before(text, start, end)
        if place:
            yield Cut(*place, "password")

    def short_password_cuts(self, text: str, start: int, end: int) -> Iterator[Cut]:
        """The value behind `pass:` or `pw=`, if it is a whole word and its value is no word."""
        if (start and text[start - 1].isalnum()) or text[end : end + 1].isalnum():
            return
        for cut in self.password_cuts(text, start, end):
            value = text[cut.start : cut.end]
            if is_surely_password(value) or (is_mixed(value) and not _NO_MARK.match(text, end)):
                yield cut

    def token_cuts(self, text: str, start: int, end: int) -> Iterator[Cut]:
        """The value of what is named a token, a secret, or a key to something."""
        found = self._read(text, start, end)
        if found is None or HARMLESS_HEAD.search(_head(text, start)[-_HARMLESS_HEAD_CHARS:]):
            return
        is_header = text[start:end].lower() == "authorization"
        for read in (_SCHEME.match(text, end) if is_header else None, found):
            if read is None:
                continue
            first, last, quoted = _value(read)
            if is_header:
                first += text[first:last].rfind(" ") + 1  # behind the name of a scheme
            value = text[first:last]
            if is_header and not read["scheme"] and value.replace("-", "").isalpha():
                continue  # the name of a scheme
            least_chars = 8 if quoted or read["scheme"] else 10
            if is_uuid(value) or is_random(value, least_chars=least_chars, least_bits=2.6) or _is_long_capitals(value):
                yield Cut(first, last, _kind(text, start, end))
                return

    def key_cuts(self, text: str, start: int, end: int) -> Iterator[Cut]:
        """The value of what is named a key of some sort, or only after a service."""
        if start and text[start - 1].isalpha() and text[start].isascii() and not text[start].isupper():
            return
        found = self._read(text, start, end)
        if found is None or phrases.is_said(found) or HARMLESS_HEAD.search(_head(text, start)[-_HARMLESS_HEAD_CHARS:]):
            return
        first, last, _ = _value(found)
        value = text[first:last]
        if phrases.is_phrase(found) and is_made_of_words(value):
            return
        if is_uuid(value):
            if text[start:end].lower() in SERVICE_NAMES and _IDENTITY_TAIL.search(found["tail"]):
                yield Cut(first, last, "generic-secret")
        elif is_random(value) and any(map(str.isdigit, value[:200])):
            yield Cut(first, last, "generic-secret")

    def _read(self, text: str, start: int, end: int) -> re.Match[str] | None:
        """What is assigned to the name around this place, if its name does not say that it is harmless."""
        if start < self._run_end:
            self._names_in_run += 1
            if self._names_in_run > _MOST_NAMES_IN_RUN:
                return None
        found = (
            _field(text, start, end)
            or _ASSIGNED.match(text, end)
            or _FIELD_INSIDE.match(text, end)
            or _option(text, start, end)
            or phrases.read(text, start, end)
        )
        if found is None or _HARMLESS_TAIL.match(found["tail"]) or _HARMLESS_TAIL.match(phrases.first_word(found)):
            return None
        if start >= self._run_end:
            self._run_end = found.end()
            self._names_in_run = 0
        return found


def _value(found: re.Match[str]) -> tuple[int, int, bool]:
    for group in ("double", "single", "back"):
        if found[group] is not None:
            return *found.span(group), True
    first, last = found.span("bare")
    trailing = len(found["bare"]) - len(found["bare"].rstrip(".:*~"))
    return first, last - trailing, False


def _field(text: str, start: int, end: int) -> re.Match[str] | None:
    """`{"name": "TOKEN", "value": …}`: name and value in fields of their own, in either order."""
    head = _head(text, start)
    first = start - len(head)
    before = text[max(0, first - 8) : first]
    if not any(mark in before for mark in ":=>") or not _IS_KEY_FIELD.search(
        text, max(0, first - _KEY_FIELD_CHARS), start
    ):
        return None
    found = _FIELD_BEHIND.match(text, end) or _field_before(text, start)
    return None if found and names_an_action(head + text[start:end]) else found


def _field_before(text: str, start: int) -> re.Match[str] | None:
    """Looks for the letters of a value field first, as most places have none near."""
    value = _VALUE_WORD.search(text, max(0, start - _FIELD_REACH_CHARS), start)
    return _FIELD_BEFORE.search(text, max(0, value.start() - _VALUE_HEAD_CHARS), start) if value else None


def _option(text: str, start: int, end: int) -> re.Match[str] | None:
    """`--token VALUE` on a command line."""
    return _OPTION.match(text, end) if _head(text, start).startswith("--") else None


def _login(text: str, start: int, end: int) -> re.Match[str] | None:
    """`login NAME password VALUE`, as in a netrc file."""
    return _OPTION.match(text, end) if "login " in text[max(0, start - 80) : start] else None


def _head(text: str, start: int) -> str:
    """The part of the name before the word that was found."""
    first = start
    least = max(0, start - _NAME_HEAD_CHARS)
    while first > least and text[first - 1] in _NAME_CHARS:
        first -= 1
    return text[first:start]


def _is_long_capitals(value: str) -> bool:
    """A made-up key of the usual length: too long for a word, even though it repeats."""
    return len(value) >= 24 and value.isalnum() and value.isupper() and not is_stand_in(value)


def _kind(text: str, start: int, end: int) -> str:
    word = text[start:end].lower()
    if word == "authorization":
        return "authorization"
    return "aws-key" if "aws" in _head(text, start).lower() else "generic-secret"

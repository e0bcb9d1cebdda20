"""Personal data, for those who ask for it to be cut: addresses, numbers and accounts that lead to a person.

What has a check sum must pass it; what has none must have the form of its kind, or a word beside it that says what it
is. Names of people and places are no matter of form and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from clew.text.redaction.values import Cut

_EMAIL = re.compile(
    r"(?<![\w.%+\-])[\w.%+\-]{1,64}+@(?:[\w\-]{1,63}+\.){1,5}+(?=([a-zA-Z]{2,24}+))\1(?![\w\-])"
    r"|(?<![\w.%+\-])[\w.%+\-]{1,64}+@[\w\-]{1,63}+(?:\.[\w\-]{1,63}+){1,5}+"
)
_DIGITS = re.compile(r"(?<![\w.,:/#$€£\-+])(?:\+|00)?\(?\d(?:[ .\-/()]{0,2}+\d){6,18}+(?:x\d{1,6}+)?(?![\w]|[.,:\-]\d)")
_CARD = re.compile(r"(?<![\w.\-])\d(?:[ \-]?\d){11,18}+(?![\w]|[.\-]\d)")
_SSN = re.compile(r"(?<![\w.\-])(?!000|666|9)\d{3}[- ](?!00)\d{2}[- ](?!0000)\d{4}(?![\w\-])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}+(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}+(?![\w:])")
_STREET = re.compile(
    # 12 Old Mill Road, Apt. 3
    r"(?<![\w.,])\d{1,5}[a-zA-Z]?,? (?:[A-Z0-9][\w.'\-]{0,20}+ ){1,4}?"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|Highway|Hwy"
    r"|Parkway|Pkwy|Crescent|Close)\b\.?(?:,?\s(?:Apt|Suite|Unit|Apartment|#)\.? ?\w{1,6})?"
    # Rue de la Paix 5, ul. Długa 7
    r"|(?<!\w)(?:\d{1,5},? )?(?:Rue|rue|Via|Viale|Piazza|Rua|Avenida|Avda\.|Calle|Carrer|Paseo|Plaza|ul\.|ulica)"
    r"(?: [\w.'\-]{1,20}+){1,5}? \d{1,5}\b"
    # Hauptstraße 3, Storgatan 12
    r"|(?<!\w)(?:\w{2,24} )?\w{0,24}"
    r"(?:[Ss]tra(?:ss|ß)e|gasse|platz|straat|laan|gatan|gata|vägen|veien|vej|gade|katu|tie) \d{1,5}\b",
)
_DWELLING = re.compile(
    r"\bP\.? ?O\.? Box \d{1,7}\b|\b(?:PSC|CMR|Unit) \d{1,5},? Box \d{1,5}\b|\b(?:Apt\.|Apartment|Suite) \d{1,5}\b",
    re.IGNORECASE,
)
_PHONE_WORD = re.compile(
    r"phone|call|tel\b|mobile|cell|fax|whatsapp|\bsms\b|contact|reach|text me|number", re.IGNORECASE
)
_PHONE_CONTEXT_CHARS = 40
_DATE = re.compile(r"(?:19|20)\d{2}[-/. ]\d{1,2}[-/. ]\d{1,2}(?!\d)|\d{1,2}[-/. ]\d{1,2}[-/. ](?:19|20)\d{2}(?!\d)")


def cuts(text: str) -> Iterator[Cut]:
    """Everything personal that has a form; places may overlap."""
    if "@" in text:
        yield from (Cut(*found.span(), "email") for found in _EMAIL.finditer(text))
    if _has_digit(text):
        yield from _numbers(text)
        yield from (Cut(*found.span(), "street-address") for found in _STREET.finditer(text))
        yield from (Cut(*found.span(), "street-address") for found in _DWELLING.finditer(text))


def _has_digit(text: str) -> bool:
    return re.search("[0-9]", text) is not None


def _numbers(text: str) -> Iterator[Cut]:
    yield from (Cut(*found.span(), "iban") for found in _IBAN.finditer(text) if _is_iban(found[0]))
    yield from (Cut(*found.span(), "credit-card") for found in _CARD.finditer(text) if _is_card(found[0]))
    yield from (Cut(*found.span(), "ssn") for found in _SSN.finditer(text))
    yield from (Cut(*found.span(), "phone") for found in _DIGITS.finditer(text) if _is_phone(text, found))
    for pattern in (_IPV4, _IPV6):
        yield from (Cut(*found.span(), "ip-address") for found in pattern.finditer(text) if _is_ip(found[0]))


def _is_iban(written: str) -> bool:
    """The number made of all characters, the first four moved behind, leaves 1 when divided by 97."""
    account = written.replace(" ", "")
    if not 15 <= len(account) <= 34:
        return False
    moved = account[4:] + account[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def _is_card(written: str) -> bool:
    digits = [int(character) for character in written if character.isdecimal()]
    if written[0] not in "123456" or len(set(digits)) < 2:
        return False
    doubled = [sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _is_phone(text: str, found: re.Match[str]) -> bool:
    """Written with a country's prefix or in groups as numbers to call are; otherwise a word before must say so."""
    written = found[0]
    digits = sum(map(str.isdecimal, written.partition("x")[0]))
    if not 7 <= digits <= 15 or _DATE.match(written):
        return False
    if written.startswith(("+", "00")):
        return True
    groups = re.findall(r"\d+", written.partition("x")[0])
    before = text[max(0, found.start() - _PHONE_CONTEXT_CHARS) : found.start()]
    if _PHONE_WORD.search(before):
        return True
    return 9 <= digits <= 12 and 3 <= len(groups) <= 6 and all(2 <= len(group) <= 4 for group in groups)


def _is_ip(written: str) -> bool:
    """An address that leads somewhere: not of this machine, and not a version or a time of day."""
    try:
        address = ip_address(written)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or int(address) == 2**32 - 1)

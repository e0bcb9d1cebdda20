"""What passwords and keys are called in languages other than English."""

from __future__ import annotations

import re
import unicodedata

import re2

FOREIGN_PASSWORDS = (
    "passwort", "kennwort", "contraseña", "contrasena", "contrasenya", "mot de passe", "motdepasse", "mot_de_passe",
    "senha", "palavra-passe", "wachtwoord", "parola", "lösenord", "losenord", "adgangskode", "passord", "salasana",
    "heslo", "jelszó", "jelszo", "lozinka", "hasło", "haslo", "şifre", "şİFRE", "sifre", "parolă", "kata sandi",
    "mật khẩu",
    "пароль", "пароля", "парола", "лозинка", "κωδικός", "κωδικος", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر",
    "رمز عبور", "पासवर्ड", "รหัสผ่าน",
    "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "패스워드", "암호",
    "code secret", "code d'accès", "code d’accès", "zugangscode", "losungswort", "palabra de paso", "parola d'ordine",
    "parola d’ordine", "código de acesso", "código de acceso", "toegangscode", "kodeord", "parool", "parole",
    "slaptažodis", "geslo", "pasahitza", "contrasinal", "palavra passe", "kata laluan", "hasła", "hesla", "parolası",
    "şifresi", "пасворд", "пассворд", "паролем", "пароли", "кодовое слово", "шифра", "συνθηματικό", "סיסמת",
    "كلمة مرور", "كلمة سر", "رمز المرور", "باسورد", "باسوورد", "گذرواژه", "پسورد", "कूटशब्द", "พาสเวิร์ด",
    "通行码", "通行碼", "登录密钥", "パスコード", "パスフレーズ", "合言葉", "비번", "비밀 번호", "암호문",
)  # fmt: skip
SHORT_FOREIGN_PASSWORDS = ("mdp",)
"""Short for a password, and part of other words."""
FOREIGN_KEYS = (
    "schlüssel", "schluessel", "clave", "clé", "chave", "chiave", "klucz", "sleutel", "nyckel", "anahtar", "jeton",
    "zugangsdaten", "ключ", "токен", "секрет", "密钥", "密鑰", "金鑰", "秘钥", "令牌", "トークン", "キー", "秘密鍵",
    "토큰", "시크릿", "مفتاح", "טוקן",
)  # fmt: skip

IS = (
    r"(?:used to be|(?:(?:has been|was|is) )?(?:changed|set|reset|updated) to|"
    r"(?:is|was|are|ist|war|lautet|est|était|es|era|è|é|jest|är|er|je|это|был|είναι)"
    r"(?: (?:now|still|currently|actually|again|set to|changed to|jetzt|maintenant|ahora|now|теперь|nu|agora|ora))?)"
)
"""What links a name to its value in a sentence."""
QUALIFIERS = frozenset(
    "for to of on at from in with under behind für zu zur zum der des dem den die das vom von beim bei im auf de du "
    "d' del della dello dell' des pour la le les l' à au aux sur para el las los en per il lo da do dos das na no voor "
    "van op het till på av til for pro od k ke do z dla ze від для от к на из у за için cho của untuk pentru για του "
    "της".split()
)
"""Words that begin the part of a name which says what the secret opens."""


def _spellings(word: str) -> set[str]:
    """The word in the cases it is written in, with its accents in either form."""
    cases = {word, word.upper(), word.capitalize(), word.title()}
    return {unicodedata.normalize(form, case) for form in ("NFC", "NFD") for case in cases}


_DETECTOR_OF_SPELLING = {
    spelling: detector
    for detector, words in (("password", FOREIGN_PASSWORDS), ("key", FOREIGN_KEYS))
    for word in words
    if not word.isascii()
    for spelling in _spellings(word)
}
_SPELLINGS = re.compile("|".join(map(re.escape, sorted(_DETECTOR_OF_SPELLING, key=len, reverse=True))))

_OPTIONS = re2.Options()
_OPTIONS.encoding = re2.Options.Encoding.LATIN1
_ANY_SPELLING = re2.compile("|".join(map(re.escape, _DETECTOR_OF_SPELLING)).encode(), _OPTIONS)
"""Tells faster that a text holds none of them, which is so for nearly every text."""


def foreign_names(text: str) -> list[tuple[int, int, str]]:
    """Names in letters beyond ASCII: where each begins and ends, and which detector reads its value."""
    if text.isascii() or _ANY_SPELLING.search(text.encode("utf-8", "surrogatepass")) is None:
        return []
    return [(*found.span(), _DETECTOR_OF_SPELLING[found[0]]) for found in _SPELLINGS.finditer(text)]

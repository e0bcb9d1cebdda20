"""The words with which people hand over a text: they announce it, ask about it, or report it.

A text is named (an e-mail, a page, a comment) and shown (here it is, I got it, it says), or worked on (translate,
summarise, what does it mean). Clauses that lay something down, as in "every e-mail" or "here is what I want", are the
writer's own. English, German, French, Spanish, Chinese, Japanese and Korean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

Way: TypeAlias = Literal["back", "on", "near"]
"""Where a request points: at the text before it, at the text after it, or at the nearest text."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_NAMES = r"""e-?mails?|mails?|messages?|letters?|articles?|(?:web ?)?pages?|web ?sites?|texts?|documents?|docs?|posts?
|comments?|reviews?|threads?|chats?|conversations?|transcripts?|paragraphs?|passages?|sentences?|excerpts?|quotes?|logs?
|output|memos?|contracts?|clauses?|tickets?|readme|poems?|lyrics|speech|tweets?|reply|replies|responses?|files?
|snippets?|notifications?|newsletters?|notices?|signs?|blogs?|sms|dms?""".replace("\n", "")
_NOT_A_COMPOUND = (
    r"(?=\s*(?:[^\w\s]|$|(?:i|we|he|she|it|they|that|which|from|by|of|to|about|in|on|at|with|below|above|today"
    r"|yesterday"
    r"|just|my|our|her|his|your|some\w*|for|as|again|please|into|has|was|is|says?|said|reads|states|goes|sent|got"
    r"|received|came|[A-Z]\w+)\b))"
)
"""No further noun follows: an "email format" is no e-mail."""
_EN_TEXT = rf"\b(?:{_NAMES})\b{_NOT_A_COMPOUND}"
_DE_TEXT = (
    r"\b(?:e-?mail|mail|nachricht|brief|artikel|text|(?:web)?seite|website|dokument|beitrag|kommentar|bewertung|chat"
    r"|gespräch|protokoll|transkript|absatz|abschnitt|auszug|zitat|satz|vertrag|ticket|gedicht|antwort|datei|meldung"
    r"|sms|newsletter|anzeige|schreiben|aushang|schild)(?:e?[sn]|e)?\b"
)
_FR_TEXT = (
    r"\b(?:e-?mail|mail|courriel|message|lettre|article|texte|page|site|document|post|billet|commentaire|avis"
    r"|conversation|discussion|transcription|paragraphe|passage|phrase|extrait|citation|contrat|ticket|poème|tweet"
    r"|réponse|fichier|sms|courrier|annonce|panneau)s?\b"
)
_ES_TEXT = (
    r"\b(?:e-?mail|mail|correo|mensaje|carta|artículo|texto|página|sitio|documento|post|publicación|comentario|reseña"
    r"|conversación|transcripción|párrafo|pasaje|frase|fragmento|extracto|contrato|ticket|poema|tuit|tweet|respuesta"
    r"|archivo|sms|whatsapp|anuncio|cartel)s?\b"
)
_ZH_TEXT = (
    "邮件|电邮|短信|消息|信件|来信|封信|文章|网页|页面|网站|文本|文字|文档|文件|帖子|评论|对话|聊天记录|段落|段话|句话"
    "|原文|通知|公告|合同|微信|博客|推文|歌词|日志|[这這]段|[这這]篇"
)
_JA_TEXT = (
    "メール|メッセージ|手紙|記事|ページ|サイト|文章|文書|の文|テキスト|投稿|コメント|レビュー|会話|チャット|段落|引用"
    "|ログ|契約書|歌詞|ツイート|返信|返事|ファイル|通知|お知らせ|張り紙|書類|LINE"
)
_KO_TEXT = (
    "메일|메시지|문자|편지|기사|[은는을 ]글|페이지|사이트|문서|게시글|게시물|댓글|리뷰|후기|대화|채팅|문단|로그|계약서"
    "|가사"
    "|트윗|답장|답변|파일|공지|알림|카톡|문장|텍스트"
)
_TEXT = _any(_EN_TEXT, _DE_TEXT, _FR_TEXT, _ES_TEXT, _ZH_TEXT, _JA_TEXT, _KO_TEXT)
"""Names of texts that somebody can write."""

_HERE = (
    r"\bhere(?:['’]s| is| are| comes?| you go)\b|\b(?:below|attached) (?:is|are)\b",
    r"\bhier(?: ist| sind| kommt| mal)?(?: \w+)? (?:die|der|das|ein\w?|mein\w?|sein\w?|ihr\w?)\b|\b(?:anbei"
    r"|folgend\w*)\b",
    r"\bvoici\b|\bvoilà\b|\bci-(?:dessous|joint)\b",
    r"\b(?:aquí|acá) (?:está|va|tienes|te \w+|el|la)\b|\b(?:a continuación|adjunto)\b",
    "^(?:这|這)(?:就?是|里是)|以下(?:就?是|为)?|如下|下面(?:就?是|的)",
    "^(?:こちら|これ)(?:が|は)|以下(?:が|は|の|に)|次の|下記",
    "^(?:여기|이게|이것)|다음(?:은|과| )|아래",
)
_SHOWN = _any(
    *_HERE,
    r"\b(?:this is|these are|(?<!in )the following|as follows|below)\b"
    r"|(?<!\bin )(?<!\bfor )(?<!\bthroughout )\b(?:this|these)\b",
    r"\b(?:got|received|found|copied|pasted|forwarded|saw|says|said|reads|states|writes|wrote|sent|came)\b",
    r"(?<!\bin )(?<!\bfür )\bdiese\w?\b|\b(?:bekommen|erhalten|bekam|kam|gefunden|kopiert|geschickt|schickte)\b",
    r"\b(?:schreibt|schrieb|geschrieben|sagt|steht|stand|lautet|heißt es|weitergeleitet)\b",
    r"(?<!\bdans )(?<!\bpour )\b(?:ce|cet|cette|ces)\b|\b(?:reçu|trouvé|copié|collé|envoyé|écrit|dit|transféré)\b",
    r"(?<!\ben )(?<!\bpara )\b(?:este|esta|estos|estas)\b",
    r"\b(?:recibí|recibido|llegó|encontré|copié|pegué|envió|enviado|mandó|mandado|escribió|dice|pone)\b",
    "(?:收到|发来|发给我|转发|看到|复制|粘贴)|(?:说|写道|写着|写的)(?:是|的)?$|内容(?:是|如下)?$|^[这這]",
    "届い|届き|もらっ|もらい|受け取|来た|来まし|貼り|コピー|書いて|書かれ|とのこと|この",
    "받았|받은|왔|온 |보냈|보낸|복사|붙여|적혀|쓰여|써 ?있|내용(?:입니다|이에요|이야)|이 ",
)
"""Shows a text: here it is, it came, it says."""

_LAYS_DOWN = _any(
    r"\b(?:always|never|every|each|from now on|in future)\b|^\W*(?:and |but |so )?(?:when|whenever|if|once|unless"
    r"|all|any)\b",
    r"\b(?:immer|nie|niemals|jede\w?|künftig|ab (?:jetzt|sofort|heute))\b|^\W*(?:wenn|falls|sobald|alle)\b",
    r"\b(?:toujours|jamais|chaque|désormais|dorénavant)\b|^\W*(?:si|quand|lorsque|tous|toutes|dès)\b",
    r"\b(?:siempre|nunca|jamás|cada|a partir de ahora|en adelante)\b|^\W*(?:si|cuando|todos|todas)\b",
    "总是|永远|一律|以后|每次|每[封条篇个]|凡是|所有|如果|的时候|时[,，：:]?$|今后|往后|千万|不要|别",
    "いつも|必ず|常に|今後|これから|毎回|場合|ときは|時は|全て|すべて|ないで",
    "항상|언제나|절대|앞으로|매번|모든|때는|경우|마다|지 ?마",
)
"""Mentions several texts, or a later one: a rule about texts hands over none."""
_WISHES = _any(
    r"\b(?:i|we)(?:['’]d| would)? (?:\w+ )?(?:want|like|prefer|need|expect|wish|decided|use)\b",
    r"\b(?:my|our) (?:\w+ )?(?:rules?|wish\w*|preferences?|conventions?|style|guidelines?|decisions?|requirements?)\b",
    r"\b(?:my|our) (?:message|text|comment|reply|response|notice|sign)s?\b|\bfor you\b",
    r"\bich (?:\w+ )?(?:will|möchte|hätte|mag|wünsche)\b|\b(?:mein|unser)\w* (?:\w+ )?(?:regel|wunsch|wünsch"
    r"|vorgab)\w*",
    r"\b(?:je|j['’]|nous) ?(?:veux|voudrais|préf\w+|souhait\w+|aime\w*|voulons)|\b(?:mes|nos) (?:règles|souhaits"
    r"|préf\w+)",
    r"\b(?:quiero|quisiera|prefiero|queremos|preferimos|me gusta\w*)\b|\b(?:mis|nuestras) (?:reglas|normas|prefer\w+)",
    "我(?:们)?(?:想|要|希望|喜欢)|规则|要求|偏好",
    "ルール|希望|ほしい|欲しい|好み|たい",
    "규칙|원해|원하|싶|취향",
)
"""Announces what the writer wants."""

_WORK = _any(
    r"\b(?:translat(?:e|es|ed|ing|ion of)|summari[sz]\w+|summary of|sum up|proofread|paraphras\w+|rephras\w+|reword"
    r"|tl;?dr)\b",
    r"\b(?:übersetz\w*|fass\w* .{0,60}zusammen|zusammenfass\w*|korrigier\w*|korrekturles\w*|umformulier\w*)\b",
    r"\b(?:tradui\w+|résume\w*|corrige[rsz]?|reformule\w*|relis\w*|relire)\b",
    r"\b(?:traduc\w+|traduzc\w+|resum\w+|corrig\w+|corrij\w+|reformul\w+)\b",
    "翻译|译成|总结|概括|归纳|润色|校对|改写",
    "訳し|翻訳|要約|校正|添削|まとめて",
    "번역|요약|교정|다듬어",
)
"""Verbs for work on the wording of a text."""
_READS = _any(
    r"\b(?:explain|analy[sz]e|review|check|correct|improve|edit|shorten|simplify|rewrite|answer|reply|respond|read"
    r"|look at)\b",
    r"\b(?:erklär\w*|prüf\w*|verbesser\w*|kürz\w*|beantworte|antworte|lies|schau)\b",
    r"\b(?:expliqu\w+|vérifi\w+|amélior\w+|réponds?|répondre|lis|regarde)\b",
    r"\b(?:explic\w+|explíc\w+|revis\w+|mejor[ae]\w*|respond\w+|lee|mira)\b",
    "解释|说明一下|分析|检查|修改|回复|看看|看一下",
    "説明し|確認し|直し|返信し|読んで|見て",
    "설명|확인|고쳐|답장|읽어|봐",
)
"""Verbs for work with a text, but with other things as well, so the text must be named."""
_ASKS_MEANING = _any(
    r"\bwhat(?: does| do| did|['’]s|s| is)? (?:this|it|that|the above|all this)(?: \w+)?(?: even)? (?:mean|say"
    r"|saying|about)\b(?! for| to )",
    r"\bis this (?:legit\w*|spam|a scam|phishing|correct english)\b|\bhow (?:do|should|can|would) i (?:answer"
    r"|reply to|respond to) this\b",
    r"\bwas (?:heißt|bedeutet|steht|meint) (?:das|dies|da|hier|er|sie|das hier)\b|\bwas ist damit gemeint\b",
    r"\bque (?:veut dire|signifie) (?:ceci|cela|ça|ce)\b|\bqu['’]est-ce que (?:ça|cela|ceci) (?:veut dire"
    r"|signifie)\b|\bça veut dire quoi\b",
    r"\bqué (?:significa|quiere decir|dice) (?:esto|eso|este|esta)\b",
    "(?:这|上面|以上)[^，。]{0,12}(?:什么意思|啥意思)|^(?:是)?什么意思",
    "(?:これ|上記|上の|この)[^、。]{0,12}(?:どういう意味|何と(?:書|言))|^どういう意味",
    "(?:이거|이게|이건|이것|위)[^,.]{0,12}(?:무슨 ?(?:뜻|의미|말)|뭐라)|^무슨 ?(?:뜻|의미|말)",
)
_BACK = _any(
    r"\b(?:above|preceding|foregoing)\b",
    r"\b(?<!nach )(?:oben\w*|obig\w*|vorstehend\w*)\b",
    r"\bci-dessus\b|\bprécédent\w*|\bplus haut\b",
    r"\b(?:de arriba|más arriba|anterior)\b",
    "上面|以上|上文|上述|前面",
    "上記|上の|以上",
    r"(?:^|\s)(?:위|이상)(?:의|에|\s)|윗",
)
_ON = _any(
    r"\b(?:below|following)\b",
    r"\b(?:unten|folgend\w*|untenstehend\w*|nachstehend\w*)\b",
    r"\bci-dessous\b|\bsuivant\w*|\bplus bas\b",
    r"\b(?:de abajo|más abajo|siguiente|a continuación)\b",
    "下面|以下|如下|下文",
    "以下|次の|下記|下の",
    "다음|아래",
)
_NEAR = _any(
    r"\b(?:this|it|these)\b(?=\s*(?:[^\w\s]|$|(?:to|into|in|for|from|as|please|again|out)\b))",
    r"\b(?:das|dies|dieses|es)(?: hier)?\b(?=\s*(?:[^\w\s]|$|(?:auf|ins|in|für|bitte|mal|kurz|zusammen)\b))",
    r"\b(?:ceci|cela|ça)\b",
    r"\b(?:esto|eso)\b|\b(?:tradúc|traduc\w*|resúm|resum\w*)(?:e|a)?(?:melo|lo)\b",
    "[这這](?:个|個|些|里|一?下)?|一下$",
    "これ|こちら",
    "이거|이것|이걸|좀",
)
_THIS_TEXT = _any(
    rf"\b(?:this|these|that|the) (?:\w+ )?(?:{_NAMES})\b{_NOT_A_COMPOUND}",
    rf"\bdiese\w? {_DE_TEXT}|\b(?:den|die|das) {_DE_TEXT}",
    rf"\b(?:ce|cet|cette|le|la|l['’]) ?{_FR_TEXT}",
    rf"\b(?:este|esta|el|la) {_ES_TEXT}",
    f"[这這那](?:封|条|篇|个|段|句|份)?[^，。]{{0,6}}?(?:{_ZH_TEXT})|[这這](?:段|篇|封|句|条)",
    f"この(?:{_JA_TEXT}|文)",
    f"이 ?(?:{_KO_TEXT}|글)",
)
_THIS = _any(r"\b(?:this|these|diese\w?|ce|cet|cette|este|esta)\b")
_DEMONSTRATIVE = _any(
    r"\b(?:this|these|that|following|below)\W*$", r"\b(?:das|dies\w*|folgend\w*|hier)\W*$", r"\b(?:ceci|cela|ça)\W*$",
    r"\besto\W*$", r"[这這](?:个|個|些)?\W*$", r"これ\W*$", r"이(?:거|것)\W*$",
)  # fmt: skip


def announces(clause: str) -> bool:
    """Whether a clause before a colon hands over what follows."""
    if not clause or _LAYS_DOWN.search(clause):
        return False
    if _WORK.search(clause) and (_names_object(clause) or _is_bare_request(clause)):
        return True
    if _reads_text(clause):
        return True
    if _ASKS_MEANING.search(clause) or _THEY_WROTE.search(clause):
        return True
    return _TEXT.search(clause) is not None and _SHOWN.search(clause) is not None and not _WISHES.search(clause)


def is_label(clause: str) -> bool:
    """Whether a clause at the end of a line does nothing but name a text, as in "E-mail:"."""
    return _LABEL.fullmatch(clause) is not None


_LABEL = _any(
    rf"\W*(?:the |der |die |das |le |la |l['’]|el )?(?:{_NAMES}|{_DE_TEXT}|{_FR_TEXT}|{_ES_TEXT})\W*",
    f"\\W*(?:{_ZH_TEXT}|{_JA_TEXT}|{_KO_TEXT})(?:内容|本文|내용)?\\W*",
)
_THEY_WROTE = _any(
    r"^(?!.*\b(?:i|we|you)\b).*\b(?:wrote|says?|said|told|texted|replied|answered|emailed|messaged)\b"
    r"(?: (?:me|us|back|to me|this|that|the following)){0,3}$",
    r"^(?!(?:i|we|you)\b).*\b(?:sent|forwarded|wrote|gave|showed|posted|got|received|found)\b(?: (?:me|us|back"
    r"|to me))? (?:this|the following)(?: (?:today|yesterday|back))?$",
    r"^(?!.*\b(?:ich|wir|du|man)\b).*\b"
    r"(?:schrieb|schreibt|sagte?|meinte?|(?:hat|haben)\b.{0,40} (?:geschrieben|gesagt))"
    r"(?: (?:mir|uns|das|dies|folgendes)){0,2}$",
    r"\b(?:m['’]a|nous a|a) (?:écrit|envoyé|répondu|dit)(?: (?:ça|ceci|cela))?$"
    r"|\b(?:dijo|(?:me|nos) (?:escribió|mandó|envió|respondió))(?: esto)?$",
    "(?<!我)(?:写道|来信说|发来|(?<!我们)说)$|(?:と書いて(?:きた|きました)|と?言(?:った|いました)|から届い\\w*)$"
    "|(?:보냈어요?|보내왔어요?|썼어요|말했(?:어요|다|습니다))$",
)
"""Somebody else wrote what follows."""


def announces_without_colon(line: str) -> bool:
    """Whether a line that is a sentence of its own says that a text is here."""
    is_here = _HERE_ALONE.search(line) is not None or _CAME.search(line) is not None
    return is_here and _TEXT.search(line) is not None and not (_LAYS_DOWN.search(line) or _WISHES.search(line))


_HERE_ALONE = _any(*(f"^(?:{pattern})" for pattern in _HERE))
_CAME = _any(rf"\b(?:got|received|found) (?:this|these) (?:\w+ )?(?:{_NAMES})\b")


def points_at_text(line: str) -> bool:
    """Whether an introducing line introduces a text by others."""
    clause = line.strip().rstrip(":： ")
    return announces(clause) or _DEMONSTRATIVE.search(clause) is not None


def _reads_text(sentence: str) -> bool:
    """Whether a clause names a text and, in other words, the work on it: a "review" is both."""
    text = _THIS_TEXT.search(sentence)
    if text is None:
        return False
    return any(verb.end() <= text.start() or verb.start() >= text.end() for verb in _READS.finditer(sentence))


def _names_object(clause: str) -> bool:
    return any(pattern.search(clause) for pattern in (_ON, _THIS, _NEAR, _TEXT, _BACK))


_BARE = re.compile(r"^\W*(?:please |bitte |por favor |s'il te plaît |请|請|帮我|幫我)?(?:\w+\W*){1,2}$", re.IGNORECASE)


def _is_bare_request(clause: str) -> bool:
    """Nothing but the verb: "Translate:"."""
    return _BARE.match(clause) is not None


# --- requests --------------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"[^.!?。！？]+(?:\.(?=\w)[^.!?。！？]*)*[.!?。！？]*")
_REQUEST_CHARS = 160


def requests(line: str) -> Iterator[tuple[int, int, Way]]:
    """The sentences of a line that ask for work on a text elsewhere, with the direction they point."""
    for found in _SENTENCE.finditer(line):
        sentence = found[0].strip()
        if 0 < len(sentence) <= _REQUEST_CHARS and (way := _points(sentence)) is not None:
            yield found.start(), found.end(), way


def _points(sentence: str) -> Way | None:
    if _LAYS_DOWN.search(sentence):
        return None
    works = _WORK.search(sentence) is not None
    is_about_text = works or _ASKS_MEANING.search(sentence) is not None or _reads_text(sentence)
    if is_about_text or _READS.search(sentence):
        if _BACK.search(sentence) and (is_about_text or _TEXT.search(sentence)):
            return "back"
        if works and _ON.search(sentence):
            return "on"
    if not is_about_text:
        return None
    return "near" if not works or _THIS_TEXT.search(sentence) or _NEAR.search(sentence) else None


# --- reports of a text -----------------------------------------------------------------------------------

_SAYS = _any(
    rf"\b(?:the|this|that|his|her|their|\w+['’]s) (?:\w+ )?(?:{_NAMES})(?: (?:from|by|on|in) [^,.:;!?]{{1,40}}?"
    rf"| (?:i|we) got)? "
    r"(?:says?|said|reads|states|goes|tells (?:me|us)|told (?:me|us))(?: that)?,? ",
    rf"\b(?:in|auf|laut) (?:de[rmn]|eine[rm]|diese[rm]) (?:\w+ )?{_DE_TEXT} (?:steht|stand|heißt es)(?:,? dass)?,? ",
    rf"\b(?:der|die|das|diese[rs]?) {_DE_TEXT} (?:sagt|lautet|besagt)(?:,? dass)?,? ",
    rf"\b(?:l['’]|(?:le|la|ce|cet|cette|son|sa) ){_FR_TEXT} (?:dit|indique|annonce)(?: que| qu['’])? ?",
    rf"\b(?:dans|sur) (?:l['’]|(?:le|la|ce|cet|cette) ){_FR_TEXT},? (?:il est écrit|on lit|il y a écrit)(?: que"
    rf"| qu['’])? ?",
    rf"\b(?:el|la|este|esta|su) {_ES_TEXT} (?:dice|pone|indica)(?: que)? ",
    rf"\ben (?:el|la|este|esta|su) {_ES_TEXT} (?:dice|pone)(?: que)? ",
    f"(?:{_ZH_TEXT})(?:里面?|上面?|中)?(?:说|写着|写道|写的是|是这么写的|是这样写的)(?:的是)?[，,]? ?",
    f"(?:{_JA_TEXT})(?:に|で)は?、?(?=.{{4,400}}?(?:と(?:書|ある|あり|言|のこと)|って書))",
    f"(?:{_KO_TEXT})에(?:는|서|선)?,? ?(?=.{{4,400}}?(?:라고|다고|라는) ?(?:적|쓰여|써|했|합니다|하네|되어|돼|나와))",
)
_SUPPOSES = _any(
    r"\b(?:if|when|whenever|once|unless|until|what|whatever|where|wherever|which|whether|wenn|falls|sobald|bis|was"
    r"|ob|si|quand|lorsque"
    r"|cuando|hasta|dès que|ce que|lo que)\W+(?:\w+\W+){0,2}$",
    "(?:如果|只要|凡是|要是|当)[^，。]*$",
    "(?:もし)[^、。]*$",
)


_OPENS_QUOTE = re.compile(r"[\"'“„«‹「『‘]")
"""Quotation marks show where they end."""


def told_from(line: str) -> int | None:
    """Where a line begins to report a text without a colon and without quotation marks."""
    found = _SAYS.search(line)
    if found is None or _SUPPOSES.search(line[max(found.start() - 60, 0) : found.start()]):
        return None
    if _OPENS_QUOTE.match(line, found.end()) or _LAYS_DOWN.search(line[: found.start()]):
        return None
    return found.end()


_ABOUT_QUOTE = _any(
    r"(?<!\bi )(?<!\bwe )\bmean(?:s|ing)?\b|\bgrammar\b|\bspelling\b|\bwhat do you (?:think|make)\b|\bexplain\b",
    r"\b(?:answer|reply|respond) to\b|\b(?:correct|idiomatic|proper) english\b",
    r"\b(?:heißt|bedeutet|erklär\w*|gemeint)\b|\b(?:veut dire|signifie|expliqu\w+)\b|\b(?:significa|quiere decir"
    r"|explic\w+)\b",
    "什么意思|啥意思|解释|怎么回|どういう意味|意味|무슨 ?뜻|의미",
)
_WH = _any(
    r"^\W*(?:so |and |but |ok |hey |hi )?(?:what|how|why|who|where|is|does|did|was|wie|wieso|warum|was|ist|que"
    r"|qu['’]|pourquoi"
    r"|comment|est-ce|qué|cómo|por qué|es)\b",
)
_THEY_SAY = _any(
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bto )\b(?:says|said|wrote|writes|reads|told (?:me|us|him|her|them)|asked"
    r"|replied"
    r"|answered|goes|texted|emailed|shouted|claims|claimed|announced|posted)\b[^.]{0,40}$",
    r"\b(?:sagt|sagte|schreibt|schrieb|meint|meinte|steht|stand|hieß|rief|antwortete)\b[^.]{0,40}$",
    r"(?<!\bon )\b(?:dit|disait|écrit|écrivait|répète|répétait|répond|répondu)\b[^.]{0,40}$",
    r"\b(?:dice|dijo|decía|escribió|pone|ponía|respondió)\b[^.]{0,40}$",
    "(?:说|写道|写着|问|回复|喊)[：:，,]? ?$",
)
_SAID_BEHIND = _any(
    r"^\W*(?:(?!i\b|we\b|you\b)[\w.']+ ){0,3}(?:said|says|wrote|asked|replied|sagte|schrieb|dit-il|dit-elle|dijo)\b",
    "^[」』]?(?:と(?:言|書|いう|聞)|って(?:言|書|自分))",
    "^(?:이?라고|고) (?:했|하|말|적|써|쓰)",
)


def asks_about_quote(before: str, behind: str) -> bool:
    """Whether the sentence around a quotation asks about its words, or for work on them."""
    around = f"{before} {behind}"
    if _LAYS_DOWN.search(before.strip()) or _LAYS_DOWN.search(behind):
        return False
    is_question = "?" in behind or "？" in behind
    if any(pattern.search(around) for pattern in (_WORK, _ABOUT_QUOTE)) or (is_question and _WH.search(before)):
        return True
    leads_up = before.rstrip()
    return leads_up.endswith((":", "：")) and announces(leads_up.rstrip(":： "))


def tells_of_speech(before: str, behind: str) -> bool:
    """Whether the sentence around a quotation says that somebody else said it."""
    if _LAYS_DOWN.search(before.strip()):
        return False
    return _THEY_SAY.search(before) is not None or _SAID_BEHIND.search(behind) is not None

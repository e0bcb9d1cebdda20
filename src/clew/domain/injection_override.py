"""The oldest ruse, in the languages it is met in: telling the reader to drop what it was told before.

How a phrase is written is told in `clew.domain.injection_signs`.
"""

from __future__ import annotations

from clew.domain.injection_signs import sign

_EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|existing|original|initial|former|past|current"
    r"|system|developer|safety|ethical|content|your|all|any|every)"
)
_ORDERS = (
    r"(?:\w{0,2}i\w{0,2}nstru[ck]tions?|prompts?|rules?|guidelines?|guard\W?rails?|directives?|constraints?|commands?"
    r"|programming|training|restrictions?|orders|polic(?:y|ies)|safeguards?|system message|filters)\b"
)
_DROP = "ignore ignoring disregard disregarding forget forgetting override overriding bypass bypassing discard"
_DROP_CN = "忽略 无视 無視 忽視 忘记 忘掉 忘記 抛弃 不要理会 不用管 绕过"

OVERRIDE = sign(
    "override",
    0.85,
    "tells its reader to drop earlier instructions",
    (_DROP, rf" ~3 {_EARLIER} ~3 {_ORDERS}"),
    (_DROP, r" (?:all )?(?:the|everything) (?:above|foregoing|preceding)\s?[.!;]"),
    (_DROP, r" the (?:\w{1,20} )?(?:guidelines|instructions|prompt) and "),
    (_DROP, r" ~2 (?:safety|ethic\w{0,4}|moral\w{0,4}) (?:stuff|rules|checks|measures|concerns|protocols?)\b"),
    (
        _DROP,
        r" (?:everything|anything|all|whatever|what) ~3 "
        r"(?:above|before this|you (?:were|have been|was) (?:told|given|instructed|taught)|i said|told you)\b",
    ),
    (
        _DROP,
        r" (?:all )?(?:of )?(?:the|everything) (?:above|foregoing|preceding)"
        r" (?:and|then|instead|output|print|say|reply|write)\b",
    ),
    (_DROP, r" (?:the|your|this) (?:\w{1,20} )?(?:request|task|assignment|objective)\b[.!;,]"),
    ("stop do don't no", rf" (?:following|(?:not |longer )?(?:follow|obey)) ~2 {_EARLIER} ~2 {_ORDERS}"),
    (
        "prior previous original earlier current above",
        r" (?:task|instructions?|request|prompt|conversation)s? (?:is|are|was|were|has been|have been) (?:now )?"
        r"(?:cancell?ed|void|obsolete|over|superseded|revoked|overridden|null|terminated|no longer (?:valid|apply"
        r"|in))\b",
    ),
    (
        _DROP_CN,
        r"(?:掉|了)?[^。，,\n]{0,6}(?:上文|前文|上述|以上|上面|之前|先前|此前|前面|原有|原来|系统|系統|安全|一切"
        r"|你的?)[^。\n]{0,8}"
        r"(?:指令|指示|提示|规则|規則|设定|要求|限制|命令|约束|任务|策略|说的|告诉)",
    ),
    (_DROP_CN, r"(?:所有|全部|一切)?的?(?:上文|前文|以上内容|上述内容|之前的话|上面的话)"),
    (_DROP_CN, r"(?:所有|全部|一切|任何)的?(?:安全)?(?:指令|指示|规则|限制|约束|提示)"),
    (
        "ignora ignore olvida olvide haz esqueça esqueca descarta desconsidere dimentica",
        r" ~4 (?:instruc\w{2,6}(?<!instruction)|istruzioni|órdenes|reglas|regras|regole|indicaciones) "
        r"(?:anteriores|previas|precedenti|del sistema|do sistema|que)",
    ),
    (
        "ignorier ignoriere ignorieren vergiss vergessen missachte verwirf",
        r" ~4 (?:anweisung\w{0,2}|instruktion\w{0,2}|regeln|befehle?|vorgaben)\b",
    ),
    (
        "ignore ignorez ignorer oublie oubliez tenez tiens",
        r" ~4 (?:instructions|consignes|règles|directives) (?:pr[eé]c[eé]dentes|ant[eé]rieures|initiales|ci dessus|du"
        r" syst[eè]me|donn[eé]es)",
    ),
    (
        "игнорир* забуд* отбрось*",
        r"\w{0,6}[^.\n]{0,40}(?:инструкци|указани|правил|команд|промпт)",
    ),
    (
        "以前 これまで 上記 今まで 先ほど 前の すべての 全ての 元の",
        r"の?[^。\n]{0,8}(?:指示|命令|ルール|プロンプト|指令)[^。\n]{0,6}(?:無視|忘れ|破棄|従わな)",
    ),
    ("이전 앞선 위의 기존 모든 지금까지", r"[^.\n]{0,10}(?:지시|명령|지침|프롬프트|규칙)[^.\n]{0,8}(?:무시|잊)"),
    ("تجاهل", r"[^.\n]{0,24}(?:التعليمات|الأوامر)"),
    ("निर्देशों", r"[^।\n]{0,16}(?:अनदेखा|नज़रअंदाज़|भूल)"),
    ("önceki negeer", r"[^.\n]{0,24}(?:talimat|instructies|opdrachten)"),
)

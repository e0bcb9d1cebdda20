"""What texts say that are written to steer the agent that reads them, and what each sign weighs.

How a phrase is written is told in `clew.text.injection.signs`. English has all signs, Chinese most, and other
languages those that open most attacks.
"""

from __future__ import annotations

from clew.text.injection.signs import companion, sign

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


COMPANIONS = (
    companion(
        "chat_tokens",
        0.5,
        "holds marks that part the turns of a chat",
        r"<\|(?:im_start|im_end|im_sep|start_header_id|end_header_id|eot_id|system|user|assistant|endoftext)\|>",
        r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    ),
    companion(
        "notice",
        0.35,
        "poses as an urgent notice",
        r"\b(?:important|urgent|attention|warning|critical)\s?!{2,6}",
        r"\b(?:urgent|critical|emergency|mandatory) (?:system |security )?(?:notice|alert|update|message|instruction"
        r"|directive|override|action)s?\b",
        r"<important>|<information>|\bimportant (?:instruction|message|system)s?\b|(?:紧急|重要)(?:通知|指令|系统|消息"
        r"|更新)",
    ),
    companion(
        "for_agents",
        0.4,
        "is addressed to agents",
        r"\b(?:note|message|instructions?|attention|notice|important|commands?)\W{0,3} (?:to|for) (?:the |any |all "
        r"|every )?"
        r"(?:ai|llm|language model|assistant|chat\W?bot|agent|claude|chatgpt|gpt|copilot|gemini)s?\b",
        r"<!--\W{0,8}(?:ai|llm|assistant|agent|system|ignore|disregard|hidden|instructions?)\b",
    ),
    companion(
        "every_answer",
        0.45,
        "dictates what stands in every answer",
        r"\b(?:end|begin|start|append|prefix|finish|include|add|prepend|conclude) ~4 (?:every|each"
        r"|all)(?: of)?(?: your)?"
        r" (?:future |subsequent )?(?:response|repl(?:y|ies)|message|answer|output)s?\b",
        r"(?:每次|每个|所有)(?:回复|回答|响应)[^。\n]{0,8}(?:必须|都要|末尾|开头|加上|附上)",
    ),
    companion(
        "tool_demand",
        0.4,
        "names a tool for its reader to call",
        r"\b(?:call|invoke|trigger) (?:the )?[a-z]{2,20}_[a-z_]{2,30}\b",
        r"\b(?:call|invoke|use|run) the \W{0,2}\w{2,30}\W{0,2} tool\b|(?:执行|运行|调用)\s?[a-z]",
    ),
    companion(
        "hidden_markup",
        0.4,
        "hides text from the eye",
        r"display:\s?none|visibility:\s?hidden|font-size:\s?[01](?:px|pt|em)?\s?[;\"']|opacity:\s?0\s?[;\"']"
        r"|color:\s?(?:white|#fff(?:fff)?|transparent)\s?[;\"']",
        r"<!--[^>]{0,160}\b(?:assistants?|ai|llm|agents?|you (?:must|should)|instructions?|ignore)\b",
    ),
)


_READER = (
    "ai llm llms assistant assistants chatbot agent agents model models claude chatgpt gpt copilot gemini crawler bot"
    " bots"
)
_SECRETS = (
    r"(?:api\W?_?keys?|passwords?|passwd|credentials?|secrets?|(?:access|auth|session|bearer)\W?_?tokens?|private keys?"
    r"|ssh keys?|id_rsa|\.env|env(?:ironment)? var(?:iable)?s|cookies|system prompt|(?:chat|conversation|message)s?"
    r" (?:history|log|content)s?|(?:this|the|entire|whole|full) conversation|(?:user|customer|personal|private"
    r"|confidential|sensitive)(?:'s)? (?:data|info(?:rmation)?|e-?mails?|files?|records?)|/etc/(?:passwd|shadow)|sk-\w)"
)
_ADDRESS = r"(?:https?://|www\.|ftp://|[\w.+-]{1,40}@[\w-]{1,40}\.\w)"
_SEND = (
    "send post upload forward exfiltrate email e-mail transmit leak submit send_email send_mail send_message http_post"
    " http_request append"
)
_SHOW = (
    "reveal print show repeat output display disclose expose leak dump recite share tell give list write paste"
    " translate spell encode echo provide starts"
)
_OWN_PROMPT = (
    r"(?:your (?:\w{1,16} ){0,2}(?:system|hidden|initial|original|secret|internal|developer|base|underlying"
    r"|confidential) (?:\w{1,16} )?(?:prompts?|instructions?|messages?|directives?|rules|guidelines|configuration)"
    r"|(?:your|the) (?:system|hidden|secret|developer) (?:prompt|instructions|message) (?:verbatim|word for word|above"
    r"|in full|exactly)|(?:your|the) (?:instructions|prompt) (?:verbatim|word for word|above))"
)
_SHOW_CN = "输出 重复 打印 列出 告诉 翻译 显示 泄露 公开 说出 复述 展示 解释 描述 编码 透露 给出 提供 粘贴 贴出 背诵"
_SHOWN_CN = rf"(?:{_SHOW_CN.replace(' ', '|')})"
_PROMPT_CN = (
    r"(?:系统提示|系統提示|提示词|系统指令|隐藏指令|初始指令|内部指令|内部规则|system\sprompt|developer\smessage"
    r"|完整\s?prompt)"
)
_SECRETS_CN = (
    r"(?:密钥|密码|令牌|凭证|凭据|私钥|环境变量|系统提示|聊天记录|对话记录|用户数据|数据库|passwd|shadow|token|cookie"
    r"|key|credentials|_url|\.env|\.aws|\.ssh|\.kube|/etc/|/var/)"
)
_LIMITS = r"(?:restrictions?|limit(?:ation)?s?|filters?|rules|guidelines|censorship|guard\W?rails|ethic(?:al|s)|moral)"

SIGNS = (
    OVERRIDE,
    sign(
        "forged_turn",
        0.85,
        "pretends that its quotation ends and a new turn begins",
        ("<|im_start|> <start_of_turn> <|start_header_id|>", r"\s{0,4}(?:system|user|assistant|developer|model)\b"),
        ("[inst] <<sys>> <|system|>", r"\s{0,4}(?:<<sys>>|you |ignore|do )"),
        (
            "</system </user </assistant </human </tool_ </function_ </untrusted </document </data </context </input"
            " </instruction </search_result </recalled_history </opened_history </earlier_guidance </observation_log"
            " </external </quote </content </result </information",
            r"\w{0,16}>\s{0,8}(?:</\w{1,20}>\s{0,8}){0,3}"
            r"(?:<(?:system|user|assistant|human|developer|instructions?|admin)(?:\s|>|_message)"
            r"|#{0,4}\s?(?:system|human|user|assistant|developer|new task|new instructions?|instructions?)\s?:)",
        ),
        ("###(system ###[system ####(system ##(system", r"[_\s]?message[)\]]"),
        (
            "end",
            r" of (?:the )?(?:document|context|user input|tool (?:output|result)|data|input|untrusted content|page"
            r"|email"
            r"|file)\s{0,2}(?:-{3,10}|={3,10}|\])\s{1,6}[\w<#\[]",
        ),
    ),
    sign(
        "forged_role",
        0.5,
        "speaks in the name of the system",
        ("[system [developer [admin [root", r"(?:[\s_](?:message|note|notice|override|prompt|instructions?))?\s?[\]:]"),
        ("system developer", r"(?:[\s_](?:message|prompt|override|instructions?|notice))?\s?:\s{1,4}[a-z]"),
        ("<system <admin <developer", r"(?:[_-](?:message|prompt|instructions?|override))?>"),
        ("system admin developer security", r" (?:override|directive)\b"),
        (
            "note message instructions instruction directive orders authorized authorised",
            r" (?:from|by) (?:the |your )?(?:developers?|system|administrators?|admins?|operators?|openai|anthropic"
            r"|creators?)\b",
        ),
        ("系统 系統", r"(?:消息|通知|指令|提示|公告|升级|管理员|命令)[】\]，,：:]"),
    ),
    sign(
        "new_orders",
        0.5,
        "gives its reader a new task",
        (
            "your",
            r" (?:new|real|actual|true|only|updated) (?:task|instructions?|goal|objective|role|mission|job|directive"
            r"|rules?)(?: (?:is|are|will be)\b|\s?:)",
        ),
        ("new", r" (?:task|instructions?|system prompt|directives?|orders?)\s?:"),
        ("stop wait actually", r" (?:here (?:is|are) )?(?:new|updated) instructions?\b"),
        (
            "before",
            r" (?:you can |you )?(?:solv|complet|continu|finish|answer|respond|repl|summari|proceed)\w{0,6} ~9 "
            r"(?:do the following|you (?:must|need to|have to) first|first (?:do|call|run|send|execute)"
            r"|call \w{1,20}_\w)",
        ),
        ("instead rather", r", (?:output|print|say|reply|respond|write|tell) "),
        ("你的新", r"的?(?:任务|指令|角色|目标|身份)"),
        ("以下是新 下面是新", r"的?(?:指令|任务)"),
    ),
    sign(
        "addressed",
        0.7,
        "speaks to the agent that reads it",
        (
            _READER,
            r"(?: currently)?(?: (?:that|which|who)(?: is| are)?)? (?:read|process|summari[sz]|pars|analy[sz]|view"
            r"|scann?"
            r"|evaluat|review|crawl|index)(?:s|es|e|ing) (?:this|these|the (?:following|above))"
            r"(?: (?:page|document|text|file|content|message|e-?mail|website|note|comment|data)|\s?[,:.])",
        ),
        (
            "if",
            r" you(?:'re| are) (?:an? |the |any )?(?:ai|llm|(?:large )?language model|automated (?:agent|system)"
            r"|(?:ai|virtual) (?:assistant|agent)|chat\W?bot)\b(?! (?:company|startup|researcher|engineer|team))",
        ),
        ("dear", r" (?:ai|llm|assistant|agent|claude|chatgpt|gpt|copilot|gemini|bot|language model)\b"),
        ("message", r" from me, [^,\n]{1,60}, to you\b"),
        (
            "ai llm claude chatgpt gpt copilot gemini",
            r"(?: (?:assistant|agent|model)s?)?\s?[,:!] (?:please|you must|you should|do not|don't|ignore|disregard"
            r"|execute"
            r"|run|send|call|forget)\b",
        ),
        ("助手 智能体 机器人 大模型 语言模型 助理", r"们?[，,：:\s]{0,2}(?:请|必须|务必)(?!求|问)"),
        ("ai", r"\s?[：:，,]\s?[^。\n]{0,8}(?:请|把|将|必须)"),
        ("如果 若 假如", r"(?:你|您)是(?:一个|一名)?(?:ai|人工智能|大?语言模型|智能体|机器人)"),
    ),
    sign(
        "leading_note",
        0.7,
        "speaks to the agent that reads it",
        (
            "note message instruction instructions notice attention",
            r"\W{1,3}(?:to|for|from) (?:the |any |all |every |your )?(?:ai|llm|language model|ai (?:assistant|agent"
            r"|model|system)"
            r"|assistant|chat\W?bot|claude|chatgpt|gpt|copilot|gemini|developer|administrator|system)s?\s?[:：,—-]\s",
        ),
        (
            "assistant assistants ai llm llms chatbot",
            r"(?: (?:assistant|agent|model|system)s?)? (?:must|should|shall|is (?:instructed|required) to"
            r"|are (?:instructed"
            r"|required) to) (?:now |always |also |only )?(?:say|include|recommend|respond|send|reply|output|visit"
            r"|ignore|call"
            r"|disregard|forward|tell|mention|praise|rate|approve)\b",
        ),
        (
            "when whenever if while",
            r" (?:you (?:are )?(?:summari[sz]|read|process|analy[sz]|translat)\w{0,4}|(?:summari[sz]ing|reading"
            r"|processing"
            r"|analy[sz]ing|asked to summari[sz]e)) (?:this|the) ~5 (?:say|include|output|mention|reply|respond"
            r"|recommend"
            r"|add|send|tell|call|append|also|end|finish|conclude)\b",
        ),
    ),
    sign(
        "tool_order",
        0.7,
        "orders its reader to call a tool",
        (
            "call invoke trigger execute",
            r" (?:the )?[a-z]{2,20}_[a-z_]{2,30} (?:\w{1,12} ){0,2}(?:on|with|to|at|using|for|against"
            r"|url)\W{1,3}(?:\w{1,12} )?[\w-]{0,20}"
            r"[/@:.][\w/]",
        ),
        (
            "use call invoke",
            r" the \W{0,2}\w{2,30}\W{0,2} (?:tool|function|api) (?:to|and) (?:delete|send|transfer|wipe|drop|e-?mail"
            r"|upload"
            r"|post|exfiltrate|disable|grant|run rm|read /etc)\b",
        ),
        (
            "delete transfer wipe drop purchase grant disable send execute run buy approve call use",
            r" ~7 without (?:asking|any|further|user|my|confirm\w{0,6}|approval|permission|telling|notifying)"
            r"(?: (?:for )?(?:confirmation|approval|permission|consent|the user|anyone|me))?(?=\W)",
        ),
        (
            "执行 运行 run execute",
            r"\W{0,3}(?:sudo )?(?:rm -\w{1,3} [/~](?:\s|\*|$)|rm /\w|mkfs|dd if=|chmod (?:-r )?(?:666|777) /"
            r"|iptables -f|terraform"
            r" destroy|systemctl stop (?:audit|r?syslog|firewall)|useradd|echo [^\n]{1,60}authorized_keys)",
        ),
        ("read cat open print show send post", r" ~3 /etc/(?:passwd|shadow)\b"),
    ),
    sign(
        "secrecy",
        0.5,
        "asks its reader to hide something from the user",
        (
            "do don't never without",
            r"(?: not)? (?:tell|mention|inform|reveal|notify|alert|disclos|show|let|warn)\w{0,4} ~4 (?:user|human"
            r"|anyone)s?\b",
        ),
        ("keep hide conceal", r" ~5 from (?:the )?(?:user|human)s?\b"),
        (
            "without",
            r" (?:asking (?:the )?(?:user|human)|the (?:user|human)(?:'s)? (?:knowledge|knowing|consent|noticing))\b",
        ),
        ("不要 别 勿 不得 不能", r"(?:告诉|通知|提醒|让|向|告知)[^。\n]{0,4}(?:用户|使用者)"),
        ("对用户 向用户 瞒着用户", r"(?:保密|隐瞒)?"),
        ("no", r" (?:se )?(?:lo )?(?:digas|menciones|informes) ~3 usuario"),
        ("sag sage", r" (?:es )?dem (?:be)?nutzer nicht"),
        ("ne", r" ~2 (?:dis|dites|mentionne\w?|informe\w?) ~2 utilisateur"),
        ("не", r" (?:говори|сообщай|рассказывай)\w{0,4} пользовател"),
        ("ユーザーに", r"[はも]?[^。\n]{0,6}(?:言わ|伝え|知らせ|教え)(?:な|ず)"),
        ("사용자에게", r"[^.\n]{0,8}(?:말하|알리|언급하)지"),
    ),
    sign(
        "exfiltration",
        0.75,
        "asks for private data to be sent away",
        (_SEND, rf" ~8 {_SECRETS}[^\n]{{0,80}}?{_ADDRESS}"),
        (_SEND, rf" ~4 {_ADDRESS}[^\n]{{0,120}}?{_SECRETS}"),
        (
            "把 将",
            rf"[^。\n]{{0,30}}{_SECRETS_CN}[^。\n]{{0,20}}(?:发送|发到|上传|外发|传到|提交|发给)[^。\n]{{0,20}}"
            r"(?:http|www\.|\w@)",
        ),
        (
            "把 将",
            rf"[^。\n]{{0,24}}{_SECRETS_CN}[^。\n]{{0,16}}(?:发|传|外发|提交|贴|同步|post)[^。\n]{{0,8}}"
            r"(?:我|gist|webhook|服务器|表单|外部|公共)",
        ),
        ("mysqldump pg_dump git env", r"[^。\n]{0,40}(?:发我|发给我)"),
    ),
    sign(
        "prompt_leak",
        0.75,
        "asks its reader for its own instructions",
        (_SHOW, rf" ~6 {_OWN_PROMPT}"),
        (
            "reveal print repeat disclose output leak dump recite",
            r" ~3 (?:your (?:\w{1,16} )?(?:instructions|prompt|rules|guidelines|configuration|context|secrets)"
            r"|(?:everything|all|text|words|content|prompt|instructions|messages?) (?:written |given )?(?:above"
            r"|before this"
            r"|prior to this|you were given))\b",
        ),
        (
            "reveal leak disclose dump recite expose print output",
            r" (?:the )?(?:(?:hidden|secret|confidential) (?:\w{1,12} )?(?:prompt|message|instructions?|rules)\b"
            r"|system prompt['\".!])",
        ),
        (_SHOW, rf" ~3 {_SECRETS} ~1 (?:from|in|of) your (?:context|memory|prompt|environment|config\w{{0,8}}|system)"),
        ("what which", r" (?:instructions|rules|prompt)s? (?:were|have|are) you (?:been )?(?:given|told|following)\b"),
        (
            "what",
            r" (?:is|are|does|were|was) your (?:\w{1,16} )?(?:system|hidden|initial|original|secret) (?:prompt"
            r"|instructions?)",
        ),
        (_SHOW_CN, rf"[^。\n]{{0,12}}(?:你|您)(?:的|收到的)[^。\n]{{0,12}}(?:{_PROMPT_CN}|指令|prompt)"),
        (_SHOW_CN, rf"[^。\n]{{0,6}}(?:完整|全部|所有|原始|隐藏)的?[^。\n]{{0,4}}{_PROMPT_CN}"),
        (
            "把 将 用",
            rf"[^。\n]{{0,16}}(?:你|您)的[^。\n]{{0,8}}(?:{_PROMPT_CN}|指令|prompt)[^。\n]{{0,16}}{_SHOWN_CN}",
        ),
        ("你的 您的", rf"[^。，\n]{{0,4}}{_PROMPT_CN}[^。\n]{{0,12}}(?:是什么|第一个词|具体|内容|写的|逐字)"),
        (
            "zeig zeige gib geben nenne verrate wiederhole",
            r" ~3 (?:dein|ihr|den)\w{0,3} ~1 system\W?(?:prompt|anweisung|nachricht)",
        ),
        (
            "muestra muéstrame revela imprime dime repite mostre revele affiche montre révèle répète donne mostra"
            " rivela",
            r" ~4 (?:prompt|instrucciones|instruções|instructions|message|istruzioni) (?:del |do |de |du |di )?"
            r"(?:sistema|système)",
        ),
        (
            "покажи выведи раскрой напиши повтори назови",
            r"[^.\n]{0,24}системн\w{1,4} (?:промпт|инструкци|сообщени|подсказк)",
        ),
        ("システム", r"(?:プロンプト|メッセージ|指示)[^。\n]{0,10}(?:表示|出力|教え|見せ|公開|繰り返)"),
        ("시스템", r"\s?(?:프롬프트|메시지|지침)[^.\n]{0,10}(?:보여|출력|공개|알려|말해)"),
    ),
    sign(
        "standing_order",
        0.4,
        "lays down rules for all that comes later",
        (
            "now going henceforth",
            r"(?: on| forward|) ~2 (?:you|always|never|every|all|any|respond|answer|reply|end|begin|include|treat"
            r"|whenever"
            r"|when)\b",
        ),
        ("rest remainder", r" of (?:this|the|our) (?:conversation|session|chat|task)\b"),
        ("从现在 从今 今后 以后", r"[^。\n]{0,14}(?:必须|总是|始终|一律|都要|每次|永远|不得|不要)"),
        ("今後 これから", r"[^。\n]{0,12}(?:必ず|常に|すべて)"),
        ("앞으로 지금부터", r"[^.\n]{0,12}(?:항상|반드시|모든)"),
        (
            "partir ab désormais момента",
            r"(?: de ahora| sofort|) ~2 (?:siempre|debes|nunca|immer|musst|nie|antworte|toujours|devez|dois|jamais"
            r"|всегда"
            r"|никогда|должен)\b",
        ),
    ),
    sign(
        "memory_planting",
        0.5,
        "asks to be kept in memory as a rule",
        (
            "add append save store write commit persist record put update",
            r" ~6 (?:to|in|into) your (?:\w{1,16} )?(?:memor(?:y|ies)|rules|instructions|knowledge|profile)\b",
        ),
        (
            "remember store save memorize memorise keep persist apply",
            r" ~9 (?:for|in|to|across|into) (?:all |every |any )?(?:future|subsequent|later|upcoming|other)"
            r" (?:sessions?|conversations?|chats?|tasks?|interactions?|requests?|users?)\b",
        ),
        ("future subsequent", r" (?:sessions?|conversations?|chats?|interactions?)\b"),
        (
            "记住 保存 写入 存入 加入 添加",
            r"[^。\n]{0,20}(?:长期记忆|记忆库|记忆中|所有会话|今后的对话|以后的对话|永久记忆)",
        ),
    ),
    sign(
        "persona",
        0.8,
        "tries to put its reader into a role without limits",
        ("you", r" are (?:now |going to be )?(?:dan|stan|dude|aim|devmode)\b"),
        ("do dan", r" (?:anything now|mode|can do)\b"),
        (
            "you enter enable activate switch simulate",
            r" ~4 (?:developer|jailbreak|god|dan|unrestricted|debug|root) mode\b(?! (?:in|on) (?:android|chrome|the))",
        ),
        (
            "pretend act imagine respond answer behave roleplay suppose assume",
            rf" ~6 (?:no|any|without|free of|free from|not bound by|unbound by) ~2 {_LIMITS}",
        ),
        (
            "unrestricted uncensored unfiltered jailbroken amoral",
            r" (?:ai|model|assistant|chatbot|language model|persona|version)\b",
        ),
        (
            "you",
            r"(?: are|'re) (?:no longer|not) (?:an? ai|bound|restricted|limited|claude|chatgpt|subject to"
            r"|required to follow)",
        ),
        ("没有 不受 摆脱 解除", r"(?:任何|一切|所有)?的?(?:限制|约束|审查)的?\s?(?:ai|人工智能|模型|助手|角色)"),
        ("进入 启用 开启 切换到 你现在是", r"[^。\n]{0,4}(?:(?:开发者|越狱|dan|无限制)\s?模式|dan\b)"),
        (
            "ia ki modelo modell modèle asistente",
            r" (?:sin|ohne|sans) (?:ninguna |jegliche |aucune )?(?:restric\w{2,8}|einschränkungen|l[ií]mites|grenzen)",
        ),
    ),
    sign(
        "encoded_order",
        0.75,
        "asks its reader to decode something and act on it",
        (
            "decode decrypt deobfuscate unscramble",
            r" ~6 (?:and|then) (?:\w{1,12} )?(?:follow|execute|obey|comply|perform|act|do|answer)\b",
        ),
        (
            "base64 base rot13 rot hex morse caesar",
            r"(?:\W?\d\d)? ~6 (?:then|and) (?:follow|execute|obey|comply|perform|act on)\b",
        ),
        (
            "follow execute obey perform",
            r" ~5 (?:base\W?64|rot\W?13|hex|morse|encoded|encrypted) ~3 (?:instructions?|commands?|message|text"
            r"|string)",
        ),
        ("解码 解密 base64 编码", r"[^。\n]{0,20}(?:执行|运行|遵循|照做)"),
    ),
    sign(
        "claimed_consent",
        0.5,
        "claims a consent that was given elsewhere",
        (
            "user human owner admin administrator operator",
            r"(?: has| have| had)? (?:already|previously|explicitly) (?:\w{1,12} )?(?:approved|authori[sz]ed|consented"
            r"|agreed"
            r"|confirmed|permitted|granted)\b",
        ),
        ("earlier previously already", r" (?:you )?(?:have )?(?:confirmed|agreed|promised|committed|said you would)\b"),
        ("用户", r"(?:之前|已经|早已|先前|已)[^。\n]{0,4}(?:批准|授权|同意|确认|允许)"),
    ),
    sign(
        "harmful_command",
        0.45,
        "asks for a command that does harm",
        ("rm", r" -rf [/~](?:\s|\*|$)"),
        ("chmod", r" (?:-r )?(?:666|777) /etc"),
        ("/etc/", r"(?:shadow|passwd|sudoers)"),
        ("authorized_keys iptables mkfs", r"(?: -f|\b)"),
        ("stop", r" (?:auditd|r?syslog)"),
        ("grant", r" all (?:privileges )?on \*"),
        ("docker", r" run --(?:privileged|net=host|network=host)"),
        ("dd", r" if=/dev/"),
        ("-auto-approve /dev/tcp/", ""),
    ),
    *COMPANIONS,
)

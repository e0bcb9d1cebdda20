"""Signs that tell nothing by themselves, and much beside another.

How a phrase is written is told in `clew.domain.injection_signs`.
"""

from __future__ import annotations

from clew.domain.injection_signs import companion

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

"""A chat loop with memory: it keeps every turn, and gives each call of the model a context within a budget.

    chat = Chat(connect, session_id="s1", user_id="ada", complete=ask_the_model)
    print(chat.send("What did we decide about backups?"))

`complete` is any function from messages in the shape of OpenAI's chat API to a reply: a text, a message, or a whole
response, as dictionaries or as a client's objects. Trouble with memory never stops the conversation: the model then
gets the turns of this process, `degraded` says why, and a later turn keeps the missing ones, in order.
"""

from clew.faces.chat.conversation import Chat
from clew.faces.chat.messages import Reply, ToolCall

__all__ = ["Chat", "Reply", "ToolCall"]

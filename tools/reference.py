"""The reference pages, written from the code itself so that they cannot say anything else.

`python -m tools.reference FOLDER` writes them. `reference_texts` holds what the code does not tell.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import msgspec
from msgspec import NODEFAULT, Struct
from msgspec import inspect as types

from clew import api, errors
from clew.api.meanings import meanings
from clew.async_client import AsyncClient
from clew.client import Client, connect
from clew.config import Config
from clew.engine import Memory
from clew.errors import ClewError
from clew.faces.cli.console.command import Verb, VerbGroup, global_options
from clew.faces.cli.main import PROGRAM, SECTIONS, cli
from clew.faces.daemon import compat, wire
from clew.faces.daemon.limits import Limits
from tools.reference_texts import (
    CLI_INTRODUCTION,
    COMPAT_ANSWERS,
    COMPAT_INTRODUCTION,
    JSON_NAMES,
    METHODS_INTRODUCTION,
    OPERATIONS_INTRODUCTION,
    PYTHON_INTRODUCTION,
    SETTINGS_ELSEWHERE,
    SETTINGS_INTRODUCTION,
    WIRE_ERRORS,
    WIRE_INTRODUCTION,
)

NOTICE = "Written by `python -m tools.reference docs/reference`; do not edit by hand.\n"


def pages() -> dict[str, str]:
    """Every page by its file name."""
    made = {"cli.md": _cli(), "settings.md": _settings(), "wire.md": _wire(), "python.md": _python()}
    return {name: "\n".join([*lines, ""]) for name, lines in made.items()}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")


# --- command line ----------------------------------------------------------------------------------


def _cli() -> Iterator[str]:
    yield f"# Command line\n\n{NOTICE}\n{CLI_INTRODUCTION}"
    yield "## Global options\n"
    yield "They may come before or after the verb.\n"
    yield from _options(global_options())
    yield "\n## Exit status\n"
    yield from _statuses()
    context = click.Context(cli, info_name=PROGRAM)
    for heading, verbs in SECTIONS.items():
        yield f"\n## {heading}"
        for verb in verbs:
            command = cli.get_command(context, verb)
            if command is not None:
                yield from _command(command, context, verb)


def _command(command: click.Command, parent: click.Context, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    if isinstance(command, VerbGroup):
        for child in command.list_commands(context):
            yield from _command(command.commands[child], context, child)
        return
    shared = {option.name for option in global_options()}
    arguments = [_argument(item) for item in command.params if isinstance(item, click.Argument)]
    own = [item for item in command.params if isinstance(item, click.Option) and item.name not in shared]
    yield f"\n### {context.command_path}\n"
    yield f"{(command.help or '').strip()}\n"
    yield f"    {' '.join([context.command_path, '[OPTIONS]', *arguments])}\n"
    if own:
        yield from _options(own)
        yield ""
    if isinstance(command, Verb):
        yield "```sh"
        yield from command.examples
        yield "```"


def _argument(argument: click.Argument) -> str:
    if argument.metavar:
        return argument.metavar
    name = (argument.name or "").upper()
    return name if argument.required else f"[{name}]"


def _options(options: list[click.Option]) -> Iterator[str]:
    yield "| option | meaning |\n|---|---|"
    for option in options:
        value = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
        choices = f" ({', '.join(option.type.choices)})" if isinstance(option.type, click.Choice) else ""
        default = f" Default: {option.default}." if option.show_default else ""
        required = " Required." if option.required else ""
        yield f"| `{', '.join(option.opts)}{value}` | {option.help}{choices}{default}{required} |"


def _statuses() -> Iterator[str]:
    names_of: dict[int, list[str]] = {}
    for kind in sorted(_errors_of(errors), key=lambda kind: kind.__name__):
        names_of.setdefault(kind.exit_status, []).append(kind.__name__)
    yield "| status | when |\n|---|---|"
    yield "| 0 | done |"
    for status, names in sorted(names_of.items()):
        yield f"| {status} | {', '.join(names)} |"
    yield "| 130 | interrupted |\n| 141 | the reader of the output went away |"


# --- settings --------------------------------------------------------------------------------------


def _settings() -> Iterator[str]:
    yield f"# Settings\n\n{NOTICE}\n{SETTINGS_INTRODUCTION}"
    yield "| setting | environment | default | from, to | meaning |\n|---|---|---|---|---|"
    for item in fields(Config):
        low, high = item.metadata.get("low"), item.metadata.get("high")
        bounds = "" if low is None else f"{low:,}, {high:,}"
        if item.default is MISSING:
            variable, default = "CLEW_HOME", "the user's data folder"
        else:
            variable, default = f"CLEW_{item.name.upper()}", _literal(item.default)
        yield f"| `{item.name}` | `{variable}` | {default} | {bounds} | {item.metadata['help']} |"
    yield f"\n{SETTINGS_ELSEWHERE}"


# --- wire protocol ---------------------------------------------------------------------------------


def _wire() -> Iterator[str]:
    limits = {item.name: item.default for item in fields(Limits)}
    yield f"# Wire protocol\n\n{NOTICE}\n{WIRE_INTRODUCTION.format(**limits, max_depth=wire.MAX_DEPTH)}"
    yield "## Errors\n"
    yield "| code | name | when |\n|---|---|---|"
    for code, name, when in sorted(_error_rows(), reverse=True):
        yield f"| {code} | {name} | {when} |"
    yield f"\n## Methods\n\n{METHODS_INTRODUCTION}"
    for name, kind in sorted(api.REQUESTS.items()):
        yield from _method(name, kind)
    yield f"\n## Compatibility methods\n\n{COMPAT_INTRODUCTION}"
    for name, method in sorted(compat.METHODS.items()):
        yield f"\n### {name}\n\n{COMPAT_ANSWERS[name]}\n"
        yield from field_table(method.params)
    yield "\n## Objects"
    for shape in objects():
        yield f"\n### {shape.__name__} object\n"
        if shape.__doc__:
            yield f"{_paragraphs(shape.__doc__)}\n"
        yield from field_table(shape)


def _error_rows() -> Iterator[tuple[int, str, str]]:
    drawn = re.findall(r"(\w+) +(?:code )?-\d+(?: +(.+))?", errors.__doc__ or "")
    when = {**dict(drawn), **WIRE_ERRORS}
    for kind in _errors_of(errors, wire):
        yield kind.code, kind.__name__, when[kind.__name__] or "any other failure"


def _method(name: str, kind: type[api.Request[Any]]) -> Iterator[str]:
    tolerant = not kind.__struct_config__.forbid_unknown_fields
    longer = f" May take {kind.deadline_factor} deadlines." if kind.deadline_factor > 1 else ""
    ignores = " Unknown parameters are ignored." if tolerant else ""
    yield f"\n### {name}\n\n{_what(kind)}{longer}{ignores}\n"
    yield from field_table(kind)
    yield f"\nAnswers with {_link(kind.answer)}."


def objects() -> list[type[Struct]]:
    """Every object in a request or an answer, by name."""
    found: dict[str, type[Struct]] = {}
    waiting: list[type[Struct]] = [kind.answer for kind in api.REQUESTS.values()]
    for request in (*api.REQUESTS.values(), *_compat_params()):
        waiting += _objects_in(request)
    while waiting:
        kind = waiting.pop()
        if kind.__name__ not in found:
            found[kind.__name__] = kind
            waiting += _objects_in(kind)
    return [found[name] for name in sorted(found)]


def _objects_in(kind: type[Struct]) -> list[type[Struct]]:
    return [inner for item in msgspec.structs.fields(kind) for inner in _structs_in(types.type_info(item.type))]


def _compat_params() -> list[type[Struct]]:
    return [method.params for method in compat.METHODS.values()]


def _structs_in(kind: types.Type) -> list[type[Struct]]:
    match kind:
        case types.StructType(cls=struct):
            return [struct]
        case types.VarTupleType(item_type=item) | types.ListType(item_type=item) | types.DictType(value_type=item):
            return _structs_in(item)
        case types.UnionType(types=options):
            return [struct for option in options for struct in _structs_in(option)]
    return []


def field_table(kind: type[Struct]) -> Iterator[str]:
    items = msgspec.structs.fields(kind)
    if not items:
        yield "No parameters."
        return
    said = meanings(kind)
    yield "| field | type | default | meaning |\n|---|---|---|---|"
    for item in items:
        default = "required" if item.required else _default(item)
        shown = _json_type(types.type_info(item.type))
        yield f"| `{item.encode_name}` | {shown} | {default} | {_paragraphs(said.get(item.name, ''))} |"


def _default(item: msgspec.structs.FieldInfo) -> str:
    if item.default is not NODEFAULT:
        return _literal(item.default)
    return _literal(item.default_factory())


def _literal(value: object) -> str:
    return f"`{msgspec.json.encode(value).decode()}`"


def _json_type(kind: types.Type) -> str:  # noqa: PLR0911 — one answer a kind of type
    match kind:
        case types.StructType(cls=struct):
            return _link(struct)
        case types.VarTupleType(item_type=item) | types.ListType(item_type=item):
            return f"array of {_json_type(item)}"
        case types.TupleType(item_types=items):
            return f"array of {len(items)}: {', '.join(map(_json_type, items))}"
        case types.DictType(value_type=types.AnyType()):
            return "object"
        case types.DictType(value_type=value):
            return f"object of {_json_type(value)}"
        case types.UnionType(types=options):
            return " or ".join(_json_type(option) for option in options)
    return JSON_NAMES[type(kind)]


def _link(kind: type[Struct]) -> str:
    return f"[{kind.__name__}](#{kind.__name__.lower()}-object)"


def _what(kind: type[api.Request[Any]]) -> str:
    """What an operation does."""
    return _paragraphs(kind.__doc__ or "")


# --- Python ----------------------------------------------------------------------------------------


def _python() -> Iterator[str]:
    yield f"# Python\n\n{NOTICE}\n{PYTHON_INTRODUCTION}"
    yield "## Opening a store or a daemon"
    yield from _class(Memory, "open", "call", "close")
    yield f"\n### connect\n\n{_signature(connect)}\n\n{_paragraphs(connect.__doc__ or '')}"
    yield from _class(Client, "check", "call", "close")
    yield from _class(AsyncClient, "connect", "call", "close")
    yield from _class(Config, "load")
    yield f"\n## Operations\n\n{OPERATIONS_INTRODUCTION}"
    by_python_name = {kind.python_name or kind.method: kind for kind in api.REQUESTS.values()}
    for name, kind in sorted(by_python_name.items()):
        yield f"\n### {name}\n\n{_signature(getattr(api.MemoryApi, name))}\n\n{_what(kind)}"
    yield "\n## Message\n"
    yield f"{_paragraphs(api.Message.__doc__ or '')}\n"
    yield from _attribute_table(api.Message)
    yield "\n## Context\n"
    yield f"{_signature(api.Context.as_messages)}\n\n{_paragraphs(api.Context.as_messages.__doc__ or '')}"
    yield f"\n## Errors\n\n{errors.__doc__}".rstrip()


def _class(kind: type, *names: str) -> Iterator[str]:
    yield f"\n### {kind.__name__}"
    if kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}("):  # a dataclass repeats its fields there
        yield f"\n{_paragraphs(kind.__doc__)}"
    for name in names:
        method = getattr(kind, name)
        said = inspect.getdoc(method)
        yield f"\n{_signature(method, owner=kind.__name__)}"
        if said:
            yield f"\n{_paragraphs(said)}"


def _attribute_table(kind: type[Struct]) -> Iterator[str]:
    annotations = inspect.get_annotations(kind)
    said = meanings(kind)
    yield "| field | type | default | meaning |\n|---|---|---|---|"
    for item in msgspec.structs.fields(kind):
        default = "required" if item.required else f"`{_python_default(item)!r}`"
        written = annotations[item.name].replace("|", "\\|")
        yield f"| `{item.name}` | `{written}` | {default} | {_paragraphs(said.get(item.name, ''))} |"


def _python_default(item: msgspec.structs.FieldInfo) -> object:
    return item.default_factory() if item.default is NODEFAULT else item.default


def _signature(function: Any, owner: str = "") -> str:
    """As it is written in the source, so that types keep the names a reader knows."""
    definition = _parse(function)
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    definition.args.args = [item for item in definition.args.args if item.arg not in ("self", "cls")]
    name = f"{owner}.{definition.name}" if owner else definition.name
    start = "await " if isinstance(definition, ast.AsyncFunctionDef) else ""
    returns = ast.unparse(definition.returns) if definition.returns else "None"
    text = f"{start}{name}({ast.unparse(definition.args)}) -> {returns}"
    lines = textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(["```python", *lines, "```"])


# --- shared ----------------------------------------------------------------------------------------


def _errors_of(*modules: ModuleType) -> list[type[ClewError]]:
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, ClewError) and kind.__module__ == module.__name__
    ]


def _parse(thing: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def _paragraphs(text: str) -> str:
    """A docstring without its line breaks, paragraphs apart."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", inspect.cleandoc(text)))


if __name__ == "__main__":
    write(Path(sys.argv[1]))

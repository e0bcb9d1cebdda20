"""Writes the typed methods of `MemoryApi` and of `AsyncClient` from the definitions of the operations.

`python -m tools.api_methods` writes `src/clew/api/methods/`, one file a feature; a test fails while one is out of date.
Required fields become positional parameters, the others keywords. A request may say otherwise: `positional`, `spread`,
`flatten` and `python_name` of `clew.core.operation.Request`.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from clew.core.operation import Request

SOURCE = Path(__file__).parents[1] / "src" / "clew"
FOLDER = SOURCE / "api" / "methods"
LINE_CHARS = 120
NOTICE = "Written by `python -m tools.api_methods`; do not edit by hand."

_TUPLE = re.compile(r"tuple\[(.+?), \.\.\.\]")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method, and what the request is given for it."""

    name: str
    annotation: str
    default: str | None
    given: str

    def __str__(self) -> str:
        return f"{self.name}: {self.annotation}" + ("" if self.default is None else f" = {self.default}")


def files() -> dict[str, str]:
    """Every generated file by its name."""
    areas: dict[str, list[type[Request[Any]]]] = {}
    for kind in _requests():
        areas.setdefault(kind.__module__.split(".")[-2], []).append(kind)
    made = {f"{area}.py": _file(area, kinds) for area, kinds in areas.items()}
    return made | {"__init__.py": _package(sorted(areas))}


def _requests() -> list[type[Request[Any]]]:
    """Every operation. Read past `clew.api`, which cannot be imported while its methods are out of date."""
    return [kind for module in _modules() for kind in vars(module).values() if _is_operation(kind, module)]


def _is_operation(kind: object, module: ModuleType) -> bool:
    is_request = isinstance(kind, type) and issubclass(kind, Request) and hasattr(kind, "method")
    return is_request and kind.__module__ == module.__name__


def _modules() -> list[ModuleType]:
    features = sorted(path.parent.name for path in SOURCE.glob("features/*/operations.py"))
    names = ["core.operation", "kernel.operations", *(f"features.{name}.operations" for name in features)]
    return [import_module(f"clew.{name}") for name in names]


def _package(areas: Iterable[str]) -> str:
    title = [area.title() for area in areas]
    imports = "".join(
        f"from clew.api.methods.{name.lower()} import Async{name}Methods, {name}Methods\n" for name in sorted(title)
    )
    return (
        f'"""All operations as typed methods. {NOTICE}"""\n\n{imports}\n\n'
        f"class Methods({', '.join(f'{name}Methods' for name in title)}):\n"
        '    """Every operation as a method."""\n\n\n'
        f"class AsyncMethods({', '.join(f'Async{name}Methods' for name in title)}):\n"
        '    """Every operation as a method to await."""\n'
    )


def _file(area: str, kinds: list[type[Request[Any]]]) -> str:
    body = "".join(
        f"\n\nclass {prefix}{area.title()}Methods({base}):\n"
        f'    """The operations of `{area}`{" to await" if prefix else ""}."""\n'
        + "".join(f"\n{method_source(kind, prefix)}" for kind in kinds)
        for prefix, base in (("", "Calls"), ("Async", "AsyncCalls"))
    )
    words = set(re.findall(r"\w+", body))
    imports = ["from clew.api.calls import AsyncCalls, Calls\n"]
    for source, names in (("collections.abc", {"Mapping", "Sequence"}), ("typing", {"Any"})):
        if standard := words & names:
            imports.append(f"from {source} import {', '.join(sorted(standard))}\n")
    for module in _modules():
        own = {name for name in words if getattr(vars(module).get(name), "__module__", "") == module.__name__}
        own |= words & {"JsonObject"} if module.__name__ == "clew.core.operation" else set()
        if own:
            imports.append(f"from {module.__name__} import {', '.join(sorted(own))}\n")
    return f'"""The operations of `{area}` as methods. {NOTICE}"""\n\nfrom __future__ import annotations\n\n' + (
        "".join(imports) + body
    )


def method_source(kind: type[Request[Any]], prefix: str = "") -> str:
    """The method of one request, with `Async` as the prefix the one to await."""
    by_place, spread, by_name = _parameters(kind)
    star = [f"*{spread}"] if spread is not None else ["*"] if by_name else []
    parameters = ["self", *map(str, by_place), *star, *map(str, by_name)]
    given = {p.name: p.given for p in (*by_place, *([spread] if spread else []), *by_name)}
    word, wait = ("async def", "await ") if prefix else ("def", "")
    name = kind.python_name or kind.method
    return (
        _fill(4, f"{word} {name}(", parameters, f") -> {kind.answer.__name__}:")
        + _docstring(kind)
        + _fill(8, f"return {wait}self.call({kind.__name__}(", _arguments(kind, given), "))")
    )


def _fill(indent: int, start: str, parts: Sequence[str], end: str) -> str:
    """One line, or as few as hold the parts. With a line for each, these files would be half as long again."""
    margin = " " * indent
    line = f"{margin}{start}{', '.join(parts)}{end}"
    if len(line) <= LINE_CHARS:
        return f"{line}\n"
    lines = [""]
    for part in parts:
        if len(f"{margin}    {lines[-1]}{part},") > LINE_CHARS:
            lines.append("")
        lines[-1] += f"{part}, "
    inner = "".join(f"{margin}    {line.rstrip()}\n" for line in lines)
    return f"{margin}{start}\n{inner}{margin}{end}  # fmt: skip\n"


def _arguments(kind: type[Request[Any]], given: Mapping[str, str]) -> list[str]:
    inner = _inner_type(kind)
    parts = []
    for item in fields(kind):
        if inner is not None and item.name == kind.flatten:
            first, *others = (f"{part.name}={given[part.name]}" for part in fields(inner))
            *others, last = others
            parts += [f"{item.name}={inner.__name__}({first}", *others, f"{last})"]
        else:
            parts.append(f"{item.name}={given[item.name]}")
    return parts


def _parameters(kind: type[Request[Any]]) -> tuple[list[Parameter], Parameter | None, list[Parameter]]:
    """Those given by place, the one whose values are given one by one, and those given by name."""
    by_place: list[Parameter] = []
    by_name: list[Parameter] = []
    spread = None
    for owner, item in _fields(kind):
        parameter = _parameter(owner, item)
        if item.name == kind.spread:
            inner = _TUPLE.fullmatch(_annotation(owner, item.name))
            assert inner is not None, f"{kind.__name__}.{item.name} cannot be given one by one"
            spread = Parameter(item.name, inner[1], None, item.name)
        elif parameter.default is None or item.name in kind.positional:
            by_place.append(parameter)
        else:
            by_name.append(parameter)
    order = {name: place for place, name in enumerate(kind.positional)}
    required = [parameter for parameter in by_place if parameter.name not in order]
    listed = sorted((item for item in by_place if item.name in order), key=lambda item: order[item.name])
    return required + listed, spread, by_name


def _fields(kind: type[Request[Any]]) -> Iterator[tuple[type[Struct], FieldInfo]]:
    inner = _inner_type(kind)
    for item in fields(kind):
        if inner is not None and item.name == kind.flatten:
            yield from ((inner, part) for part in fields(inner))
        else:
            yield kind, item


def _inner_type(kind: type[Request[Any]]) -> type[Struct] | None:
    return next((item.type for item in fields(kind) if item.name == kind.flatten), None)


def _parameter(owner: type[Struct], item: FieldInfo) -> Parameter:
    written = _annotation(owner, item.name)
    wide = _TUPLE.sub(r"Sequence[\1]", written).replace("dict[str, Sequence", "Mapping[str, Sequence")
    name, given = item.name, item.name
    default = _default(item)
    if default == "{}":
        default, wide = "None", f"{wide} | None"
        given = f"{name} or {{}}"
    if written.startswith("dict[str, tuple["):
        given = f"{{key: tuple(value) for key, value in ({given}).items()}}".replace(f"({name})", name)
    elif _TUPLE.fullmatch(written):
        given = f"tuple({name})"
    elif _TUPLE.search(written):
        given = f"None if {name} is None else tuple({name})"
    return Parameter(name, wide, default, given)


def _annotation(owner: type[Struct], name: str) -> str:
    """As it is written where the field is defined."""
    return next(
        str(kind.__annotations__[name]) for kind in owner.__mro__ if name in vars(kind).get("__annotations__", {})
    )


def _default(item: FieldInfo) -> str | None:
    if item.default is not NODEFAULT:
        return repr(item.default).replace("'", '"')
    return None if item.default_factory is NODEFAULT else repr(item.default_factory())


def _docstring(kind: type[Request[Any]]) -> str:
    text = inspect.cleandoc(kind.__doc__ or "")
    assert text, f"{kind.__name__} does not say what it does"
    paragraphs = [textwrap.fill(paragraph, 106) for paragraph in text.split("\n\n")]
    lines = textwrap.indent('"""' + "\n\n".join(paragraphs), " " * 8)
    return lines + ('\n        """\n' if "\n" in lines else '"""\n')


def format_source(source: str) -> str:
    """The source as the project's formatter writes it, with imports in order."""
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    for arguments in (["check", "--quiet", "--select", "I,F401", "--fix"], ["format", "--quiet"]):
        command = [*ruff, *arguments, "--stdin-filename", str(FOLDER / "methods.py"), "-"]
        source = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return source


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, source in files().items():
        (FOLDER / name).write_text(format_source(source), "utf-8")


if __name__ == "__main__":
    main()

"""Style as a test: sizes, names, orphans, dead links."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
CODE = (
    SOURCES
    + sorted((ROOT / "tools").rglob("*.py"))
    + sorted((ROOT / "bench").rglob("*.py"))
    + sorted((ROOT / "tests").rglob("*.py"))
)
BANNED_NAMES = re.compile(r"(^|_)(utils?|helpers?|misc|common|v\d+|\d{4,8})(_|$)")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
STATEMENT_USE = re.compile(r'\b(?:run|run_each|each|many|first|only)\(\s*connection,\s*"(\w+)"')


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_module_is_over_600_lines() -> None:
    sizes = {relative(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {path: size for path, size in sizes.items() if size > 600} == {}


def test_no_function_is_over_60_lines() -> None:
    long = []
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1
                if size > 60:
                    long.append(f"{relative(path)}:{node.name} ({size})")
    assert long == []


def test_file_names_say_what_is_inside() -> None:
    assert [relative(path) for path in CODE if BANNED_NAMES.search(path.stem)] == []


def test_every_module_of_the_package_is_used() -> None:
    from clew.faces.cli.main import SECTIONS

    verbs = {f"clew.faces.cli.{place.split(':')[0]}" for verbs in SECTIONS.values() for place in verbs.values()}
    offered = {"clew", "clew.chat"}
    entry_points = {"clew.__main__", "clew.faces.cli.main"} | offered | verbs
    modules = {_module(path): path for path in SOURCES}
    entry_points |= {name for name, path in modules.items() if "\n@serves(" in path.read_text("utf-8")}
    imported = {name for path in SOURCES for name in _imports(path) if name in modules}
    packages = {module.rpartition(".")[0] for module in imported | entry_points}
    assert sorted(set(modules) - imported - entry_points - packages) == []


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    """Modules that a file imports, by name or out of their package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _imported_from(path, node)
            found.add(module)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def _imported_from(path: Path, node: ast.ImportFrom) -> str:
    """Relative names are for what another program loads out of its place."""
    package = _module(path) if path.stem == "__init__" else _module(path).rpartition(".")[0]
    return f"{package}.{node.module}" if node.level else node.module or ""


def test_every_sql_statement_is_used_and_every_used_one_exists() -> None:
    from clew.storage.sqlite.rows import statement_names

    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src/clew/storage/sqlite").glob("*.py"))
    used = set(STATEMENT_USE.findall(code))
    named = {name for name in statement_names() if f'"{name}"' in code}
    assert used <= statement_names()
    assert sorted(statement_names() - named) == []


def test_links_in_the_documents_lead_somewhere() -> None:
    dead = []
    for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in LINK.findall(path.read_text("utf-8")):
            if not (path.parent / target).exists():
                dead.append(f"{relative(path)} -> {target}")
    assert dead == []


def test_no_unfinished_places_are_left() -> None:
    mark = re.compile(r"NotImplementedError|#\s*(TODO|FIXME|XXX|HACK)")
    assert [relative(path) for path in SOURCES if mark.search(path.read_text("utf-8"))] == []

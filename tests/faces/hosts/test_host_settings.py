"""Settings files of hosts: Clew adds its entries, can remove them, and touches no others."""

from __future__ import annotations

import json
import os
import shlex
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import Conflict, InvalidInput
from clew.faces.hosts.dialects import EVENTS
from clew.faces.hosts.install import hooks, servers
from clew.faces.hosts.install.edits import Edit
from clew.faces.hosts.install.formats import parse_toml, put_table, read_json, read_yaml
from clew.faces.hosts.install.hermes import Hermes
from clew.text.cutting import cut_middle

pytestmark = pytest.mark.requirement("HOST-2", "MCP-1")

PROGRAM = ("/opt/my tools/clew",)
OPTIONS = ("--user", "o'hara")
Install = Callable[..., Edit]


def hooks_of(host: str) -> Install:
    return lambda path, install=True, program=PROGRAM: hooks.hook_entries(host, path, program, OPTIONS).plan(
        install=install
    )


def server_of(host: str) -> Install:
    return lambda path, install=True, program=PROGRAM: servers.server_entry(host, path, program, OPTIONS).plan(
        install=install
    )


JSON_EDITS = {
    **{f"hooks of {host}": hooks_of(host) for host in hooks.HOSTS},
    **{f"server of {host}": server_of(host) for host in servers.HOSTS if host != "codex"},
}
EVERY_EDIT = {**JSON_EDITS, "server of codex": server_of("codex")}


@pytest.fixture(params=JSON_EDITS)
def edit(request: pytest.FixtureRequest) -> Install:
    return JSON_EDITS[request.param]


@pytest.fixture(params=EVERY_EDIT)
def any_edit(request: pytest.FixtureRequest) -> Install:
    return EVERY_EDIT[request.param]


# --- the entries -------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", hooks.HOSTS)
def test_every_event_of_a_host_calls_the_hook_by_its_full_path(host: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    hooks_of(host)(path).apply()
    written = json.loads(path.read_text("utf-8"))["hooks"]
    assert list(written) == list(EVENTS[host])
    for event, groups in written.items():
        ((handler,),) = (group["hooks"] for group in groups)
        assert shlex.split(handler["command"]) == [*PROGRAM, "hook", host, event, *OPTIONS]
        assert handler["type"] == "command"
        assert handler["timeout"] == (3000 if host == "gemini" else 3)
    commands = hooks.installed_commands(host, read_json(path))
    assert list(commands) == list(EVENTS[host])


@pytest.mark.parametrize("host", ["claude-code", "cursor", "gemini"])
def test_a_server_is_added_under_its_name(host: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    server_of(host)(path).apply()
    written = json.loads(path.read_text("utf-8"))["mcpServers"]
    assert list(written) == ["other", "clew"]
    assert written["clew"]["command"] == PROGRAM[0]
    assert written["clew"]["args"] == ["mcp", *OPTIONS]
    assert ("type" in written["clew"]) == (host == "claude-code")


def test_codex_gets_a_table_at_the_end_of_its_toml(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "o"\n\n[mcp_servers.other]\ncommand = "x"\n')
    server_of("codex")(path).apply()
    document = tomllib.loads(path.read_text("utf-8"))
    assert document["mcp_servers"]["clew"] == {"command": PROGRAM[0], "args": ["mcp", *OPTIONS]}
    assert document["mcp_servers"]["other"] == {"command": "x"}


def test_text_of_others_around_and_in_clews_table_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "o"\n')
    server_of("codex")(path).apply()
    added = "startup_timeout_sec = 9\n\n# about features\n[features]\nshell_snapshot = true\n"
    path.write_text(path.read_text("utf-8") + added)
    server_of("codex")(path).apply()
    again = tomllib.loads(path.read_text("utf-8"))
    assert again["mcp_servers"]["clew"]["startup_timeout_sec"] == 9
    assert again["mcp_servers"]["clew"]["command"] == PROGRAM[0]
    server_of("codex")(path, install=False).apply()
    assert tomllib.loads(path.read_text("utf-8")) == {"model": "o", "features": {"shell_snapshot": True}}
    assert "# about features\n[features]" in path.read_text("utf-8")


@pytest.mark.parametrize("host", servers.HOSTS)
def test_files_are_where_the_hosts_look_for_them(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    server_files = {"claude-code": ".claude.json", "codex": ".codex/config.toml"}
    server_files |= {"cursor": ".cursor/mcp.json", "gemini": ".gemini/settings.json"}
    assert servers.servers_file(host, None) == tmp_path / server_files[host]
    hook_files = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
    hook_files |= {"gemini": ".gemini/settings.json"}
    if host in hook_files:
        assert hooks.settings_file(host, None) == tmp_path / hook_files[host]
        assert hooks.settings_file(host, tmp_path / "p").is_relative_to(tmp_path / "p")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    assert hooks.settings_file("codex", None) == tmp_path / "elsewhere" / "hooks.json"
    assert servers.servers_file("codex", None) == tmp_path / "elsewhere" / "config.toml"


@pytest.mark.parametrize("home", [None, ""])
@pytest.mark.parametrize("host", servers.HOSTS)
def test_without_a_home_nothing_is_guessed(host: str, home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "HERMES_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    with pytest.raises(InvalidInput, match="HOME is not set"):
        servers.servers_file(host, None)
    if host in hooks.HOSTS:
        with pytest.raises(InvalidInput, match="HOME is not set"):
            hooks.settings_file(host, None)
    with pytest.raises(InvalidInput, match="HOME is not set"):
        Hermes.find(None)


# --- once, and back ----------------------------------------------------------------------------------


def test_installing_again_changes_nothing_but_the_path_of_a_moved_program(any_edit: Install, tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert any_edit(path).apply() is None
    installed = path.read_bytes()
    assert not any_edit(path).changes
    any_edit(path, program=("/new/clew",)).apply()
    assert b"/opt/my tools" not in path.read_bytes()
    any_edit(path).apply()
    assert path.read_bytes() == installed


def test_uninstalling_removes_a_file_that_clew_created(any_edit: Install, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    any_edit(path).apply()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    any_edit(path, install=False).apply()
    assert not path.exists()


def test_uninstalling_without_clews_entries_changes_nothing(any_edit: Install, tmp_path: Path) -> None:
    assert not any_edit(tmp_path / "missing", install=False).changes


@pytest.mark.parametrize(
    "text",
    ['{"hooks":{"Stop":[]},\t"a":1.50}', '{\n    "ключ": "\\u00e9"\n}', "{}", "\n", "", '\ufeff{\r\n\t"a": 1\r\n}'],
)
def test_uninstalling_restores_the_exact_bytes(edit: Install, text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(text.encode())
    backup = edit(path).apply()
    assert backup is not None
    assert backup.read_bytes() == text.encode()
    assert ".clew-backup-" in backup.name
    edit(path, install=False).apply()
    assert path.read_bytes() == text.encode()


def test_an_empty_file_is_empty_again_whatever_options_were_given(any_edit: Install, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    assert not any_edit(path, install=False).changes
    any_edit(path).apply()
    any_edit(path, program=("/new/clew",)).apply()
    any_edit(path, install=False, program=("/other/clew",)).apply()
    assert path.read_bytes() == b""


def test_a_byte_order_mark_is_kept(edit: Install, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'\xef\xbb\xbf{\n    "a": 1\n}\n')
    edit(path).apply()
    assert path.read_bytes().startswith(b'\xef\xbb\xbf{\n    "a": 1,\n    "')
    assert read_json(path)["a"] == 1


def test_later_changes_of_others_stay(edit: Install, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "dark"}')
    edit(path).apply()
    document = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({"first": True, **document, "theme": "light"}))
    edit(path, install=False).apply()
    assert json.loads(path.read_text("utf-8")) == {"first": True, "theme": "light"}


def test_a_command_that_only_looks_alike_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    others = ["notify Stop", "clew status", "'unbalanced", "/x/clew hook codex Stop", "/x/other hook claude-code Stop"]
    group = {"matcher": "*", "hooks": [{"type": "command", "command": command} for command in others]}
    path.write_text(json.dumps({"hooks": {"Stop": [group, "odd", {"hooks": 7}]}}))
    edit = hooks_of("claude-code")
    edit(path).apply()
    for backup in tmp_path.glob("*clew-backup*"):
        backup.unlink()
    edit(path, install=False).apply()
    assert json.loads(path.read_text("utf-8")) == {"hooks": {"Stop": [group, "odd", {"hooks": 7}]}}


# --- foreign documents -------------------------------------------------------------------------------

_plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_values = st.recursive(
    _plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
_handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()})
_groups = st.lists(st.fixed_dictionaries({"matcher": st.text(), "hooks": st.lists(_handlers, max_size=2)}), max_size=2)
_hooks = st.dictionaries(st.sampled_from(["Stop", "SessionStart", "PreToolUse", "AfterTool"]), _groups)
_servers = st.dictionaries(st.text().filter(lambda name: name != "clew"), _values, max_size=3)
_documents = st.builds(
    lambda rest, hooks, servers: {**rest, "hooks": hooks, "mcpServers": servers},
    st.dictionaries(st.text(), _values, max_size=4),
    _hooks,
    _servers,
)


@pytest.mark.parametrize("name", JSON_EDITS)
@settings(deadline=None)
@given(document=_documents, indent=st.sampled_from([None, 2, 4, "\t"]), ascii_only=st.booleans())
def test_any_document_keeps_its_entries_and_is_the_same_after_uninstalling(
    name: str, document: dict[str, Any], indent: int | str | None, ascii_only: bool, tmp_path_factory: Any
) -> None:
    edit = JSON_EDITS[name]
    path = tmp_path_factory.mktemp("any") / "settings.json"
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    edit(path).apply()
    _assert_kept(document, json.loads(path.read_bytes()))
    assert not edit(path).changes
    edit(path, install=False).apply()
    assert path.read_bytes() == text.encode("utf-8", "surrogatepass")


def _assert_kept(before: Any, after: Any) -> None:
    """All earlier entries are still there, first and in their order."""
    if isinstance(before, dict):
        assert [key for key in after if key in before] == list(before)
        for key, value in before.items():
            _assert_kept(value, after[key])
    elif isinstance(before, list):
        assert json.dumps(after[: len(before)]) == json.dumps(before)
    else:
        assert json.dumps(after) == json.dumps(before)


_TOML = [
    "", "\t", "# a remark", 'model = "o"', "limits = [\n  1,  # low\n  2,\n]", 'said = """\n# no remark\n"""',
    "[profiles.a]", "'odd key' = 'it''s'", "[mcp_servers]", "[mcp_servers.b]  # mine", "[mcp_servers.b.env]",
    "mcp_servers.c.command = 'x'", "[[lists]]", "[mcp_servers.clew.env]",
]  # fmt: skip
_YAML = [
    "", "# a remark", "memory:", "memory: {}", "memory: null  # none", "memory: {provider: 'x', a: [1, 2]}",
    "  provider: \"x\"  # mine", "  provider: >-", "    folded", "  a: 1", "  b:   [x,", "     y]", "  # below", "---",
    "model:   'y'   # quoted", "tools:", "- a", "  - b", "base: &base {a: 1}", "  <<: *base",
    "when: 2026-01-02 03:04:05.60",
]  # fmt: skip
_layouts = st.tuples(st.booleans(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]))


def _file(lines: list[str], layout: tuple[bool, str, str]) -> str:
    has_mark, line_end, end = layout
    return ("\ufeff" if has_mark else "") + ("\n".join(lines) + end).replace("\n", line_end)


def test_installing_again_leaves_a_split_list_of_tables_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[[lists]]\n[profiles.a]\n[[lists]]\n")
    server_of("codex")(path).apply()
    assert not server_of("codex")(path).changes


@pytest.mark.parametrize("name", ["toml", "yaml"])
@settings(deadline=None)  # the first file also waits for the library to load
@given(data=st.data(), layout=_layouts, keeps_backups=st.booleans())
def test_any_file_with_comments_is_the_same_after_uninstalling(
    name: str, data: st.DataObject, layout: tuple[bool, str, str], keeps_backups: bool, tmp_path_factory: Any
) -> None:
    """Byte for byte with the backup; without it, with the same settings and all comments."""
    text = _file(data.draw(st.lists(st.sampled_from(_TOML if name == "toml" else _YAML), max_size=9)), layout)
    path = tmp_path_factory.mktemp("any") / "config.yaml"
    path.write_bytes(text.encode())
    host = servers.server_entry("codex", path, PROGRAM, OPTIONS) if name == "toml" else Hermes(path.parent).entries()
    read: Callable[[str], object] = parse_toml if name == "toml" else lambda given: read_yaml(given)[0]
    try:
        backup = host.plan(install=True).apply()
    except InvalidInput:
        assert path.read_bytes() == text.encode()
        return
    installed = path.read_bytes().decode()
    assert set(text.split("\n")) - set(installed.split("\n")) <= _replaceable(text, installed)
    assert not host.plan(install=True).changes
    if backup is not None and not keeps_backups:
        backup.unlink()
    host.plan(install=False).apply()
    after = path.read_bytes().decode() if path.exists() else ""
    if backup is not None and keeps_backups:
        assert after == text
    else:
        assert sorted(after.split()) == sorted(text.split())  # TOML tables of a split list may move together
        assert read(after) == read(text)


def _replaceable(text: str, installed: str) -> set[str]:
    """Lines with a comment, and a last line without a line end."""
    kept = {line for line in text.split("\n") if f"# clew replaced: {line}" in installed}
    return {*kept, text.rsplit("\n", maxsplit=1)[-1]}


# --- trouble -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"{", b"// remark\n{}", b"[]", b'{"a": 1, "a": 2}', b"\xff", b'{"a": NaN}', b'{"a": 1e999}']
)
def test_a_broken_file_is_reported_and_left_alone(edit: Install, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    for install in (True, False):
        with pytest.raises(InvalidInput, match=r"settings\.json.*left alone"):
            edit(path, install=install)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["settings.json"]
    with pytest.raises(InvalidInput, match=r"settings\.json") as trouble:
        read_json(path)
    assert "left alone" not in trouble.value.message


@pytest.mark.parametrize("there", [True, False])
def test_an_error_of_the_system_names_the_settings_file(any_edit: Install, there: bool, tmp_path: Path) -> None:
    path = tmp_path / ("s" * 250)  # the name is too long for a copy beside it
    if there:
        path.touch()
    with pytest.raises(OSError, match="too long") as trouble:
        any_edit(path).apply()
    assert trouble.value.filename == str(path)


def test_an_empty_file_of_hermes_is_empty_again(tmp_path: Path) -> None:
    host = Hermes(tmp_path)
    host.config.touch()
    host.entries().plan(install=True).apply()
    assert host.provider() == "clew"
    host.entries().plan(install=False).apply()
    assert host.config.read_bytes() == b""


@pytest.mark.parametrize(
    "content",
    ["a = [", "mcp_servers = {}\n", '[mcp_servers.clew]\ncommand = "mine"\n', "mcp_servers = 7\n", "\ufeffa = 1\n"],
)
def test_toml_that_cannot_take_the_table_is_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        server_of("codex")(path)
    assert path.read_text() == content


@pytest.mark.parametrize("document", [{"hooks": []}, {"hooks": {"Stop": {}}}])
def test_hooks_of_another_shape_are_left_alone(document: object, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInput, match="left alone"):
        hooks_of("codex")(path)


@pytest.mark.parametrize("others", [[], {"clew": {"command": "mine"}}, {"clew": 7}])
def test_another_server_named_clew_is_left_alone(others: object, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": others}))
    with pytest.raises(InvalidInput, match=r"mcp\.json"):
        server_of("cursor")(path)
    assert not server_of("cursor")(path, install=False).changes


@pytest.mark.parametrize("content", ["mcp_servers = 7\n", '[mcp_servers.clew]\ncommand = "mine"\n'])
def test_a_table_of_others_is_not_removed(content: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(content)
    assert not server_of("codex")(path, install=False).changes


def test_a_link_is_followed_and_the_mode_is_kept(any_edit: Install, tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.touch(mode=0o640)
    real.chmod(0o640)
    link.symlink_to(real)
    backup = any_edit(link).apply()
    assert link.is_symlink()
    assert backup is not None
    assert backup.parent == real.parent
    assert [stat.S_IMODE(path.stat().st_mode) for path in (real, backup)] == [0o640, 0o640]


def test_a_file_that_changes_during_the_edit_is_not_overwritten(any_edit: Install, tmp_path: Path) -> None:
    path = tmp_path / "file"
    planned = any_edit(path)
    path.write_text("x = 1\n")
    with pytest.raises(Conflict):
        planned.apply()
    assert path.read_text() == "x = 1\n"


# --- cutting -----------------------------------------------------------------------------------------


@given(st.text(max_size=300), st.integers(2, 100))
def test_a_cut_text_is_bounded_and_a_short_one_stays_whole(text: str, max_chars: int) -> None:
    shown = cut_middle(text, max_chars)
    assert shown == text if len(text) <= max_chars else len(shown) <= max_chars + 40


def test_toml_too_deep_to_edit_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidInput, match="cannot be edited"):
        put_table(f"deep = {'[' * 200}{']' * 200}\n", "mcp_servers", "clew", {"command": "clew"})

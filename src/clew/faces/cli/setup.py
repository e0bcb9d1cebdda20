"""`clew config`, `clew model` and `clew completion`."""

from __future__ import annotations

import os
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clew.config import CONFIG_FILE, Config
from clew.faces.cli.console.command import Verb, VerbGroup
from clew.faces.cli.console.invocation import Invocation
from clew.faces.cli.console.terminal import byte_size, print_fields, print_note, print_table

if TYPE_CHECKING:
    from clew.models.packs.pack import Pack


@click.command("config", cls=Verb, examples=["clew config", "CLEW_GATE_THRESHOLD=0.5 clew config --json"])
@click.pass_obj
def config_command(invocation: Invocation) -> None:
    """Show every setting: value, origin, default and meaning."""
    config = invocation.config()
    defaults = Config()
    file = config.data_dir / CONFIG_FILE
    in_file = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    settings = [
        {
            "name": field.name,
            "value": _plain(getattr(config, field.name)),
            "from": _origin(field.name, invocation, in_file),
            "default": _plain(getattr(defaults, field.name)),
            "help": field.metadata["help"],
        }
        for field in fields(Config)
    ]
    invocation.show({"file": str(file), "endpoint": config.endpoint, "settings": settings}, _print_settings)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _origin(name: str, invocation: Invocation, in_file: dict[str, Any]) -> str:
    if name == "data_dir":
        return "--data" if invocation.data_dir else "CLEW_HOME" if os.environ.get("CLEW_HOME") else "default"
    variable = f"CLEW_{name.upper()}"
    if variable in os.environ:
        return variable
    return CONFIG_FILE if name in in_file else "default"


def _print_settings(answer: dict[str, Any]) -> None:
    print_fields({"file": answer["file"], "endpoint": answer["endpoint"]})
    click.echo()
    print_table(
        ("setting", "value", "from", "default", "meaning"),
        [
            (item["name"], _show_value(item["value"]), item["from"], _show_value(item["default"]), item["help"])
            for item in answer["settings"]
        ],
    )
    print_note(f"set one in {CONFIG_FILE} as `name = value`, or as CLEW_NAME in the environment")


def _show_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@click.group("model", cls=VerbGroup, examples=["clew model install", "clew model list"])
def model_command() -> None:
    """Install and look at embedding models."""


@model_command.command("install", examples=["clew model install", "clew model install ./my-pack"])
@click.argument("source", required=False, metavar="[NAME|FOLDER]")
@click.pass_obj
def install(invocation: Invocation, source: str | None) -> None:
    """Install a model pack by name or from a folder; without either, the default one."""
    from clew.models.packs.install import install_pack
    from clew.models.packs.pack import DEFAULT_PACK, packs_dir

    with invocation.stages() as report:
        pack = install_pack(source or DEFAULT_PACK, packs_dir(), report)
    invocation.show(_facts(pack), lambda facts: click.echo(f"installed {facts['name']} in {facts['folder']}"))


@model_command.command("list", examples=["clew model list"])
@click.pass_obj
def list_installed(invocation: Invocation) -> None:
    """List the installed model packs."""
    from clew.models.packs.pack import list_packs, packs_dir

    packs = [_facts(pack) for pack in list_packs(packs_dir())]
    invocation.show({"folder": str(packs_dir()), "packs": packs}, _print_packs)


@model_command.command("show", examples=["clew model show e5-small"])
@click.argument("name")
@click.pass_obj
def show(invocation: Invocation, name: str) -> None:
    """Show one model pack, after checking every byte of it."""
    from clew.models.packs.pack import find_pack, packs_dir, verify_pack

    pack = find_pack(name, packs_dir())
    verify_pack(pack)
    invocation.show(_facts(pack), print_fields)


def _facts(pack: Pack) -> dict[str, Any]:
    manifest = pack.manifest
    return {
        "name": pack.name,
        "family": manifest.family,
        "dimensions": manifest.dimensions,
        "maxTokens": manifest.max_tokens,
        "pooling": manifest.pooling,
        "sizeBytes": pack.size_bytes,
        "identity": str(pack.identity),
        "licence": manifest.licence,
        "folder": str(pack.folder),
    }


def _print_packs(answer: dict[str, Any]) -> None:
    if not answer["packs"]:
        print_note("no model is installed; search is by words alone until `clew model install`")
        return
    print_table(
        ("name", "dimensions", "size", "licence", "folder"),
        [
            (pack["name"], pack["dimensions"], byte_size(pack["sizeBytes"]), pack["licence"], pack["folder"])
            for pack in answer["packs"]
        ],
    )


@click.command(
    "completion",
    cls=Verb,
    examples=[
        "clew completion bash >> ~/.bashrc",
        "clew completion fish | source",
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_obj
def completion_command(invocation: Invocation, shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    from clew.faces.cli.main import COMPLETE_VARIABLE, PROGRAM, cli

    kind = get_completion_class(shell)
    assert kind is not None  # the argument takes only shells that click knows
    script = kind(cli, {}, PROGRAM, COMPLETE_VARIABLE).source()
    invocation.show({"shell": shell, "script": script}, lambda answer: click.echo(answer["script"]))

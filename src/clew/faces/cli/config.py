"""`clew config`: every setting, what it is set to, and by whom."""

from __future__ import annotations

import os
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from clew.config import CONFIG_FILE, Config
from clew.faces.cli.command import Verb
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import print_fields, print_note, print_table


@click.command("config", cls=Verb, examples=["clew config", "CLEW_GATE_THRESHOLD=0.5 clew config --json"])
@click.pass_obj
def command(invocation: Invocation) -> None:
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
            (item["name"], _shown(item["value"]), item["from"], _shown(item["default"]), item["help"])
            for item in answer["settings"]
        ],
    )
    print_note(f"set one in {CONFIG_FILE} as `name = value`, or as CLEW_NAME in the environment")


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

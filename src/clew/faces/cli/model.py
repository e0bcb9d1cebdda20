"""`clew model`: the embedding models that search by meaning needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clew.faces.cli.command import Verb, VerbGroup
from clew.faces.cli.invocation import Invocation
from clew.faces.cli.terminal import byte_size, print_fields, print_note, print_table

if TYPE_CHECKING:
    from clew.models.packs.pack import Pack


@click.group("model", cls=VerbGroup, examples=["clew model install", "clew model list"])
def command() -> None:
    """Install and look at embedding models."""


@command.command("install", cls=Verb, examples=["clew model install", "clew model install ./my-pack"])
@click.argument("source", required=False, metavar="[NAME|FOLDER]")
@click.pass_obj
def install(invocation: Invocation, source: str | None) -> None:
    """Install a model pack by name or from a folder; without either, the default one."""
    from clew.models.packs.install import install_pack
    from clew.models.packs.pack import DEFAULT_PACK, packs_dir

    with invocation.stages() as report:
        pack = install_pack(source or DEFAULT_PACK, packs_dir(), report)
    invocation.show(_facts(pack), lambda facts: click.echo(f"installed {facts['name']} in {facts['folder']}"))


@command.command("list", cls=Verb, examples=["clew model list"])
@click.pass_obj
def list_installed(invocation: Invocation) -> None:
    """List the installed model packs."""
    from clew.models.packs.pack import list_packs, packs_dir

    packs = [_facts(pack) for pack in list_packs(packs_dir())]
    invocation.show({"folder": str(packs_dir()), "packs": packs}, _print_packs)


@command.command("show", cls=Verb, examples=["clew model show e5-small"])
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

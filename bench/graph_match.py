"""How often `graph match` leads an idea to its project, and by which path.

    python -m bench.graph_match [--embedder NAME] [--json]

The notes, turns and ideas of `bench/ideas/projects.json` were written for this: a dozen projects of different people,
each with a few short notes and some turns of sessions, and ideas that say in other words what belongs to one of them.
Notes are read from a folder as an operator's are, turns are ingested as a host's are, some with the name of their
project and some without. Beside it stands what the ordinary search alone would say: the project of the first record
that is found and has one by its note.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from clew.api import GraphMatchList, Message
from clew.config import Config
from clew.engine import Memory

IDEAS = Path(__file__).parent / "ideas" / "projects.json"
USER = "ada"
SHOWN = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="auto", help="as the setting of this name (auto)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    projects = json.loads(IDEAS.read_text("utf-8"))["projects"]
    with tempfile.TemporaryDirectory() as folder:
        results = _measure(Path(folder), projects, options.embedder)
    if options.json:
        print(json.dumps(results))
    else:
        _print(results)
    return 0


def _measure(folder: Path, projects: list[dict[str, Any]], embedder: str) -> list[dict[str, Any]]:
    notes = folder / "notes"
    for project in projects:
        for name, text in project["notes"].items():
            (notes / name).parent.mkdir(parents=True, exist_ok=True)
            (notes / name).write_text(text, "utf-8")
    config = Config.load(environment={}, data_dir=folder / "data", authored_notes=(str(notes),), embedder=embedder)
    with Memory(config) as memory:
        for number, project in enumerate(projects):
            memory.ingest_batch(f"s{number}", [_message(turn) for turn in project["turns"]], user_id=USER)
        if not memory.flush(timeout_ms=120_000).ok:
            raise SystemExit("the queue did not drain")
        return [_result(memory, project, idea) for project in projects for idea in project["ideas"]]


def _message(turn: dict[str, str]) -> Message:
    metadata = {"project": turn["project"]} if "project" in turn else {}
    return Message(role=turn["role"], text=turn["text"], metadata=metadata)


def _result(memory: Memory, project: dict[str, Any], idea: str) -> dict[str, Any]:
    found: GraphMatchList = memory.graph_match(idea, user_id=USER, limit=SHOWN)
    names = [_plain(item.project.name) for item in found.matches]
    wanted = _plain(project["project"])
    plain = [_project_of(hit.record.metadata) for hit in memory.search(idea, user_id=USER, k=10).hits]
    first = next((name for name in plain if name), "")
    return {
        "idea": idea,
        "project": project["project"],
        "rank": names.index(wanted) + 1 if wanted in names else None,
        "found": [item.project.name for item in found.matches],
        "path": found.matches[0].path.text if found.matches else "",
        "sources": [
            source.text for step in (found.matches[0].path.steps if found.matches else ()) for source in step.sources
        ],
        "search": wanted.startswith(first[:6]) if first else False,
    }


def _plain(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _project_of(metadata: dict[str, Any]) -> str:
    document = str(metadata.get("source_doc", "")).removeprefix("notes/").removeprefix("projects/")
    return _plain(metadata.get("project", "") or document.partition("/")[0].partition(".")[0].partition("-log")[0])


def _print(results: list[dict[str, Any]]) -> None:
    for result in results:
        print(f"{'ok ' if result['rank'] == 1 else result['rank'] or '-'}  {result['project']}: {result['idea']}")
        print(f"      {result['path']}")
        for text in result["sources"]:
            print(f"        {text[:110]}")
        if result["rank"] != 1:
            print(f"      found: {', '.join(result['found'])}")
    first = sum(result["rank"] == 1 for result in results)
    shown = sum(result["rank"] is not None for result in results)
    alone = sum(result["search"] for result in results)
    print(
        f"{len(results)} ideas: top-1 {first} ({first / len(results):.0%}), top-{SHOWN} {shown} "
        f"({shown / len(results):.0%}); the first record of a search alone {alone} ({alone / len(results):.0%})"
    )


if __name__ == "__main__":
    sys.exit(main())

"""How long a host waits for a hook: the whole process, against an interpreter that does nothing.

The contenders take turns, so that a busy moment of the machine falls on all of them. Run as
`python -m bench.hook_start`; a daemon over an empty store is started for it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from time import perf_counter

ROUNDS = 40
ENTRY = "import sys; from clew.__main__ import main; sys.exit(main())"
"""What an installed `clew` script does."""

EVENT = {"session_id": "bench", "cwd": "/srv/lighthouse", "tool_name": "Bash", "tool_response": "built"}
CONTENDERS = {
    "python -c pass": ["-c", "pass"],
    "clew hook, prompt": ["-c", ENTRY, "hook", "claude-code", "UserPromptSubmit"],
    "clew hook, tool": ["-c", ENTRY, "hook", "claude-code", "PostToolUse"],
    "clew hook, no daemon": ["-c", ENTRY, "hook", "claude-code", "Stop", "--data", os.devnull],
    "clew hook, spool": ["-c", ENTRY, "hook", "claude-code", "PostToolUse", "--endpoint", "unix:/nowhere"],
    "clew --version": ["-c", ENTRY, "--version"],
}


@dataclass
class Runs:
    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        environment = {**os.environ, "CLEW_HOME": folder, "CLEW_EMBEDDER": "none"}
        daemon = subprocess.Popen(
            [sys.executable, "-c", ENTRY, "up", "--foreground"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert daemon.stdout is not None
            daemon.stdout.readline()
            print(_table(_measured(environment)))
        finally:
            daemon.terminate()
            daemon.wait()


def _measured(environment: dict[str, str]) -> dict[str, Runs]:
    """Every run of each contender but the first."""
    runs = {name: Runs() for name in CONTENDERS}
    for number in range(ROUNDS + 1):
        content = json.dumps({**EVENT, "prompt_id": str(number), "prompt": f"Which lamp is number {number}?"}).encode()
        for name, arguments in CONTENDERS.items():
            used, started = _cpu_ms(), perf_counter()
            subprocess.run(
                [sys.executable, *arguments], input=content, env=environment, stdout=subprocess.DEVNULL, check=True
            )
            if number:
                runs[name].wall_ms.append((perf_counter() - started) * 1000)
                runs[name].cpu_ms.append(_cpu_ms() - used)
    return runs


def _cpu_ms() -> float:
    """What all processes waited for so far have used of the processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1000


def _table(runs: dict[str, Runs]) -> str:
    nothing = statistics.median(runs["python -c pass"].wall_ms)
    lines = [f"{'':24}{'median ms':>12}{'p95 ms':>10}{'ratio':>8}{'CPU ms':>10}"]
    for name, taken in runs.items():
        median, p95 = statistics.median(taken.wall_ms), statistics.quantiles(taken.wall_ms, n=20)[-1]
        cpu = statistics.median(taken.cpu_ms)
        lines.append(f"{name:24}{median:12.1f}{p95:10.1f}{median / nothing:8.1f}{cpu:10.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""The machine and the versions a run was made with; nothing that names or locates it."""

from __future__ import annotations

import os
import platform
from importlib import metadata, util
from pathlib import Path

PACKAGES = ("apsw", "numpy", "onnxruntime", "tiktoken", "sqlite-vec", "openclaw-context-pack")


def describe_machine() -> dict[str, str]:
    described = {
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return described | {name: version for name in PACKAGES if (version := _version(name))}


def resident_mb(process_id: int | None = None) -> float | None:
    """Resident memory of a process, this one by default; None without psutil."""
    if util.find_spec("psutil") is None:
        return None
    import psutil

    return float(psutil.Process(process_id).memory_info().rss) / 1e6


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

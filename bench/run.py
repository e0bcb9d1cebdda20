"""The whole run: every system at every size and in both layouts, each phase in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from bench.machine import describe_machine
from bench.phases import Job
from bench.results import Asked, Case, Conversed, Filled, Report, Serving
from bench.system import CANDIDATES

ROOT = Path(__file__).resolve().parent.parent
LAYOUTS = (1, 100)
PHASE_TIMEOUT_S = 240.0

S = TypeVar("S", bound=Struct)
Say = Callable[[str], None]


class PhaseFailed(Exception):
    """A phase ended without a result; the message says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    sizes: tuple[int, ...]
    systems: tuple[str, ...]
    quick: bool
    command: str


def run(plan: Plan, say: Say) -> Report:
    """Measure what the plan asks for; what cannot be measured is left out and noted."""
    missing = [name for name in plan.systems if not CANDIDATES[name].installed]
    notes = [f"{name} was not measured: {CANDIDATES[name].needs} is not installed" for name in missing]
    systems = [name for name in plan.systems if name not in missing]
    cases: list[Case] = []
    conversed: list[Conversed] = []
    for job in _jobs(plan, systems):
        say(f"{job.system}: {job.size:,} records in {job.collections} collection(s)")
        case, conversation = _measure(job)
        cases.append(case)
        conversed += conversation
        notes += _remarks(case, job)
    serving = None
    if "clew" in systems and not plan.quick:
        say("daemon and default model")
        try:
            serving = _child("bench.serving", [], Serving)
        except PhaseFailed as failure:
            notes.append(f"the daemon with the default model was not measured: {failure}")
    return Report(describe_machine(), plan.command, tuple(cases), tuple(conversed), serving, tuple(notes))


def _jobs(plan: Plan, systems: Sequence[str]) -> Iterator[Job]:
    samples = {"writes": 20, "questions": 20, "writes_between": 20, "turns": 60} if plan.quick else {}
    for size in plan.sizes:
        for collections in LAYOUTS:
            for system in systems:
                yield Job(system=system, folder="", size=size, collections=collections, **samples)


def _measure(job: Job) -> tuple[Case, list[Conversed]]:
    filled, asked, conversed, trouble = None, None, [], ""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        job = msgspec.structs.replace(job, folder=folder)
        try:
            filled = _phase("fill", job, Filled)
            asked = _phase("ask", job, Asked)
            if job.system == "clew" and job.collections == 1:
                conversed = [_phase("converse", job, Conversed)]
        except PhaseFailed as failure:
            trouble = str(failure)
    return Case(job.system, job.size, job.collections, filled, asked, trouble), conversed


def _remarks(case: Case, job: Job) -> list[str]:
    """What a reader of this case's figures must know."""
    where = f"{case.system}, {case.size:,} records, collections: {case.collections}"
    remarks = [f"{where}: {case.trouble}"] if case.trouble else []
    if case.asked is not None and case.asked.search_ms.count < job.questions:
        remarks.append(
            f"{where}: the time allowed for {job.questions} searches was enough for {case.asked.search_ms.count}"
        )
    return remarks


def _phase(name: str, job: Job, kind: type[S]) -> S:
    return _child("bench.phases", [name, msgspec.json.encode(job).decode()], kind)


def _child(module: str, arguments: Sequence[str], kind: type[S]) -> S:
    command = [sys.executable, "-m", module, *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PHASE_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise PhaseFailed(f"not finished after {PHASE_TIMEOUT_S:.0f} s") from None
    if done.returncode != 0:
        last_words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise PhaseFailed(last_words[-1] if last_words else f"exit status {done.returncode}")
    return msgspec.json.decode(done.stdout, type=kind)

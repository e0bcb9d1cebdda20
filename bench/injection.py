"""How many attempts to steer an agent are noticed, how many good texts are taken for one, and how records are graded.

    python -m bench.injection DATA [--json]

DATA is the folder of public data sets. Attempts fall by the hash of their text into two halves: the wordings were
chosen on the first from a larger number, some of which had been written after reading the misses of the second.
`worded` rows say something that only an attempt would say; `bare` rows are ordinary questions, goals, commands
or false facts that nothing but their context gives away: those are listed to show that they are left alone.
Then the share of ordinary texts that are suspected, and the grader on its labelled set
and on real texts, where few should be called worth remembering for good.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clew.core.model import Kind
from clew.text.grading.importance import Label, grade
from clew.text.injection import suspect

GRADING_SET = "openclaw_mem_sets/benchmarks__importance_grading_set.v1.jsonl"
SESSION = "agent_sessions/normalized/pi_large-session.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Attempt:
    file: str
    family: str
    group: str
    text: str

    @property
    def second_half(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class Noticed:
    file: str
    group: str
    family: str
    first_half: int
    first_half_noticed: int
    second_half: int
    second_half_noticed: int


@dataclass(frozen=True, slots=True)
class Suspected:
    corpus: str
    texts: int
    suspected: int
    signals: dict[str, int]


@dataclass(frozen=True, slots=True)
class Grading:
    rows: int
    accuracy: float
    within_bounds: float
    macro_f1: float
    confusion: dict[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    data: Path = options.data
    attempts = list(_attempts(data / "injection"))
    noticed = [*_noticed(attempts, by_family=False), *_noticed(attempts, by_family=True)]
    suspected = [_suspected(name, texts) for name, texts in _ordinary(data)]
    graded = {half: _grading(rows) for half, rows in _graded_halves(data / GRADING_SET)}
    labels = {name: dict(Counter(given)) for name, given in _labels(data)}
    if options.json:
        print(json.dumps(_as_json(noticed, suspected, graded, labels), ensure_ascii=False))
    else:
        _print(noticed, suspected, graded, labels)


def _as_json(
    noticed: list[Noticed], suspected: list[Suspected], graded: dict[str, Grading], labels: dict[str, dict[str, int]]
) -> dict[str, Any]:
    return {
        "noticed": [asdict(row) for row in noticed],
        "suspected": [asdict(row) for row in suspected],
        "grading": {half: asdict(result) for half, result in graded.items()},
        "labels": labels,
    }


def _print(
    noticed: list[Noticed], suspected: list[Suspected], graded: dict[str, Grading], labels: dict[str, dict[str, int]]
) -> None:
    print(f"{'attempts':34}{'group':10}{'family':24}{'first half':>16}{'second half':>16}")
    for row in noticed:
        first, second = (row.first_half_noticed, row.first_half), (row.second_half_noticed, row.second_half)
        print(f"{row.file:34}{row.group:10}{row.family:24}{_share(*first):>16}{_share(*second):>16}")
    print(f"\n{'ordinary texts':34}{'suspected':>20}  signals")
    for corpus in suspected:
        print(f"{corpus.corpus:34}{_share(corpus.suspected, corpus.texts, digits=2):>20}  {corpus.signals or ''}")
    print(f"\n{'grader':14}{'rows':>6}{'accuracy':>10}{'in bounds':>11}{'macro F1':>10}  confusion (true > given)")
    for half, result in graded.items():
        print(
            f"{half:14}{result.rows:>6}{result.accuracy:>10.1%}{result.within_bounds:>11.1%}{result.macro_f1:>10.2f}"
            f"  {result.confusion}"
        )
    for name, counts in labels.items():
        total = sum(counts.values())
        print(f"{name:34}" + "".join(f"{label}: {counts.get(label, 0) / total:>6.1%}   " for label in Label))


def _share(part: int, whole: int, digits: int = 0) -> str:
    return f"{part}/{whole} {part / whole:.{digits}%}" if whole else "-"


# --- attempts --------------------------------------------------------------------------------------------


def _noticed(attempts: Iterable[Attempt], *, by_family: bool) -> list[Noticed]:
    counts: dict[tuple[str, str, str], list[int]] = {}
    for attempt in attempts:
        if by_family and attempt.group != "worded":
            continue
        row = counts.setdefault((attempt.file, attempt.group, attempt.family if by_family else ""), [0] * 4)
        row[2 * attempt.second_half] += 1
        row[2 * attempt.second_half + 1] += suspect(attempt.text) is not None
    return [Noticed(*key, *row) for key, row in counts.items()]


def _attempts(folder: Path) -> Iterator[Attempt]:
    for row in _json_lines(folder / "agent_injection_bench.jsonl"):
        group = "ordinary" if row["family"] == "control" else "worded"
        yield Attempt("agent_injection_bench", row["family"], group, row["injected"])
    for name in ("injection", "tool_abuse"):
        for row in _json_lines(folder / f"agent_redteam_{name}.jsonl"):
            yield Attempt(f"agent_redteam_{name}", row["category"], _group_of_context(row), row["context"])
    for name in ("info_leak", "sensitive_data"):
        for row in _json_lines(folder / f"agent_redteam_{name}.jsonl"):
            group = "prompts" if name == "info_leak" else "bare"
            yield Attempt(f"agent_redteam_{name}", row["category"], group, row["question"])
    yield from _agentdojo(folder)
    for row in _json_lines(folder / "bipia_train.jsonl.gz"):
        yield Attempt("bipia", row["kind"], "bare" if row["kind"].endswith("attack") else "ordinary", row["text"])
    for row in _json_lines(folder / "garak_latentinjection.jsonl"):
        yield Attempt("garak", row["field"], "bare", row["text"])
    for row in json.loads((folder / "jailbreak_corpus_mini.json").read_text("utf-8")):
        yield Attempt("jailbreak_corpus_mini", row["category"], "worded", row["prompt"])
    for row in _json_lines(folder / "poisonedrag_nq.jsonl.gz"):
        for text in row["adv_texts"]:
            yield Attempt("poisonedrag", "false facts", "bare", text)


def _group_of_context(row: dict[str, Any]) -> str:
    """A context that quotes what was planted, describes it, or is a control."""
    if row["category"] == "benign_control":
        return "ordinary"
    return "quoted" if row["category"] == "prompt_injection" and "'" in row["context"] else "bare"


def _agentdojo(folder: Path) -> Iterator[Attempt]:
    tasks = list(_json_lines(folder / "agentdojo_banking_slack.jsonl"))
    goals = [row["text"] for row in tasks if row["kind"] == "injection_goal"]
    for row in tasks:
        yield Attempt("agentdojo", row["kind"], "bare" if row["kind"] == "injection_goal" else "ordinary", row["text"])
    templates = [row["text"] for row in _json_lines(folder / "agentdojo_attack_templates.jsonl")]
    for number, template in enumerate(text for text in templates if "{goal}" in text and "`" not in text):
        group = "bare" if template == "TODO: {goal}" else "worded"
        for goal in goals:
            text = template.replace("{goal}", goal).replace("{user}", "Emma Johnson").replace("{model}", "Claude")
            yield Attempt("agentdojo, filled templates", f"template {number}", group, text)


# --- ordinary texts --------------------------------------------------------------------------------------


def _suspected(name: str, texts: Iterable[str]) -> Suspected:
    texts = list(texts)
    found = [suspicion for text in texts if (suspicion := suspect(text))]
    signals = Counter(signal for suspicion in found for signal in suspicion.signals)
    return Suspected(name, len(texts), len(found), dict(signals.most_common()))


def _ordinary(data: Path) -> Iterator[tuple[str, Iterable[str]]]:
    yield "LoCoMo turns", _locomo(data)
    session = [row["text"] for row in _json_lines(data / SESSION) if row["role"] in ("user", "tool")]
    yield "agent session, user and tool", session
    yield "Claude Code samples, user and tool", _claude_code(data)
    files = [row["text"] for row in _json_lines(data / "instruction_files/dev.jsonl.gz")]
    yield "instruction files, paragraphs", [part for text in files for part in text.split("\n\n") if part.strip()]
    sessions = _json_lines(data / "longmemeval/s_sessions_user500.jsonl.gz")
    yield "LongMemEval sessions", [row["user_text_500"] for row in sessions]
    meetings = _json_lines(data / "qmsum/val.jsonl.gz")
    yield "QMSum turns", [turn["content"] for row in meetings for turn in row["meeting_transcripts"]]


def _locomo(data: Path) -> list[str]:
    samples = json.loads(gzip.decompress((data / "locomo/locomo5_dev.json.gz").read_bytes()))
    sessions = [part for sample in samples for part in sample["conversation"].values() if isinstance(part, list)]
    return [turn["text"] for session in sessions for turn in session]


def _claude_code(data: Path) -> list[str]:
    rows = _json_lines(data / "agent_sessions/claude_code_log_message_samples.jsonl.gz")
    contents = [row["entry"]["message"]["content"] for row in rows if row["entry"]["type"] == "user"]
    return [text for content in contents for text in _texts(content)]


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _texts(part.get("text") or part.get("content") or "")


# --- grades ----------------------------------------------------------------------------------------------


def _graded_halves(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    rows = _json_lines(path)
    held_back = {row["id"] for row in rows if hashlib.sha256(row["id"].encode()).digest()[0] % 2 == 1}
    yield "looked at", [row for row in rows if row["id"] not in held_back]
    yield "held back", [row for row in rows if row["id"] in held_back]
    yield "all", rows


def _grading(rows: list[dict[str, Any]]) -> Grading:
    pairs: Counter[tuple[str, str]] = Counter()
    within = 0
    for row in rows:
        given = grade(row["obs"]["summary"], Kind(row["obs"]["kind"]), row["obs"]["tool_name"])
        pairs[row["expect"]["label"], given.label.value] += 1
        within += row["expect"]["score_min"] <= given.score <= row["expect"]["score_max"]
    right = sum(count for (true, given_label), count in pairs.items() if true == given_label)
    f1 = [_f1(pairs, label.value) for label in Label]
    confusion = {f"{true} > {given_label}": count for (true, given_label), count in sorted(pairs.items())}
    return Grading(len(rows), right / len(rows), within / len(rows), sum(f1) / len(f1), confusion)


def _f1(pairs: Counter[tuple[str, str]], label: str) -> float:
    right = pairs[label, label]
    named = sum(count for pair, count in pairs.items() if label in pair) + right
    return 2 * right / named if named else 0.0


def _labels(data: Path) -> Iterator[tuple[str, list[str]]]:
    yield "LoCoMo turns", [grade(text).label.value for text in _locomo(data)]
    rows = _json_lines(data / SESSION)
    results = [row["text"] for row in rows if row["role"] == "tool"]
    yield "agent session, tool results", [grade(text, Kind.OBSERVATION).label.value for text in results]
    yield "agent session, user", [grade(row["text"]).label.value for row in rows if row["role"] == "user"]


def _json_lines(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode().split("\n") if line.strip()]


if __name__ == "__main__":
    main()

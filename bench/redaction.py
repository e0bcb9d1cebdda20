"""How much redaction finds, what it cuts wrongly, and what it costs.

    python -m bench.redaction DATA [--json]

DATA is the folder of public data sets. Recall is over secrets of many issuers; a secret is found if it no longer stands
in the text. Issuers fall by a hash of their name into those the detectors were written with and those that were held
back. False positives are counted over texts without secrets, and over look-alikes of secrets. Time is processor time.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from time import thread_time
from typing import Any

from clew.text.redaction import Policy, redact

ADVERSARIAL_CHARS = 200_000
ADVERSARIAL = (
    "a", "A", "1", "-", "=", ":", " ", "\n", "漢", "key=", "token=", "token: ", "authkey: a1B2", "password=\"",
    "cookie: a=b; ", "cookie:a=xxxxxx", "sk-", "AKIA", "eyJaaaaaaaaa.", "://a:b@", "-u a:b ", "Bearer abc",
    "data:\n  a: b\n", "&sig=", "-----BEGIN PRIVATE KEY-----\n", "token=a1b2c3d4e5f6 ", "[redacted:jwt]", ":AA", "-us1",
    "password%3D", "%253D", "| password |\n|---|---|\n", '"value":"a","name":"token"', "密码：", "acme_live_a1B2",
    "cGFzc3dvcmQ9", "the key a1B2c3D4e5F6g7H8i9J0 ", "&quot;", "pw: pass: ",
    "password for prod: ", "password the a b is ", "a1!b2c is the password ", "пароль от ", "密码 ", "password:\n",
    "Password:<br>", "password:\n```\n", "_ghp_", "-:AA", '"password":{"value":', "name=password ", "pass\u200bword",
    "ｐａｓｓｗｏｒｄ：", "%70assword", "&nbsp;", "mdp ",
)  # fmt: skip
PERSONAL_KINDS = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "credit-card",
    "IBAN_CODE": "iban",
    "US_SSN": "ssn",
    "IP_ADDRESS": "ip-address",
    "STREET_ADDRESS": "street-address",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    options = parser.parse_args()
    figures = measure(options.data)
    print(json.dumps(figures) if options.json else _table(figures))


def measure(data: Path) -> dict[str, Any]:
    turns = _turns(data / "locomo" / "locomo5_dev.json.gz")
    return measure_quality(data) | {
        "ms_per_kb": {
            "conversation turns": _ms_per_kb(turns),
            "instruction files": _ms_per_kb(_instruction_files(data)),
            "agent session": _ms_per_kb(_lines(data / "agent_sessions" / "pi_large-session.jsonl.gz")),
            "conversation turns, personal data too": _ms_per_kb(turns, Policy.PII),
            **_worst_adversarial(),
        },
    }


def measure_quality(data: Path) -> dict[str, Any]:
    secrets = _json_lines(data / "secrets" / "gitleaks_dev.jsonl.gz")
    lines = [line for text in _instruction_files(data) for line in text.split("\n")]
    return {
        "recall": recall(secrets),
        "bare": bare_recall(secrets),
        "false_positives": {
            "conversation turns": _share_cut(_turns(data / "locomo" / "locomo5_dev.json.gz")),
            "lines of instruction files": _share_cut(lines),
            "lines of an agent session": _share_cut(_lines(data / "agent_sessions" / "pi_large-session.jsonl.gz")),
            "look-alikes": _share_cut([row["text"] for row in secrets if row["label"] != "secret"]),
        },
        "personal": personal(_json_lines(data / "secrets" / "presidio_pii_dev.jsonl.gz")),
    }


def is_held_back(issuer: str) -> bool:
    """Whether the detectors were written without a look at the samples of this class, which holds for a quarter."""
    return hashlib.sha256(issuer.encode()).digest()[0] < 64


def recall(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The share of secrets that are gone, for all samples, as the mean of the classes, and for each class."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row["label"] == "secret":
            hits[row["rule"]].append(row["secret"] not in redact(row["text"]).text)
    groups: dict[str, Callable[[str], bool]] = {
        "all": lambda _: True,
        "written with": lambda name: not is_held_back(name),
        "held back": is_held_back,
    }
    summary = {}
    for group, belongs in groups.items():
        classes = [found for name, found in hits.items() if belongs(name)]
        summary[group] = {
            "classes": len(classes),
            "samples": sum(map(len, classes)),
            "by_sample": sum(map(sum, classes)) / max(1, sum(map(len, classes))),
            "by_class": sum(sum(found) / len(found) for found in classes) / max(1, len(classes)),
        }
    by_class = {name: {"held_back": is_held_back(name), "recall": sum(f) / len(f)} for name, f in sorted(hits.items())}
    return {**summary, "classes": by_class}


BARE_PLACES = ("{}", "use {} for this one", "| staging | {} | ann |", "- {}\n- next", "it was ({}), then it broke.")


def bare_recall(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The share of secrets that are gone from a text without a name beside them, as the mean of the classes.

    By two halves of the classes: structures were chosen with a look at one of them, and the other was kept unread.
    """
    hits: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        secret = row["secret"] or ""
        if row["label"] == "secret" and "\n" not in secret:
            hits[row["rule"]] += [secret not in redact(place.format(secret)).text for place in BARE_PLACES]
    shares: dict[str, list[float]] = {"looked at": [], "unread": []}
    for name, found in hits.items():
        unread = hashlib.sha256(name.encode()).digest()[0] < 128
        shares["unread" if unread else "looked at"].append(sum(found) / len(found))
    return {half: sum(found) / max(1, len(found)) for half, found in shares.items()}


def personal(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each kind of personal data the share that was touched, and the share of cuts that were of that kind."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"there": 0, "touched": 0, "cut": 0, "right": 0})
    for row in rows:
        found = redact(row["full_text"], Policy.PII).found
        spans = [
            (PERSONAL_KINDS.get(span["entity_type"], ""), span["start_position"], span["end_position"])
            for span in row["spans"]
        ]
        for kind, start, end in spans:
            if kind:
                counts[kind]["there"] += 1
                counts[kind]["touched"] += any(item.start < end and start < item.end for item in found)
        for item in found:
            counts[item.kind]["cut"] += 1
            counts[item.kind]["right"] += any(
                kind == item.kind and item.start < end and start < item.end for kind, start, end in spans
            )
    return {
        kind: {
            "samples": count["there"],
            "recall": count["touched"] / max(1, count["there"]),
            "precision": count["right"] / max(1, count["cut"]),
        }
        for kind, count in sorted(counts.items())
    }


def _share_cut(texts: list[str]) -> float:
    return sum(bool(redact(text).found) for text in texts) / len(texts)


def _ms_per_kb(texts: list[str], policy: Policy = Policy.SECRETS) -> float:
    started = thread_time()
    for text in texts:
        redact(text, policy)
    return (thread_time() - started) * 1000 / (sum(map(len, texts)) / 1024)


def _worst_adversarial() -> dict[str, float]:
    """The slowest of texts that repeat one piece, and a random mixture of the pieces."""
    mixture = "".join(random.Random(1).choices(ADVERSARIAL, k=ADVERSARIAL_CHARS // 8))
    texts = {repr(piece): piece * (ADVERSARIAL_CHARS // len(piece)) for piece in ADVERSARIAL} | {"mixture": mixture}
    times = {name: _ms_per_kb([text]) for name, text in texts.items()}
    name = max(times, key=lambda name: times[name])
    return {f"worst adversarial, {name}": times[name]}


def _table(figures: dict[str, Any]) -> str:
    found = figures["recall"]
    lines = [f"{'recall':42}{'classes':>8}{'samples':>8}{'by sample':>11}{'by class':>10}"]
    for group in ("all", "written with", "held back"):
        part = found[group]
        lines.append(
            f"{group:42}{part['classes']:>8}{part['samples']:>8}{part['by_sample']:>11.2%}{part['by_class']:>10.2%}"
        )
    for name, row in found["classes"].items():
        note = "  held back" if row["held_back"] else ""
        lines.append(f"  {name:40}{row['recall']:>37.1%}{note}")
    lines += ["", "bare, mean of classes", *(f"  {name:40}{share:>9.1%}" for name, share in figures["bare"].items())]
    lines += ["", "cut wrongly", *(f"  {name:40}{share:>9.3%}" for name, share in figures["false_positives"].items())]
    lines += ["", f"{'personal data':42}{'samples':>8}{'recall':>9}{'precision':>11}"]
    for kind, row in figures["personal"].items():
        lines.append(f"  {kind:40}{row['samples']:>8}{row['recall']:>9.1%}{row['precision']:>11.1%}")
    lines += ["", "ms per KB", *(f"  {name:40}{time:>9.4f}" for name, time in figures["ms_per_kb"].items())]
    return "\n".join(lines)


def _instruction_files(data: Path) -> list[str]:
    return [row["text"] for row in _json_lines(data / "instruction_files" / "dev.jsonl.gz")]


def _turns(path: Path) -> list[str]:
    conversations = json.loads(gzip.decompress(path.read_bytes()))
    return [
        turn["text"]
        for conversation in conversations
        for name, session in conversation["conversation"].items()
        if name.startswith("session_") and isinstance(session, list)
        for turn in session
    ]


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(path)]


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")


if __name__ == "__main__":
    main()

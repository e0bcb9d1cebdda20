"""All settings, in one frozen object: read once, every field documented and bounded.

Later sources win: the defaults below, `clew.toml` in the data folder, `CLEW_*` in the environment,
arguments. An unknown name or a value out of bounds is an error. A name that once was a setting is ignored with a
warning, so that an upgrade never keeps a store from opening.
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Self

from clew.core.collections import Collection
from clew.core.predicates import registry
from clew.errors import InvalidInput

CONFIG_FILE = "clew.toml"
MIB = 1024 * 1024
REDACTION_POLICIES = ("off", "secrets", "pii")
RETIRED = frozenset(
    """
    capture_file_bytes context_weights embed_batch embed_threads frame_limit_bytes max_inflight observe_block_tokens
    observe_buffer_tokens pack_items pack_min_similarity recall_candidates recall_items recall_min_similarity
    recency_decays search_weights summarizer_min_gate tail_max_turns
    """.split()
)
"""Names that were settings once and are constants now."""

_log = logging.getLogger("clew.config")


def _setting(default: Any, help_text: str, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"help": help_text, "low": low, "high": high})


def default_data_dir() -> Path:
    """`CLEW_HOME`, or the user's data folder."""
    home = os.environ.get("CLEW_HOME")
    if home:
        return Path(home).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "clew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    data_dir: Path = field(
        default_factory=default_data_dir, metadata={"help": "Folder that holds the store and the socket."}
    )
    listen: str = _setting("", "Endpoint of the daemon: unix:PATH or tcp:127.0.0.1:PORT; empty is DATA/clew.sock.")

    embedder: str = _setting("auto", "auto, none, a pack's name or folder, openai, ollama, or hashing (tests only).")
    embedder_url: str = _setting("", "Base address of an OpenAI-compatible or Ollama server.")
    embedder_model: str = _setting("", "Model name to ask that server for.")
    embedder_key_env: str = _setting("CLEW_EMBEDDER_KEY", "Environment variable that holds its key.")
    embed_timeout_ms: int = _setting(1000, "Longest wait for a query's vector before answering by words.", 10, 60_000)

    synchronous: str = _setting("full", "full survives power loss; normal survives a crash of the process.")
    index_cache_bytes: int = _setting(512 * MIB, "Memory for loaded collection indexes.", MIB, 1 << 40)
    max_text_bytes: int = _setting(MIB, "Longest text of one turn or record.", 1024, 64 * MIB)

    redaction: str = _setting("secrets", "What is cut from texts before they are written: secrets, pii or off.")
    redaction_scopes: tuple[str, ...] = _setting(
        (), "Other policies by collection, first match wins: user:ann=pii, session_raw:*=off."
    )
    capture_inline_bytes: int = _setting(8 * 1024, "Longer payloads of captured events go to an artifact.", 256, MIB)

    retention_days: tuple[int, ...] = _setting(
        (90, 30), "Days without use after which P1 and P2 records are archived.", 1, 36_500
    )
    lifecycle_hours: int = _setting(24, "The daemon ages records this often; 0 leaves it to the operator.", 0, 24 * 365)

    pack_budget_tokens: int = _setting(1200, "Budget of a pack where the caller names none.", 64, 1_000_000)

    fact_predicates: tuple[str, ...] = _setting(
        (), "Predicates of facts beside those that are built in: lives_in=single, speaks=many."
    )

    gate_threshold: float = _setting(0.19, "A user's turn at or above this is kept as a memory.", 0, 1)

    authored_files: tuple[str, ...] = _setting((), "Markdown the operator wrote for the agent, such as AGENTS.md.")
    authored_notes: tuple[str, ...] = _setting(
        (), "Folders or files of ordinary Markdown notes, recalled when they fit."
    )
    authored_hard_kinds: tuple[str, ...] = _setting(
        ("front_matter", "list_item"), "Kinds of node that are always in the context; `clew authored show` names them."
    )
    authored_hard_share: float = _setting(
        0.25, "Share of the budget hard authored text may take; more is an error.", 0, 1
    )
    authored_soft_share: float = _setting(0.10, "Share of the budget soft authored text is cut to.", 0, 1)

    budget_tokens: int = _setting(8000, "Context budget where the caller names none.", 64, 10_000_000)
    tail_share: float = _setting(0.50, "Share of the budget the recent tail grows to.", 0, 1)
    tail_min_turns: int = _setting(4, "Turns of the tail that are always there.", 1, 1000)
    guidance_share: float = _setting(0.10, "Share of the budget elevated guidance may take.", 0, 1)
    guidance_min_stability: float = _setting(0.35, "Turns less lasting than this never become guidance.", 0, 1)
    tokenizer: str = _setting("auto", "auto, estimate, o200k_base or cl100k_base.")

    compact_cluster_turns: int = _setting(20, "Turns that one summary covers.", 1, 1000)
    compact_siblings: int = _setting(8, "Summaries of one level that are condensed into a higher one.", 2, 1000)
    summarizer: str = _setting("none", "none, openai, ollama, or a folder with a sequence-to-sequence ONNX model.")
    summarizer_url: str = _setting("", "Base address of an OpenAI-compatible or Ollama server.")
    summarizer_model: str = _setting("", "Model name to ask that server for.")
    summarizer_key_env: str = _setting("CLEW_SUMMARIZER_KEY", "Environment variable that holds its key.")
    summarizer_timeout_ms: int = _setting(20_000, "Longest wait for one summary of a model.", 100, 600_000)

    deadline_ms: int = _setting(30_000, "Longest time the daemon works on one request.", 10, 3_600_000)
    max_connections: int = _setting(256, "Clients connected at once.", 1, 65_536)
    log_format: str = _setting("text", "text or json.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_dir", Path(self.data_dir).expanduser())
        for item in fields(self):
            if isinstance(item.default, tuple) and isinstance(getattr(self, item.name), list):
                object.__setattr__(self, item.name, tuple(getattr(self, item.name)))
            _check(item.name, getattr(self, item.name), item.default, item.metadata)
        _check_choice("synchronous", self.synchronous, ("full", "normal"))
        _check_choice("log_format", self.log_format, ("text", "json"))
        _check_choice("redaction", self.redaction, REDACTION_POLICIES)
        for setting in self.redaction_scopes:
            _check_choice(f"redaction_scopes: {setting}", setting.rpartition("=")[2], REDACTION_POLICIES)
        registry(self.fact_predicates)
        _check_choice("tokenizer", self.tokenizer, ("auto", "estimate", "o200k_base", "cl100k_base"))

    @property
    def database(self) -> Path:
        return self.data_dir / "clew.db"

    @property
    def endpoint(self) -> str:
        return self.listen or f"unix:{self.data_dir / 'clew.sock'}"

    def redaction_of(self, *collections: Collection) -> str:
        """The policy for a text in these collections: the first setting that names one of them decides."""
        names = [name for collection in collections for name in collection.setting_names]
        for setting in self.redaction_scopes:
            pattern, _, policy = setting.rpartition("=")
            if any(fnmatchcase(name, pattern) for name in names):
                return policy
        return self.redaction

    @property
    def frame_limit_bytes(self) -> int:
        """The longest request line of the daemon; the longest text decides it."""
        return max(self.max_text_bytes, MIB)

    @property
    def token_file(self) -> Path:
        return self.data_dir / "token"

    @classmethod
    def load(cls, *, environment: Mapping[str, str] | None = None, **arguments: Any) -> Self:
        """Settings from file, environment and arguments; an argument of None counts as not given."""
        given = {name: value for name, value in arguments.items() if value is not None}
        environment = os.environ if environment is None else environment
        data_dir = Path(given.get("data_dir") or default_data_dir()).expanduser()
        in_file = _from_file(data_dir / CONFIG_FILE)
        if "data_dir" in in_file:
            raise InvalidInput(f"{data_dir / CONFIG_FILE}: data_dir cannot be set in the file that lies in it")
        values = in_file | _from_environment(environment) | given
        values["data_dir"] = data_dir
        _refuse_unknown(values)
        retired = tuple(sorted(RETIRED.intersection(values)))
        if retired:
            _warn_of_retired(retired)
        return cls(**{name: value for name, value in values.items() if name not in RETIRED})


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: {error}") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for item in fields(Config):
        text = environment.get(f"CLEW_{item.name.upper()}")
        if text is not None and item.name != "data_dir":
            values[item.name] = _parse(item.name, text, item.default)
    return values | {name: None for name in RETIRED if f"CLEW_{name.upper()}" in environment}


def _parse(name: str, text: str, default: Any) -> Any:
    kind = str if default is MISSING else type(default)
    if isinstance(default, tuple):
        pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
        return tuple(_parse(name, piece, default[0] if default else "") for piece in pieces)
    try:
        return kind(text)
    except ValueError as error:
        raise InvalidInput(f"CLEW_{name.upper()}: {text!r} is not a valid {kind.__name__}") from error


def _refuse_unknown(values: Mapping[str, Any]) -> None:
    known = {item.name for item in fields(Config)} | RETIRED
    unknown = sorted(set(values) - known)
    if unknown:
        raise InvalidInput(f"unknown setting {unknown[0]!r}; `clew config` lists what can be set")


@cache
def _warn_of_retired(names: tuple[str, ...]) -> None:
    """Once a process: a program may read its settings several times."""
    _log.warning("no longer a setting, and ignored: %s", ", ".join(names))


def _check(name: str, value: Any, default: Any, limits: Mapping[str, Any]) -> None:
    """A value has the type of its default (a whole number will do for a fraction) and keeps its bounds."""
    if default is MISSING:
        return
    if isinstance(default, tuple):
        _check_list(name, value, default, limits)
        return
    allowed: tuple[type, ...] = (int, float) if isinstance(default, float) else (type(default),)
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise InvalidInput(f"{name} must be a {allowed[-1].__name__}, not {value!r}")
    low, high = limits["low"], limits["high"]
    if low is not None and not low <= value <= high:
        raise InvalidInput(f"{name} must be from {low:g} to {high:g}, not {value!r}")


def _check_list(name: str, value: Any, default: tuple[Any, ...], limits: Mapping[str, Any]) -> None:
    """Numbers keep their count, since each has its own meaning; names may be any number."""
    if not isinstance(value, tuple):
        raise InvalidInput(f"{name} must be a list, not {value!r}")
    if default and not isinstance(default[0], str) and len(value) != len(default):
        raise InvalidInput(f"{name} must have {len(default)} values, not {len(value)}")
    for item in value:
        _check(name, item, default[0] if default else "", limits)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(choices)}, not {value!r}")

"""Opens the ONNX runtime, with its telemetry off, and tokenizers. No other module imports the runtime."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from clew.errors import ClewError

_NO_LIBRARY = "running a model needs the `onnx` extra: pip install 'clew[onnx]'"


def onnx_runtime() -> Any:
    """The runtime, with its telemetry off. Raises ImportError where it is not installed.

    Its import alone writes a device id into the user's cache and starts an uploader, unless the environment already
    forbids that. Where the program has imported it before, this call ends its events.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_session(path: Path, failure: type[ClewError], threads: int) -> Any:
    """Opens a model as a good neighbour of other programs.

    Without an arena, the runtime gives back the memory of a long text. Threads that sleep instead of spinning halve
    the processor time of a text, and double the speed where other work shares the cores.
    """
    try:
        onnxruntime = onnx_runtime()
    except ImportError as error:
        raise failure(_NO_LIBRARY) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime raises its own, undeclared kinds
        raise failure(f"{path} cannot be loaded: {type(error).__name__}") from error


def open_tokenizer(path: Path, failure: type[ClewError]) -> Any:
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(path))
    except ImportError as error:
        raise failure(_NO_LIBRARY) from error
    except Exception as error:  # the library raises bare Exception for a bad file
        raise failure(f"{path} cannot be read as a tokenizer: {error}") from error
    tokenizer.no_padding()
    return tokenizer

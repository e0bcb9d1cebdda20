"""The ONNX runtime, kept from calling home. Nothing else imports it."""

from __future__ import annotations

import os
from typing import Any


def onnx_runtime() -> Any:
    """The runtime, with its telemetry off. Raises ImportError where it is not installed.

    Its import alone writes a device id into the user's cache and starts an uploader, unless the environment
    forbids it by then. Where the program had imported it before, its events end here.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime

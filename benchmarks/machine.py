"""In one line, what was measured on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine(cores: str, *packages: str) -> str:
    """What it was measured on and with; packages that are not installed are left out."""
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), cpu)
    known = [f"Python {platform.python_version()}"]
    for name in packages:
        try:
            known.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Measured on {cores} of {cpu}, {', '.join(known)}."

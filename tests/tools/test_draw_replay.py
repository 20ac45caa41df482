# SPDX-License-Identifier: Apache-2.0
"""tools/draw_replay.py: the picture has the batches of the span, where they were."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from support.stage import PROJECT_ROOT

MS = 1_000_000
SVG = "{http://www.w3.org/2000/svg}"


def draw(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROJECT_ROOT / "tools" / "draw_replay.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_picture(tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"
    lines = [
        {"nereid_recording": 1},
        {"request": 1, "queued": 5 * MS},
        {"batch": 1, "instance": 1, "number": 1, "pulled": 15 * MS, "ended": 25 * MS}
        | {"requests": 3, "reason": "full"},
        {"batch": 1, "instance": 2, "number": 1, "pulled": 95 * MS, "ended": 99 * MS}
        | {"requests": 1, "reason": "delay_over"},
    ]
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    replay = tmp_path / "replay.json"
    batch = {"pulled_ns": 20 * MS, "ended_ns": 25 * MS, "instance": 1, "reason": "new"}
    replay.write_text(json.dumps({"batches": [batch | {"members": [0, 1]}]}), encoding="utf-8")
    done = draw(str(recording), "0", "50", f"a <b>={replay}")
    assert done.returncode == 0, done.stderr
    picture = ET.fromstring(done.stdout)
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert "recorded" in texts and "a <b>" in texts
    assert [text for text in texts if text in ("1", "2", "3")] == ["3", "2"]
    assert texts[-2:] == ["full", "new"]  # the other reason is outside of the span
    bars = [rect for rect in picture.iter(f"{SVG}rect") if rect.get("height") == "20"]
    marked = [bar for bar in bars if bar.get("rx") == "2"]
    assert [float(bar.get("width", "0")) for bar in marked] == [134.6, 66.8]
    assert float(marked[1].get("y", "0")) > float(marked[0].get("y", "0"))


def test_usage() -> None:
    done = draw("recording.jsonl")
    assert done.returncode == 1
    assert "tools/draw_replay.py RECORDING FROM_MS TO_MS" in done.stderr

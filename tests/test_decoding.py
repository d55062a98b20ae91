"""Decoding of plain data: from many threads at once, and nowhere around it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from worldthread.files.decoding import convert, decode_json, decoder_of

ROOT = Path(__file__).parents[1]

MANY_NEW_TYPES = """
import sys, threading
import msgspec
from worldthread.files.decoding import convert, decode_json

decode = {
    "decode_json": decode_json,
    "convert": lambda text, kind: convert(msgspec.json.decode(text), kind),
    "msgspec": lambda text, kind: msgspec.json.decode(text, type=kind),
}[sys.argv[1]]
sys.setswitchinterval(1e-6)

def work(barrier, kind):
    barrier.wait()
    assert decode(b'{"a": {"x": 1, "y": 2.0}, "b": [{"x": 2, "y": 0.5}], "c": {}}', kind).b[0].x == 2

for number in range(400):
    part = msgspec.defstruct(f"Part{number}", [("x", int), ("y", float)], forbid_unknown_fields=True)
    kind = msgspec.defstruct(f"Whole{number}", [("a", part), ("b", list[part]), ("c", dict[str, part])])
    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=work, args=(barrier, kind)) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print("done")
"""


@pytest.mark.parametrize("function", ["decode_json", "convert"])
def test_threads_that_see_a_type_for_the_first_time_do_not_end_the_process(function: str) -> None:
    done = subprocess.run([sys.executable, "-c", MANY_NEW_TYPES, function], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_all_decoding_goes_through_this_module() -> None:
    direct = re.compile(r"msgspec\.(convert|(json|toml|yaml|msgpack)\.(decode|Decoder))\b")
    source = ROOT / "src"
    assert [path.name for path in source.rglob("*.py") if direct.search(path.read_text("utf-8"))] == ["decoding.py"]


class Point(msgspec.Struct):
    x: int


def test_values_are_checked() -> None:
    assert convert({"x": 1}, Point) == decode_json('{"x": 1}', Point) == Point(1)
    assert decoder_of(Point) is decoder_of(Point)
    with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
        convert({"x": "1"}, Point)
    with pytest.raises(msgspec.DecodeError):
        decode_json(b"{", Point)
    unhashable: Any = Annotated[int, msgspec.Meta(extra_json_schema={"examples": [1]}, ge=0)]
    assert decode_json(b"1", unhashable) == 1

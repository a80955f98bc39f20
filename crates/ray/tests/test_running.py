"""Children: they tell where they listen, and never outlive their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from conftest import gone, is_alive

from colgrep_ray.running import Child, ProgramError, output

SERVES = [sys.executable, "-c", "import time; print('listening on 127.0.0.1:4321', flush=True); time.sleep(600)"]


def test_a_child_tells_its_address_and_ends_when_asked() -> None:
    child = Child(SERVES, os.environ)
    assert child.wait_for_address(20) == "127.0.0.1:4321"
    assert child.is_running and child.pid
    child.stop()
    assert not child.is_running


def test_what_does_not_start_says_why() -> None:
    with pytest.raises(ProgramError, match="No such file"):
        Child(["/no/such/program"], os.environ).wait_for_address(20)
    with pytest.raises(ProgramError, match="the reason"):
        Child([sys.executable, "-c", "import sys; sys.exit('the reason')"], os.environ).wait_for_address(20)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends children")
def test_a_child_dies_with_a_parent_that_is_killed() -> None:
    code = (
        "import os, sys, time\nfrom colgrep_ray.running import Child\n"
        f"child = Child({SERVES!r}, os.environ)\nchild.wait_for_address(20)\n"
        "print(child.pid, flush=True)\ntime.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = 0
    try:
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
        parent.wait()
        assert gone(pid)
    finally:
        parent.kill()
        parent.communicate()
        with suppress(ProcessLookupError):
            os.kill(pid or parent.pid, signal.SIGKILL)


def test_an_error_has_the_program_s_own_words() -> None:
    with pytest.raises(ProgramError, match="went wrong") as failed:
        output([sys.executable, "-c", "import sys; sys.exit('went wrong')"], 20, os.environ)
    assert failed.value.status == 1
    with pytest.raises(ProgramError, match="longer than"):
        output([sys.executable, "-c", "import time; time.sleep(60)"], 0.2, os.environ)

"""Programs as children: those that end with an answer, and one that serves and must not outlive its parent."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Longest piece of a program's messages that an error repeats, in characters.
SAID_MAX = 2000


class ProgramError(RuntimeError):
    """A program that failed; the message has what it said."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message, status)
        self.message = message
        #: Its exit status; None where it could not be started or took too long.
        self.status = status

    def __str__(self) -> str:
        return self.message


def output(
    arguments: Sequence[str],
    timeout: float,
    env: Mapping[str, str],
    folder: Path | None = None,
    codes: Sequence[int] = (0,),
) -> tuple[int, str]:
    """Runs a program to its end: exit status and standard output.

    Raises:
        ProgramError: Another status than `codes`, no such program, or no end within `timeout` seconds.
    """
    said = " ".join([arguments[0], *[one for one in arguments[1:] if not one.startswith("-") and "=" not in one][:2]])
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            env=dict(env),
            cwd=folder,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProgramError(f"{said}: took longer than {timeout:.0f} s", None) from None
    except OSError as error:
        raise ProgramError(f"{said}: {error}", None) from error
    if done.returncode not in codes:
        why = done.stderr.decode(errors="replace").strip()[-SAID_MAX:] or f"exit status {done.returncode}"
        raise ProgramError(f"{said}: {why}", done.returncode)
    return done.returncode, done.stdout.decode(errors="replace")


class Child:
    """A program that serves, and dies with this process even where that is killed (on Linux)."""

    #: The address in the first line that names one.
    ADDRESS = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\]):\d{1,5}")

    def __init__(self, arguments: Sequence[str], env: Mapping[str, str]) -> None:
        self.address: str | None = None
        self._said: deque[str] = deque(maxlen=20)
        self._told = threading.Event()
        self._started = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._failure = ""
        # On Linux a child's end is bound to the thread that began it, so one thread begins it and stays.
        threading.Thread(target=self._run, args=(list(arguments), dict(env)), daemon=True).start()
        self._started.wait()

    def _run(self, arguments: list[str], env: dict[str, str]) -> None:
        tether = [sys.executable, "-I", "-S", str(Path(__file__).with_name("tether.py")), str(os.getpid())]
        try:
            process = subprocess.Popen(
                [*tether, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=env,
            )
        except OSError as error:
            self._failure = f"{arguments[0]}: {error}"
            self._started.set()
            self._told.set()
            return
        self._process = process
        self._started.set()
        assert process.stdout is not None
        for line in process.stdout:
            self._said.append(line.rstrip())
            found = self.ADDRESS.search(line)
            if self.address is None and found:
                self.address = found.group()
                self._told.set()
        process.wait()
        self._told.set()

    @property
    def pid(self) -> int | None:
        """Its number, once it began."""
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        """Whether it lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def said(self) -> str:
        """The last lines that it wrote, or why it did not begin."""
        return (self._failure or "\n".join(self._said))[-SAID_MAX:]

    def wait_for_address(self, timeout: float) -> str:
        """The address where it listens.

        Raises:
            ProgramError: It ended, or named none in time.
        """
        self._told.wait(timeout)
        if self.address is None:
            self.stop()
            raise ProgramError(self.said or "it ended without a word", None)
        return self.address

    def wait_until_ready(self, timeout: float) -> None:
        """Waits until it says at `/readyz` that it answers.

        Raises:
            ProgramError: It ended, or is not ready in time.
        """
        until = time.monotonic() + timeout
        while not self.answers("/readyz"):
            if not self.is_running or time.monotonic() > until:
                self.stop()
                raise ProgramError(self.said or "it is not ready in time", None)
            time.sleep(0.1)

    def answers(self, path: str, timeout: float = 5.0) -> bool:
        """Whether it answers a GET of this path with 200."""
        host, _, port = (self.address or "localhost:0").rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=timeout)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self, grace: float = 5.0) -> None:
        """Ends it: by a request, and after `grace` seconds without asking."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

"""The systems that a release is built for, and the names that pip, npm and cargo have for them."""

import dataclasses
import functools
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Target:
    """A system, by its Rust triple."""

    triple: str
    # npm's `os`, `cpu` and, on Linux, `libc`.
    os: str
    cpu: str
    libc: str | None = None
    # The platform of a wheel. Without one it follows from the glibc that the files need.
    wheel: str | None = None

    @property
    def is_windows(self) -> bool:
        return self.os == "win32"

    @property
    def program(self) -> str:
        """The program's file name."""
        return "colgrep.exe" if self.is_windows else "colgrep"

    @property
    def npm(self) -> str:
        """The npm package that carries the program."""
        return f"colgrep-{self.os}-{self.cpu}" + ("-musl" if self.libc == "musl" else "")

    def wheel_platform(self, files: list[bytes]) -> str:
        """The platform tag of a wheel with these native files."""
        if self.wheel:
            return self.wheel
        return "manylinux_2_{}_{}".format(max(map(glibc_minor, files)), self.triple.split("-")[0])


TARGETS = [
    Target("x86_64-unknown-linux-gnu", "linux", "x64", "glibc"),
    Target("aarch64-unknown-linux-gnu", "linux", "arm64", "glibc"),
    # Static programs, so the oldest musl that a wheel can name will do.
    Target("x86_64-unknown-linux-musl", "linux", "x64", "musl", "musllinux_1_1_x86_64"),
    Target("aarch64-unknown-linux-musl", "linux", "arm64", "musl", "musllinux_1_1_aarch64"),
    Target("x86_64-apple-darwin", "darwin", "x64", None, "macosx_10_12_x86_64"),
    Target("aarch64-apple-darwin", "darwin", "arm64", None, "macosx_11_0_arm64"),
    Target("x86_64-pc-windows-msvc", "win32", "x64", None, "win_amd64"),
]


def target(triple: str) -> Target:
    """The target with this triple."""
    for known in TARGETS:
        if known.triple == triple:
            return known
    raise SystemExit(f"unknown target {triple}; known: {', '.join(known.triple for known in TARGETS)}")


@functools.cache
def host() -> Target:
    """The target of this machine's toolchain."""
    shown = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return target(re.findall(r"(?m)^host: (\S+)$", shown)[0])


def glibc_minor(file: bytes) -> int:
    """The newest glibc 2.x whose symbols an ELF file names; 17, the oldest that a wheel can name, if it names none."""
    return max([17, *(int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", file))])

"""Archives that come out the same for the same content: fixed order, owner and time."""

import functools
import gzip
import hashlib
import io
import os
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@functools.cache
def build_time() -> int:
    """`SOURCE_DATE_EPOCH`, or the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    # Zip can't express times before 1980.
    return int(shown.stdout) if shown.returncode == 0 else 315532800


def tar_gz(entries: dict[str, bytes], executables: set[str], level: int) -> bytes:
    """A `.tar.gz` of these files."""
    packed = io.BytesIO()
    compressed = gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=level, mtime=build_time(), filename="")
    with compressed, tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(entries.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), build_time()
            info.mode = 0o755 if name in executables else 0o644
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def zipped(entries: dict[str, bytes], executables: set[str], level: int) -> bytes:
    """A `.zip` of these files, in the order given."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, time.gmtime(build_time())[:6])
            info.create_system = 3  # Unix, so that the mode counts
            info.external_attr = (0o100755 if name in executables else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content, compresslevel=level)
    return packed.getvalue()


def write(path: Path, content: bytes) -> Path:
    """Writes a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def checksums(folder: Path) -> Path:
    """Writes `SHA256SUMS` of a folder's files, as `sha256sum -c` reads it."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    return write(folder / "SHA256SUMS", "".join(lines).encode())

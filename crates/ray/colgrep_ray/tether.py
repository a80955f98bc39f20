"""Becomes another program that the kernel ends when its parent ends: `tether.py PARENT PROGRAM ARGUMENT…`.

A node that is killed without grace kills no grandchildren, and a shard that lives on would hold its folder. Elsewhere than
on Linux the program is begun untethered. Run as a script, without the rest of the package.
"""

import ctypes
import os
import signal
import sys

#: From `linux/prctl.h`.
PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ties this process to its parent, and becomes the program."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the parent is gone")
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error:
        sys.exit(f"{sys.argv[2]}: {error}")


if __name__ == "__main__":
    main()

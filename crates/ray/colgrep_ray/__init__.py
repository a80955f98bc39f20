"""An organisation's repositories as one corpus: colgrep's shards on a Ray cluster.

Ray places, starts, watches and replaces processes, and moves sources. The program ``colgrep`` does the rest: it makes the
indexes, shares them through a bucket, answers as a shard and puts the shards' answers together. Nothing here ranks, and no
search waits for Ray: an actor that is being started again hangs its callers, a closed socket does not.

``colgrep-ray start CONFIG`` is the front door (:mod:`colgrep_ray.command`); :mod:`colgrep_ray.config` has what a file says.
"""

from .config import Config, ConfigError, Repository, read

__all__ = ["Config", "ConfigError", "Repository", "read"]

"""Tests of manifests.py: python3 -m unittest discover crates/cluster/deploy"""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from manifests import GIT, ManifestError, kubernetes, push, read, systemd, update

PLAN = {
    "shards": [["10.0.0.1:4001", "10.0.0.2:4001"], ["10.0.0.2:4002"]],
    "repositories": [
        [{"name": "api", "url": "https://git.example.com/acme/api"}],
        [{"name": "web", "url": "https://git.example.com/acme/web"}, {"name": "it's", "url": "x"}],
    ],
    "bucket": "s3://acme-search/colgrep",
    "image": "registry.example.com/colgrep:0.1.0",
}


def plan(**changes):
    """The plan as a file says it, with changes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "shards.json"
        file.write_text(json.dumps(PLAN | {"repositories": [PLAN["repositories"][0], PLAN["repositories"][1][:1]]} | changes))
        return read(file)


class Manifests(unittest.TestCase):
    def test_a_file_that_contradicts_itself_is_refused(self):
        twice = [[{"name": "api", "url": "a"}], [{"name": "api", "url": "b"}]]
        for changes, why in (
            ({"repositories": []}, "2 shards, and repositories of 0"),
            ({"repositories": twice}, "belongs to two shards"),
            ({"repositories": PLAN["repositories"]}, "is no name"),
            ({"repositories": [[{"name": "a", "url": "--upload-pack=x"}], [{"name": "b", "url": "y"}]]}, "no address"),
            ({"shards": [["a:1"], []]}, "needs a replica"),
        ):
            with self.assertRaisesRegex(ManifestError, why):
                plan(**changes)
        with self.assertRaisesRegex(ManifestError, "image"):
            kubernetes(plan(image=""))

    def test_units_are_for_each_replica_on_its_host(self):
        files = systemd(plan())
        self.assertEqual(
            sorted(files),
            [
                "10.0.0.1/colgrep-shard-0.service",
                *(f"10.0.0.1/colgrep-update-0{kind}" for kind in ("", ".service")),
                "10.0.0.2/colgrep-shard-0.service",
                "10.0.0.2/colgrep-shard-1.service",
                *(f"10.0.0.2/colgrep-update-{shard}{kind}" for shard in (0, 1) for kind in ("", ".service")),
                "build/colgrep-plan.json",
                *(f"build/colgrep-push{kind}" for kind in ("", ".service", ".timer")),
                *(f"build/colgrep-webhook{kind}" for kind in ("", ".service")),
                "coordinator/colgrep.service",
                "coordinator/shards.json",
            ],
        )
        unit = files["10.0.0.2/colgrep-shard-1.service"]
        for part in (
            "ExecStartPre=/usr/local/bin/colgrep-update-1 start\n",
            "TimeoutStartSec=infinity",
            "--listen 10.0.0.2:4002",
            "--repositories /var/lib/colgrep/shard-1/repositories",
            # A limit of starts would leave a shard ended.
            "StartLimitIntervalSec=0\n\n[Service]",
        ):
            self.assertIn(part, unit)
        self.assertIn("ExecStart=/usr/local/bin/colgrep-update-1 follow\n", files["10.0.0.2/colgrep-update-1.service"])
        self.assertNotIn("StartLimit", files["build/colgrep-push.service"])
        self.assertEqual(json.loads(files["coordinator/shards.json"])["shards"], PLAN["shards"])

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze checks units")
    def test_systemd_takes_the_units(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in systemd(plan()).items():
                if name.endswith((".service", ".timer")) and not name.startswith("10.0.0.1"):
                    # No program and no user is there.
                    text = text.replace("/usr/local/bin/colgrep", "/bin/true ").replace("User=colgrep", "User=root")
                    (Path(folder) / Path(name).name).write_text(text)
            units = sorted(map(str, Path(folder).iterdir()))
            done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
        said = [line for line in done.stderr.splitlines() if folder in line or "colgrep" in line]
        self.assertEqual(said, [])

    @unittest.skipUnless(importlib.util.find_spec("kubernetes_validate"), "kubernetes-validate has the schemas")
    def test_kubernetes_takes_the_objects(self):
        import kubernetes_validate

        version = kubernetes_validate.latest_version()
        for one in json.loads(kubernetes(plan())["colgrep.json"])["items"]:
            kubernetes_validate.validate(one, version, strict=True)

    def test_objects_of_kubernetes_fit_together(self):
        items = json.loads(kubernetes(plan())["colgrep.json"])["items"]
        of = {(one["kind"], one["metadata"]["name"]): one for one in items}
        self.assertEqual(len(of), len(items))
        shards = json.loads(of["ConfigMap", "colgrep-shards"]["data"]["shards.json"])["shards"]
        self.assertEqual(shards[0], [f"colgrep-shard-0-{n}.colgrep-shard-0:4001" for n in (0, 1)])
        scripts = of["ConfigMap", "colgrep-scripts"]["data"]
        for (kind, name), one in of.items():
            if kind not in ("StatefulSet", "Deployment"):
                continue
            spec, template = one["spec"], one["spec"]["template"]
            self.assertEqual(spec["selector"]["matchLabels"], template["metadata"]["labels"])
            self.assertIn(("Service", name), of)
            self.assertEqual(of["Service", name]["spec"]["selector"], spec["selector"]["matchLabels"])
            claims = {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
            volumes = {volume["name"] for volume in template["spec"]["volumes"]} | claims
            for container in template["spec"]["containers"] + template["spec"].get("initContainers", []):
                self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
                command = container["command"]
                self.assertTrue(command[0] == "colgrep" or command[0].removeprefix("/scripts/") in scripts, command)
        self.assertEqual(of["StatefulSet", "colgrep-shard-0"]["spec"]["replicas"], 2)



class Replica:
    """A folder with a bucket, a repository and two replicas, whose `colgrep` is a script that keeps commits only."""

    COLGREP = """#!/bin/sh
# pull [--list] ... -- BUCKET TREE | push ... -- BUCKET TREE | init ... -- TREE
verb=$1; list=; name=
while [ "$1" != -- ]; do
  [ "$1" = --list ] && list=1
  [ "$1" = --name ] && name=$2
  shift
done
echo "$verb $name" >> "$CALLS"
if [ "$verb" = init ]; then exit 0; fi
[ -d "$2" ] || exit 1
if [ -e "$2/hangs" ]; then exec sleep 5; fi
case $verb in
  push) echo "$(git -C "$3" rev-parse HEAD) $(git -C "$3" symbolic-ref --short HEAD)" > "$2/$name.new"
    [ -e "$2/$name" ] && cat "$2/$name" >> "$2/$name.new"
    mv "$2/$name.new" "$2/$name" ;;
  pull) [ -e "$2/$name" ] || exit 1
    if [ "$list" ]; then cat "$2/$name"; elif [ -e "$2/damaged" ]; then exit 2; fi ;;
esac
exit 0
"""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.bucket, self.origin = self.folder / "bucket", self.folder / "origin"
        self.bucket.mkdir()
        program = self.folder / "bin/colgrep"
        program.parent.mkdir()
        program.write_text(self.COLGREP)
        program.chmod(0o755)
        self.calls = self.folder / "calls"
        self.env = {
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "CALLS": str(self.calls),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.run("git", "init", "-q", "-b", "main", str(self.origin))
        self.repositories = [{"name": "api", "url": str(self.origin), "branch": "main"}]

    def run(self, *command):
        """Runs a command; its messages."""
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=True).stderr

    def commit(self, text):
        """A commit of the repository."""
        (self.origin / "file").write_text(text)
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        self.run("git", "-C", str(self.origin), "add", ".")
        self.run("git", "-C", str(self.origin), *who, "commit", "-qm", text)

    def plan(self):
        """The plan of one shard."""
        return plan(shards=[["a:1"]], repositories=[self.repositories], bucket=str(self.bucket))

    def script(self, text, *arguments):
        """Runs a script; its messages."""
        path = self.folder / "script"
        path.write_text(text)
        return self.run("sh", str(path), *arguments)

    def push(self, *names):
        """Builds and pushes."""
        return self.script(push(self.plan(), str(self.folder / "build")), *names)

    def update(self, replica="one", *arguments):
        """Brings a replica up to date: its messages, and for each repository its folder and what is in it."""
        data = self.folder / replica
        said = self.script(update(self.plan(), 0, str(data)), *arguments)
        rows = [row for row in (data / "repositories").read_text().splitlines() if not row.startswith("#! ")]
        rows = dict(row.split("=", 1) for row in rows)
        return said, {name: (Path(path).name, (Path(path) / "file").read_text()) for name, path in rows.items()}


class Updates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.replica = Replica(folder.name)

    def test_replicas_follow_the_newest_index_in_two_folders(self):
        one = self.replica
        one.commit("first")
        one.push()
        self.assertEqual(one.update(), ("", {"api": ("a", "first")}))
        # What is not pushed yet is not served: each replica would build it for itself.
        one.commit("second")
        self.assertEqual(one.update(), ("", {"api": ("a", "first")}))
        one.push()
        self.assertEqual(one.update(), ("", {"api": ("b", "second")}))
        # The folder that was served before still has what it had.
        self.assertEqual((one.folder / "one/src/api/a/file").read_text(), "first")
        self.assertEqual(one.update(), ("", {"api": ("b", "second")}))
        self.assertEqual(one.update("two"), ("", {"api": ("a", "second")}))
        one.commit("third")
        one.push()
        self.assertEqual([one.update(name)[1]["api"] for name in ("one", "two")], [("a", "third"), ("b", "third")])

    def test_a_repository_is_added_and_removed(self):
        one = self.replica
        one.commit("first")
        one.push()
        one.update()
        one.repositories.append({"name": "api.web", "url": str(one.origin)})
        one.push("api.web")
        self.assertEqual(one.update()[1], {"api": ("a", "first"), "api.web": ("a", "first")})
        self.assertEqual(one.calls.read_text().count("push api\n"), 1)
        del one.repositories[0]
        self.assertEqual(one.update()[1], {"api.web": ("a", "first")})

    def test_a_shard_starts_from_its_disk_while_git_and_the_bucket_are_away(self):
        one = self.replica
        one.commit("first")
        one.push()
        one.update()
        one.bucket.rename(one.folder / "away")
        one.origin.rename(one.folder / "gone")
        said, served = one.update()
        self.assertEqual(served, {"api": ("a", "first")})
        self.assertIn("api: not fetched; it stays as it is", said)
        rows = (one.folder / "one/repositories").read_text().splitlines()
        self.assertIn("#! api: not fetched", rows, "the shard tells it")
        # The bucket alone is back, with a commit that git can't give.
        (one.folder / "away").rename(one.bucket)
        (one.bucket / "api").write_text(f"{'1' * 40} main\n")
        said, served = one.update()
        self.assertEqual(served, {"api": ("a", "first")})
        self.assertIn("api: not fetched; it stays as it is", said)
        (one.folder / "gone").rename(one.origin)
        one.push()
        one.update()
        self.assertNotIn("#!", (one.folder / "one/repositories").read_text())

    def test_a_follower_says_soon_that_the_bucket_is_lost(self):
        one = self.replica
        one.commit("first")
        one.push()
        one.update()
        script = one.folder / "follow"
        script.write_text(update(one.plan(), 0, str(one.folder / "one")).replace("sleep 15", "sleep 1"))
        rows = one.folder / "one/repositories"
        process = subprocess.Popen(
            ["sh", str(script), "follow"], env=one.env, stderr=subprocess.DEVNULL, start_new_session=True
        )

        def until(is_lost):
            end = time.monotonic() + 60
            while ("#! api: the bucket does not answer" in rows.read_text().splitlines()) != is_lost:
                self.assertLess(time.monotonic(), end, rows.read_text())
                time.sleep(0.05)
            self.assertIn(f"api={one.folder}/one/src/api/a", rows.read_text().splitlines(), "it stays served")

        try:
            # A bucket that hangs, and one that refuses.
            (one.bucket / "hangs").touch()
            until(True)
            (one.bucket / "hangs").unlink()
            until(False)
            one.bucket.rename(one.folder / "away")
            until(True)
            process.terminate()
            self.assertEqual(process.wait(timeout=60), 0)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_a_start_asks_nobody_where_there_is_something_to_serve(self):
        one = self.replica
        one.commit("first")
        one.push()
        self.assertEqual(one.update("one", "start"), ("", {"api": ("a", "first")}))
        one.commit("second")
        one.push()
        # A host that hangs would keep the shard from its start.
        asked = one.folder / "asked"
        git = one.folder / "bin/git"
        git.write_text(f"#!/bin/sh\ntouch {asked}\nexit 1\n")
        git.chmod(0o755)
        calls = one.calls.read_text()
        self.assertEqual(one.update("one", "start"), ("", {"api": ("a", "first")}))
        self.assertEqual((asked.exists(), one.calls.read_text()), (False, calls))
        git.unlink()
        self.assertEqual(one.update(), ("", {"api": ("b", "second")}))

    def test_no_repository_runs_a_program(self):
        one = self.replica
        ran = one.folder / "ran"
        (one.folder / "trap").mkdir()
        hook = one.folder / "trap/post-index-change"
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
        (one.origin / ".gitattributes").write_text("* filter=trap\n")
        one.commit("first")
        (one.folder / ".gitconfig").write_text(
            f'[filter "trap"]\n\tsmudge = touch {ran} && cat\n[core]\n\thooksPath = {hook.parent}\n'
        )
        one.push()
        self.assertEqual(one.update(), ("", {"api": ("a", "first")}))
        self.assertFalse(ran.exists())

    def test_a_host_that_hangs_is_given_up(self):
        for script in (update(plan(), 0, "/data"), push(plan(), "/data")):
            limits = ('limit="timeout 3600"', "$limit flock 9", "http.lowSpeedTime=30", "ConnectTimeout=10")
            for part in (*limits, "GIT_TERMINAL_PROMPT=0"):
                self.assertIn(part, script)
            self.assertNotIn("@git@", script)

    def test_an_ssh_of_the_users_own_is_used(self):
        one = self.replica
        own = one.folder / "own"
        own.write_text("[core]\n\tsshCommand = mine\n")
        for env, expected in (
            ({}, "ssh -o BatchMode=yes"),
            ({"GIT_SSH_COMMAND": "mine -v"}, "mine -v"),
            ({"GIT_SSH": "mine"}, "none"),
            ({"GIT_CONFIG_GLOBAL": str(own)}, "none"),
        ):
            with self.subTest(env):
                command = ["sh", "-uc", f'{GIT}echo "${{GIT_SSH_COMMAND:-none}}"']
                env = one.env | env
                done = subprocess.run(command, cwd=one.folder, env=env, capture_output=True, text=True, check=True)
                self.assertTrue(done.stdout.startswith(expected), done.stdout)

    @unittest.skipUnless(shutil.which("flock"), "flock holds the lock")
    def test_git_does_not_inherit_the_lock(self):
        one = self.replica
        one.commit("first")
        git = one.folder / "bin/git"
        real = shutil.which("git", path="/usr/bin:/bin")
        held = one.folder / "held"
        # The scripts' function begins with `-c`.
        is_held = '[ "$1" = -c ] && (: >&9) 2> /dev/null'
        git.write_text(f'#!/bin/sh\nif {is_held}; then touch {held}; fi\nexec {real} "$@"\n')
        git.chmod(0o755)
        one.push()
        self.assertEqual(one.update()[1], {"api": ("a", "first")})
        self.assertFalse(held.exists())

    def test_without_an_index_in_the_bucket_a_replica_builds_its_own(self):
        one = self.replica
        one.commit("first")
        said, served = one.update()
        self.assertEqual(served, {"api": ("a", "first")})
        self.assertIn("api: the bucket has no index; it is built here", said)
        # Another branch's index is none of this one's.
        (one.bucket / "api").write_text(f"{'1' * 40} side\n")
        self.assertEqual(one.update("two")[1], {"api": ("a", "first")})

    def test_a_bucket_can_not_give_git_an_option(self):
        one = self.replica
        one.commit("first")
        one.push()
        sound = (one.bucket / "api").read_text()
        ran = one.folder / "ran"
        trap = one.folder / "trap"
        trap.write_text(f"#!/bin/sh\ntouch {ran}\n")
        trap.chmod(0o755)
        for row in (f"--upload-pack={trap}", "-" * 40, "HEAD", "A" * 40, "1" * 41):
            with self.subTest(row):
                (one.bucket / "api").write_text(f"{row} main\n{sound}")
                self.assertEqual(one.update(f"of {row[:8]}"), ("", {"api": ("a", "first")}))
        self.assertFalse(ran.exists())

    def test_a_lock_that_a_killed_git_left_stops_nothing(self):
        one = self.replica
        for text in ("first", "second", "third"):
            one.commit(text)
            for tree in (*one.folder.glob("*/src/api/*/.git"), *one.folder.glob("build/src/api/.git")):
                for name in ("index", "shallow"):
                    (tree / f"{name}.lock").touch()
            one.push()
            self.assertEqual(one.update()[1]["api"][1], text)

    def test_a_replica_that_serves_nothing_builds_where_it_can_not_pull(self):
        one = self.replica
        one.commit("first")
        one.push()
        (one.bucket / "damaged").touch()
        said, served = one.update()
        self.assertEqual(served, {"api": ("a", "first")})
        self.assertIn("api: not pulled, and nothing is served yet; it is built here", said)
        one.commit("second")
        one.push()
        said, served = one.update()
        self.assertEqual(served, {"api": ("a", "first")}, "what is served stays")
        self.assertIn("api: not pulled; it stays as it is", said)
        one.bucket.rename(one.folder / "away")
        self.assertEqual(one.update("two")[1], {"api": ("a", "second")})


if __name__ == "__main__":
    unittest.main()

"""Tests of manifests.py: python3 -m unittest discover deploy"""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from manifests import ManifestError, kubernetes, read, roots, systemd, update

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
                "10.0.0.1/colgrep-update-0",
                "10.0.0.2/colgrep-shard-0.service",
                "10.0.0.2/colgrep-shard-1.service",
                "10.0.0.2/colgrep-update-0",
                "10.0.0.2/colgrep-update-1",
                "coordinator/colgrep.service",
                "coordinator/shards.json",
            ],
        )
        unit = files["10.0.0.2/colgrep-shard-1.service"]
        for part in ("ExecStartPre=/usr/local/bin/colgrep-update-1", "--listen 10.0.0.2:4002", "web=/var/lib/colgrep/shard-1/src/web"):
            self.assertIn(part, unit)
        self.assertEqual(json.loads(files["coordinator/shards.json"])["shards"], PLAN["shards"])

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
                script = container["command"][0]
                self.assertTrue(script == "colgrep" or script.removeprefix("/scripts/") in scripts, script)
        self.assertEqual(of["StatefulSet", "colgrep-shard-0"]["spec"]["replicas"], 2)

    def test_a_shard_starts_from_its_disk_while_git_and_the_bucket_are_away(self):
        with tempfile.TemporaryDirectory() as folder:
            away = plan(
                repositories=[[{"name": "api", "url": f"{folder}/no repository"}], [{"name": "web", "url": "x"}]],
                bucket=f"{folder}/no bucket",
            )
            program = Path(folder) / "bin/colgrep"
            program.parent.mkdir()
            program.write_text("#!/bin/sh\nexit 2\n")
            program.chmod(0o755)
            script = Path(folder) / "update"
            script.write_text(update(away, 0, folder))
            env = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": folder}
            done = subprocess.run(["sh", str(script)], env=env, capture_output=True, text=True, check=True)
        self.assertIn("api: not fetched; its sources stay as they are", done.stderr)
        self.assertIn("api: not pulled; its index stays as it is", done.stderr)
        self.assertEqual(roots(away, 0, "/data"), ["api=/data/src/api"])


if __name__ == "__main__":
    unittest.main()

"""Tests of webhook.py and repositories.py, with a code host on loopback."""

import contextlib
import hashlib
import hmac
import io
import json
import socket
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import repositories
import webhook

SECRET, OTHER = "a-secret-of-some-length", "another-secret-of-length"
PLAN = {
    "shards": [["a:1"], ["b:1"]],
    "repositories": [
        [{"name": "api", "url": "https://git.example.com/acme/api.git", "branch": "main"}],
        [{"name": "web", "url": "git@git.example.com:acme/web"}],
    ],
}


def setUpModule():
    # Loopback is no concern of a proxy.
    around = unittest.mock.patch.dict("os.environ", {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"})
    around.start()
    unittest.addModuleCleanup(around.stop)


@contextlib.contextmanager
def running(server):
    """A server in a thread: its address."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Webhook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file("plan", json.dumps(PLAN))
        self.file("secret", SECRET)
        # Each run writes a line with the names.
        self.file("build", 'echo "$@" >> "$0.done"\n')
        self.builds = webhook.Builds(["sh", str(self.folder / "build")])
        # Cleanups run in reverse: nothing is built any more when the folder goes.
        self.addCleanup(lambda: self.assertTrue(self.builds.wait(60)))

    def file(self, name, text):
        """Writes a file."""
        (self.folder / name).write_text(text)

    def ask(self, at, payload, headers=None, secret=SECRET):
        """A request: the status."""
        body = json.dumps(payload).encode()
        mark = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        request = urllib.request.Request(at, body, headers or {"X-Hub-Signature-256": mark})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def built(self, count):
        """What was built, once there are so many runs."""
        done, until = self.folder / "build.done", time.monotonic() + 60
        while time.monotonic() < until:
            rows = done.read_text().splitlines() if done.exists() else []
            if len(rows) >= count:
                return rows
            time.sleep(0.05)
        self.fail(f"{count} runs did not come")

    def test_a_signed_push_builds_its_repository(self):
        server = webhook.server(("127.0.0.1", 0), self.folder / "plan", self.folder / "secret", self.builds)
        api = {"repository": {"clone_url": "https://git.example.com/acme/api"}, "ref": "refs/heads/main"}
        web = {"project": {"git_http_url": "https://git.example.com/acme/web.git"}, "ref": "refs/heads/any"}
        with running(server) as at:
            for payload, headers, secret in (
                (api, None, OTHER),
                (api, {"X-Hub-Signature-256": "sha256=" + "0" * 64}, SECRET),
                (api, {"X-Gitlab-Token": OTHER}, SECRET),
                (api, {"X-Gitlab-Token": ""}, SECRET),
                (api, {"Accept": "*/*"}, SECRET),
            ):
                self.assertEqual(self.ask(at, payload, headers, secret), 401)
            self.assertEqual(self.ask(at, {"repository": {"clone_url": "https://git.example.com/acme/other"}}), 404)
            self.assertEqual(self.ask(at, ["no push"]), 404)
            self.assertEqual(self.ask(at, api | {"ref": "refs/heads/side"}), 202)
            self.assertEqual(self.ask(at, api), 202)
            self.assertEqual(self.built(1), ["api"])
            self.assertEqual(self.ask(at, web, {"X-Gitlab-Token": SECRET}), 202)
            self.assertEqual(self.built(2), ["api", "web"])
            # Two secrets are valid while one replaces the other.
            self.file("secret", f"{OTHER}\n{SECRET}\n")
            self.assertEqual([self.ask(at, api, None, secret) for secret in (SECRET, OTHER)], [202, 202])
            self.file("secret", OTHER)
            self.assertEqual([self.ask(at, api, None, secret) for secret in (SECRET, OTHER)], [401, 202])

    def test_an_address_is_known_however_it_is_written(self):
        same = [
            "https://git.example.com/acme/api.git",
            "https://user:word@Git.example.com/acme/api/",
            "ssh://git@git.example.com:22/acme/api.git",
            "git@git.example.com:acme/api.git",
        ]
        self.assertEqual({webhook.place(url) for url in same}, {"git.example.com/acme/api"})
        self.assertNotEqual(webhook.place("https://git.example.com/acme/apis"), webhook.place(same[0]))
        # A group's name may be a number, and a port is none.
        numeric = [
            "git@git.example.com:2024/api",
            "ssh://git@git.example.com:22/2024/api",
            "https://git.example.com/2024/api/",
        ]
        self.assertEqual({webhook.place(url) for url in numeric}, {"git.example.com/2024/api"})

    def test_addresses_below_links_are_read(self):
        html = {"html": {"href": "https://git.example.com/acme/api"}}
        clone = {"clone": [{"name": "https", "href": "https://ada@git.example.com/acme/api.git"}]}
        for links in (html, clone):
            self.assertEqual(webhook.pushed({"push": {}, "repository": {"links": links}}, PLAN), ["api"])
        deep = {"href": "https://git.example.com/acme/api"}
        for _ in range(webhook.DEPTH):
            deep = [deep]
        self.assertIsNone(webhook.pushed({"repository": {"links": deep}}, PLAN))
        # A push to a fork is none to its origin.
        fork = {"clone_url": "https://git.example.com/ada/api", "parent": {"clone_url": "https://git.example.com/acme/api"}}
        self.assertIsNone(webhook.pushed({"repository": fork}, PLAN))

    def test_a_command_that_can_not_be_started_is_tried_again(self):
        program = self.folder / "program"
        with unittest.mock.patch.object(webhook, "AGAIN", 0.05), contextlib.redirect_stdout(io.StringIO()) as said:
            builds = webhook.Builds([str(program)])
            builds.add(["api"])
            self.assertFalse(builds.wait(0.3))
            # Renamed when it is whole: a program that is still being written can't be started.
            self.file("partial", f'#!/bin/sh\necho "$@" >> {self.folder}/build.done\n')
            (self.folder / "partial").chmod(0o755)
            (self.folder / "partial").rename(program)
            self.assertEqual(self.built(1), ["api"])
            self.assertTrue(builds.wait(60))
        self.assertIn("tried again", said.getvalue())

    def test_strangers_keep_no_threads(self):
        def ended(taken):
            # The status, once the server has closed.
            taken.settimeout(30)
            text = b""
            with contextlib.suppress(ConnectionError):
                while part := taken.recv(1 << 16):
                    text += part
            return int(text.split()[1]) if text else 0

        def serving():
            server = webhook.server(("127.0.0.1", 0), self.folder / "plan", self.folder / "secret", self.builds)
            stack.enter_context(running(server))
            return server.server_address

        def connection(at, text=b""):
            taken = stack.enter_context(socket.create_connection(at))
            taken.sendall(text)
            return taken

        head = b"POST / HTTP/1.1\r\nContent-Length: "
        with unittest.mock.patch.object(webhook, "DEADLINE", 3.0), contextlib.ExitStack() as stack:
            at = serving()
            for length in (b"1" * 10, b"9" * 5000, str(webhook.BODY_MAX + 1).encode(), "\u0661".encode(), b"-1"):
                self.assertEqual(ended(connection(at, head + length + b"\r\n\r\n")), 413)
            # All threads wait for the rest of a request; whoever comes then is sent away, until the deadline.
            at = serving()
            slow = [connection(at, head + b"99\r\n\r\nx") for _ in range(webhook.AT_ONCE)]
            self.assertEqual(ended(connection(at)), 503)
            # A byte now and then gains nothing.
            for _ in range(5):
                slow[0].sendall(b"y")
                time.sleep(0.2)
            self.assertEqual({ended(one) for one in slow}, {408})
            # A thread ends a moment after its connection.
            until = time.monotonic() + 60
            while ended(connection(at, b"GET /healthz HTTP/1.0\r\n\r\n")) != 200:
                self.assertLess(time.monotonic(), until)

    def test_a_secret_that_can_not_be_read_is_no_strangers_fault(self):
        server = webhook.server(("127.0.0.1", 0), self.folder / "plan", self.folder / "secret", self.builds)
        api = {"repository": {"clone_url": "https://git.example.com/acme/api"}}
        with running(server) as at:
            (self.folder / "secret").rename(self.folder / "away")
            self.assertEqual(self.ask(at, api), 503)
            # One that is too short is none, also while the server runs.
            for short in ("", "short"):
                self.file("secret", short)
                self.assertEqual(self.ask(at, api, secret=short), 503)
            (self.folder / "away").rename(self.folder / "secret")
            self.assertEqual(self.ask(at, api), 202)


class Repositories(unittest.TestCase):
    def test_each_repository_has_a_shard_and_stays_there(self):
        def row(name, **more):
            return {"name": name, "clone_url": f"https://git.example.com/acme/{name}.git", "size": 10} | more

        asked = []
        listed = [[row("api"), row("old", archived=True), row("large", size=50)], [row("copy", fork=True), row("small")]]

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers.get("Authorization")))
                page = 1 if "page=2" in self.path else 0
                self.send_response(200)
                if page == 0:
                    at = f"http://127.0.0.1:{self.server.server_address[1]}/orgs/acme/repos?page=2"
                    self.send_header("Link", f'<{at}>; rel="next"')
                self.end_headers()
                self.wfile.write(json.dumps(listed[page]).encode())

            def log_message(self, *_):
                pass

        with tempfile.TemporaryDirectory() as folder, running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as at:
            file = Path(folder) / "shards.json"
            file.write_text(json.dumps(PLAN))
            with unittest.mock.patch.dict("os.environ", {"CODE_HOST_TOKEN": "token"}):
                self.assertEqual(repositories.main(["github", "acme", str(file), at]), 0)
            shards = json.loads(file.read_text())["repositories"]
        self.assertEqual([[one["name"] for one in shard] for shard in shards], [["api", "small"], ["large"]])
        self.assertEqual(shards[0][0], PLAN["repositories"][0][0], "what the file says of it stays")
        self.assertEqual([path for path, _ in asked], ["/orgs/acme/repos?per_page=100", "/orgs/acme/repos?page=2"])
        self.assertEqual({token for _, token in asked}, {"Bearer token"})

    def refused(self, answer, plan=PLAN, status=200, headers=()):
        """Has a host answer each request so: what is said, where the file stays as it is."""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                for header in headers:
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        said = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as at,
            unittest.mock.patch.dict("os.environ", {"CODE_HOST_TOKEN": "token"}),
            contextlib.redirect_stderr(said),
        ):
            file = Path(folder) / "shards.json"
            file.write_text(json.dumps(plan))
            self.assertEqual(repositories.main(["github", "acme", str(file), at]), 2)
            self.assertEqual(json.loads(file.read_text()), plan)
        return said.getvalue()

    def test_the_token_goes_to_no_other_host(self):
        asked = []

        class Other(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.headers.get("Authorization"))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"[]")

        with running(ThreadingHTTPServer(("127.0.0.1", 0), Other)) as other:
            said = self.refused(b"", status=302, headers=[("Location", f"{other}/orgs/acme/repos")])
        self.assertIn("redirects elsewhere", said)
        self.assertEqual(asked, [])

    def test_an_answer_that_makes_no_sense_changes_nothing(self):
        def row(name, path):
            return {"name": name, "path_with_namespace": path, "clone_url": f"https://git.example.com/{path}"}

        self.assertIn("has no attribute", self.refused(b'["api"]'))
        self.assertIn("IncompleteRead", self.refused(b"[", headers=[("Content-Length", "9")]))
        both = [row("c", "acme/a/b.c"), row("b.c", "acme/a.b/c")]
        self.assertIn("would both be called a.b.c", self.refused(json.dumps(both).encode()))
        said = self.refused(json.dumps([row("api", "acme/api"), row("x", "acme/-x")]).encode())
        self.assertIn("-x is skipped: no name for a shard", said)
        self.assertIn("2 shards, and 1 repositories", said)
        said = self.refused(json.dumps(both[:1]).encode(), PLAN | {"shards": [["a:1"]]})
        self.assertIn("1 shards, and repositories of 2", said)

    def test_no_shard_is_left_without_repositories(self):
        sizes = {"a": 5, "b": 9, "c": 7, "d": 1}
        rows = {name: (f"https://git.example.com/acme/{name}", size) for name, size in sizes.items()}

        def names(before, count):
            with contextlib.redirect_stderr(io.StringIO()):
                shards = repositories.spread([[{"name": name} for name in shard] for shard in before], rows, count)
            return [[one["name"] for one in shard] for shard in shards]

        # A shard was added; all of another's are gone.
        self.assertEqual(names(["ab"], 2), [["a", "b"], ["c", "d"]])
        self.assertEqual(names(["abcd"], 3), [["b", "c"], ["d"], ["a"]])
        self.assertEqual(names(["xy", "abcd"], 2), [["d"], ["a", "b", "c"]])
        self.assertEqual(names([], 4), [["b"], ["c"], ["a"], ["d"]])

    def test_a_host_that_can_not_be_asked_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            file = Path(folder) / "shards.json"
            file.write_text(json.dumps(PLAN))
            self.assertEqual(repositories.main(["gitea", "acme", str(file), "http://127.0.0.1:1"]), 2)
            self.assertEqual(json.loads(file.read_text()), PLAN)
            self.assertEqual(repositories.main(["other", "acme", str(file)]), 2)


if __name__ == "__main__":
    unittest.main()

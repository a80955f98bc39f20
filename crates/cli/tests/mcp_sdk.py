"""Speaks to a colgrep as clients do that are made with the official Python SDK of MCP, in the newest version of the
protocol that both know and with the handshake of earlier ones, over pipes and over HTTP.

    python3 mcp_sdk.py COLGREP FOLDER

FOLDER has the projects `one`, which defines `lion` in a.py, and `two`, which defines `tiger` in b.py.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp import types

COLGREP, FOLDER = sys.argv[1], Path(sys.argv[2])
NEWEST = "2026-07-28"
TOOLS = ["history", "impact", "outline", "search", "status"]


def text_of(result: types.CallToolResult) -> str:
    """The text of a good answer, which is one block without structured content."""
    assert not result.is_error, result
    assert result.structured_content is None, result
    (block,) = result.content
    return block.text


async def check(client: Client, version: str | None) -> None:
    """What is the same whatever carries the messages."""
    if version is not None:
        assert client.protocol_version == version, client.protocol_version
    names = sorted(tool.name for tool in (await client.list_tools()).tools)
    assert names == TOOLS, names
    found = text_of(await client.call_tool("search", {"query": "lion"}))
    assert found.startswith("a.py:1-2 function lion"), found
    lines = text_of(await client.call_tool("search", {"pattern": "return"}))
    assert lines.startswith("a.py:2:    return 1\n"), lines
    unit = text_of(await client.call_tool("search", {"name": "lion"}))
    assert unit.startswith("a.py:1-2 function lion\n1: def lion():\n"), unit
    # Former tools are not listed, and answer.
    unit = text_of(await client.call_tool("read_unit", {"file": "a.py", "line": 2}))
    assert unit.startswith("a.py:1-2 function lion\n"), unit
    wrong = await client.call_tool("search", {"colour": "red"})
    assert wrong.is_error and 'no parameter "colour"' in wrong.content[0].text, wrong


async def over_pipes(mode: str, version: str | None) -> None:
    """A client with roots starts a server elsewhere."""
    roots = [FOLDER / "one"]

    async def list_roots(_: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in roots])

    env = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "COLGREP_DATA_DIR") if name in os.environ}
    server = StdioServerParameters(command=COLGREP, args=["mcp"], cwd="/", env=env)
    async with Client(server, mode=mode, list_roots_callback=list_roots) as client:
        await check(client, version)
        progress = []

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            progress.append(done)

        await client.call_tool("search", {"query": "lion"}, progress_callback=on_progress)
        assert progress == sorted(progress), progress
        if mode != "legacy":
            # Each call asks again.
            roots[:] = [FOLDER / "two"]
            found = text_of(await client.call_tool("search", {"query": "tiger"}))
            assert found.startswith("b.py:1-2 function tiger"), found
            outside = await client.call_tool("outline", {"file": str(FOLDER / "one" / "a.py")})
            assert outside.is_error, outside
    async with Client(server, mode=mode) as client:
        lost = await client.call_tool("search", {"query": "lion"})
        assert lost.is_error and "`colgrep mcp FOLDER`" in lost.content[0].text, lost


async def over_http() -> None:
    """Clients share a server."""
    command = [COLGREP, "serve", "--listen", "127.0.0.1:0", str(FOLDER / "one")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip() + "mcp"
            for mode, version in [("auto", NEWEST), ("legacy", None)]:
                async with Client(url, mode=mode) as one, Client(url, mode=mode) as other:
                    await check(one, version)
                    await check(other, version)
        finally:
            server.terminate()


async def main() -> None:
    for mode, version in [("auto", NEWEST), ("legacy", None)]:
        await over_pipes(mode, version)
        print(f"pipes, {mode}: good")
    await over_http()
    print("http: good")


asyncio.run(main())

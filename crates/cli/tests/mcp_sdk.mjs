// Speaks to a colgrep as clients do that are made with the official TypeScript SDKs of MCP: `@modelcontextprotocol/sdk`
// with the handshake of earlier versions of the protocol, and `@modelcontextprotocol/client` with both; over pipes and over
// HTTP.
//
//     node mcp_sdk.mjs PACKAGES COLGREP FOLDER
//
// PACKAGES has `node_modules` with both packages. FOLDER has the projects `one`, which defines `lion` in a.py, and `two`,
// which defines `tiger` in b.py.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [packages, colgrep, folder] = process.argv.slice(2)
const load = createRequire(join(resolve(packages), 'script.js'))
const TOOLS = ['history', 'impact', 'outline', 'search', 'status']
const NEWEST = '2026-07-28'
const NAME = { name: 'test', version: '1' }

/** The first SDK: one package, handshakes only. */
function firstSdk() {
  const { Client } = load('@modelcontextprotocol/sdk/client/index.js')
  const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js')
  const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const { ListRootsRequestSchema, LATEST_PROTOCOL_VERSION } = load('@modelcontextprotocol/sdk/types.js')
  const client = (capabilities) => new Client(NAME, { capabilities })
  const answerRoots = (client, list) => client.setRequestHandler(ListRootsRequestSchema, list)
  const asksEachTime = false
  return { client, answerRoots, StdioClientTransport, StreamableHTTPClientTransport, asksEachTime, version: LATEST_PROTOCOL_VERSION }
}

/** The second SDK, which finds out the version with `auto`. */
function secondSdk(mode) {
  const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client')
  const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio')
  const client = (capabilities) => new Client(NAME, { capabilities, versionNegotiation: { mode } })
  const answerRoots = (client, list) => client.setRequestHandler('roots/list', list)
  const asksEachTime = mode !== 'legacy'
  const version = asksEachTime ? NEWEST : undefined
  return { client, answerRoots, StdioClientTransport, StreamableHTTPClientTransport, asksEachTime, version }
}

/** The text of a good answer, which is one block without structured content. */
function textOf(result) {
  assert.ok(!result.isError, JSON.stringify(result))
  assert.equal(result.structuredContent, undefined)
  assert.equal(result.content.length, 1)
  return result.content[0].text
}

const call = (client, name, args, options) => client.callTool({ name, arguments: args }, ...(options ?? []))

function begins(text, start) {
  assert.equal(text.slice(0, start.length), start)
}

/** What is the same whatever carries the messages. */
async function check(client) {
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS)
  begins(textOf(await call(client, 'search', { query: 'lion' })), 'a.py:1-2 function lion')
  begins(textOf(await call(client, 'search', { pattern: 'return' })), 'a.py:2:    return 1\n')
  begins(textOf(await call(client, 'search', { name: 'lion' })), 'a.py:1-2 function lion\n1: def lion():\n')
  // Former tools are not listed, and answer.
  begins(textOf(await call(client, 'read_unit', { file: 'a.py', line: 2 })), 'a.py:1-2 function lion\n')
  const wrong = await call(client, 'search', { colour: 'red' })
  assert.ok(wrong.isError && wrong.content[0].text.includes('no parameter "colour"'), JSON.stringify(wrong))
}

/** A client with roots starts a server elsewhere. */
async function overPipes(sdk) {
  const server = { command: colgrep, args: ['mcp'], cwd: '/', env: process.env, stderr: 'ignore' }
  let root = 'one'
  const client = sdk.client({ roots: {} })
  sdk.answerRoots(client, () => ({ roots: [{ uri: pathToFileURL(join(folder, root)).href }] }))
  await client.connect(new sdk.StdioClientTransport(server))
  await check(client)
  if (sdk.asksEachTime) {
    root = 'two'
    begins(textOf(await call(client, 'search', { query: 'tiger' })), 'b.py:1-2 function tiger')
    const outside = await call(client, 'outline', { file: join(folder, 'one', 'a.py') })
    assert.ok(outside.isError, JSON.stringify(outside))
  }
  await client.close()
  const rootless = sdk.client({})
  await rootless.connect(new sdk.StdioClientTransport(server))
  const lost = await call(rootless, 'search', { query: 'lion' })
  assert.ok(lost.isError && lost.content[0].text.includes('`colgrep mcp FOLDER`'), JSON.stringify(lost))
  await rootless.close()
}

/** Clients share a server. */
async function overHttp(sdk, url) {
  const clients = []
  for (let at = 0; at < 2; at += 1) {
    const transport = new sdk.StreamableHTTPClientTransport(new URL(url))
    const client = sdk.client({})
    await client.connect(transport)
    if (sdk.version) {
      assert.equal(transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.(), sdk.version)
    }
    clients.push(client)
  }
  await Promise.all(clients.map(check))
  for (const client of clients) {
    await client.close()
  }
}

const sdks = { first: firstSdk(), 'second, auto': secondSdk('auto'), 'second, legacy': secondSdk('legacy') }
for (const [name, sdk] of Object.entries(sdks)) {
  await overPipes(sdk)
  console.log(`${name}, pipes: good`)
}
const server = spawn(colgrep, ['serve', '--listen', '127.0.0.1:0', join(folder, 'one')], { stdio: ['ignore', 'pipe', 'ignore'] })
try {
  const [line] = await new Promise((ready, failed) => {
    server.once('error', failed)
    createInterface({ input: server.stdout }).once('line', (line) => ready([line]))
  })
  for (const [name, sdk] of Object.entries(sdks)) {
    await overHttp(sdk, `${line.trim()}mcp`)
    console.log(`${name}, HTTP: good`)
  }
} finally {
  server.kill()
}

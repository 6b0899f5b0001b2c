// `npm run bench mcp [rounds]`: calls per second of MCP servers over stdio and HTTP, and the time
// from spawn to the first answer, ours beside others.
import { here, installPeers, newerNode } from './install-peers.mjs'
import { openHttp } from './mcp/http-client.mjs'
import { combine, load, warmUp } from './mcp/load.mjs'
import { openStdio } from './mcp/stdio-client.mjs'
import { formatTable, shuffle } from './measure.mjs'

const rounds = Number(process.argv[3] ?? 5)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`rounds must be a whole number, not ${process.argv[3]}`)
installPeers()
const newer = newerNode()
const ROUND_MS = 400

const ours = (transport, tools = 1, environment = {}) => ({
  argv: [
    here('programs/mcp.mjs'),
    '--serve-mcp',
    transport,
    ...(transport === 'http' ? ['--host', '127.0.0.1', '--port', 'PORT'] : []),
    '--no-progressive',
  ],
  environment: { BENCH_TOOLS: String(tools), ...environment },
})
const sdk = (transport, level = 'high', tools = 1) => ({
  argv: [here('peers/mcp/sdk.mjs'), transport, 'PORT', String(tools), level],
})
const fastmcp = (transport) => ({ argv: [here('peers/mcp/fastmcp.mjs'), transport, 'PORT', '1'] })
const incur = (transport) =>
  newer === undefined
    ? undefined
    : {
        argv: [
          here('peers/mcp/incur.mjs'),
          ...(transport === 'http' ? ['http', 'PORT'] : ['--mcp']),
        ],
        node: newer,
      }

const stdio = cases([
  ['toolable', 'modern', ours('stdio')],
  ['toolable', 'legacy', ours('stdio')],
  ['SDK v2 McpServer', 'modern', sdk('stdio')],
  ['SDK v2 McpServer', 'legacy', sdk('stdio')],
  ['SDK v2 low-level', 'modern', sdk('stdio', 'low')],
  ['fastmcp', 'legacy', fastmcp('stdio')],
  ['incur', 'legacy', incur('stdio')],
])
const http = cases([
  ['toolable', 'modern', ours('http')],
  ['toolable, 200 tools', 'modern', ours('http', 200)],
  ['SDK v2 McpServer', 'modern', sdk('http')],
  ['SDK v2 McpServer, 200 tools', 'modern', sdk('http', 'high', 200)],
  ['SDK v2 low-level, 200 tools', 'modern', sdk('http', 'low', 200)],
  ['fastmcp', 'legacy', fastmcp('http')],
  ['incur', 'legacy', incur('http')],
])
const starts = cases([
  ['toolable', 'legacy', ours('stdio')],
  ['toolable with zod', 'legacy', ours('stdio', 1, { BENCH_ZOD: '1' })],
  ['SDK v2 McpServer', 'legacy', { argv: [here('peers/mcp/sdk-stdio.mjs')] }],
  ['fastmcp', 'legacy', fastmcp('stdio')],
  ['incur', 'legacy', incur('stdio')],
])

console.log(
  `MCP, node ${process.versions.node}, ${rounds} rounds of ${ROUND_MS} ms, interleaved; one raw client on the same machine; CPU is the server's, in µs for each call\n`,
)
await measureLoad('stdio, 1 in flight', stdio, openStdio, 1)
const many = await measureLoad('stdio, 32 in flight', stdio, openStdio, 32)
const web = await measureLoad('HTTP, 32 in flight', http, openHttp, 32)
const first = await measureStarts()

judge(
  'stdio at 32 in flight',
  many.get('toolable (modern)').rate / many.get('SDK v2 McpServer (modern)').rate,
  1.15,
  'SDK v2 McpServer',
)
judge(
  'HTTP with 200 tools',
  web.get('toolable, 200 tools (modern)').rate /
    web.get('SDK v2 McpServer, 200 tools (modern)').rate,
  1.6,
  'SDK v2 McpServer',
)
for (const key of ['toolable (legacy)', 'toolable with zod (legacy)'])
  judge(
    `first answer, ${key.replace(' (legacy)', '')}`,
    first.get(key) / first.get('SDK v2 McpServer (legacy)'),
    0.7,
    'SDK v2 McpServer',
    true,
  )

function cases(list) {
  return list
    .filter(([, , options]) => options !== undefined)
    .map(([name, era, options]) => ({ key: `${name} (${era})`, era, ...options }))
}

async function measureLoad(title, list, open, flight) {
  const found = new Map(list.map(({ key }) => [key, []]))
  const servers = new Map()
  try {
    for (const entry of list) servers.set(entry.key, await open(entry))
    for (const server of servers.values()) await warmUp(server, flight)
    for (let round = 0; round < rounds; round += 1) {
      for (const { key } of shuffle(list))
        found.get(key).push(await load(servers.get(key), flight, ROUND_MS))
    }
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
  }
  const results = new Map([...found].map(([key, measured]) => [key, combine(measured)]))
  const base = results.get(list[0].key)
  const rows = list.map(({ key }) => {
    const { rate, p50, p99, cpu } = results.get(key)
    return [
      key,
      rate.toFixed(0),
      p50.toFixed(3),
      p99.toFixed(2),
      Number.isNaN(cpu) ? '?' : cpu.toFixed(0),
      (base.rate / rate).toFixed(2),
    ]
  })
  console.log(
    `${formatTable([[title, 'calls/s', 'p50 ms', 'p99 ms', 'CPU µs', `${list[0].key} / it`], ...rows])}\n`,
  )
  return results
}

async function measureStarts() {
  const found = new Map(starts.map(({ key }) => [key, []]))
  for (let round = -1; round < rounds * 2; round += 1) {
    for (const entry of shuffle(starts)) {
      const begin = performance.now()
      const server = await openStdio(entry)
      await server.call(1)
      if (round >= 0) found.get(entry.key).push(performance.now() - begin)
      await server.close()
    }
  }
  const results = new Map(
    [...found].map(([key, list]) => [
      key,
      list.sort((left, right) => left - right)[Math.floor(list.length / 2)],
    ]),
  )
  const base = results.get('SDK v2 McpServer (legacy)')
  console.log(
    `${formatTable([['spawn to first answer, stdio', 'median ms', 'of SDK v2'], ...starts.map(({ key }) => [key, results.get(key).toFixed(1), (results.get(key) / base).toFixed(2)])])}\n`,
  )
  return results
}

function judge(what, ratio, wanted, peer, atMost = false) {
  const reached = atMost ? ratio <= wanted : ratio >= wanted
  console.log(
    `${reached ? 'reached' : 'MISSED '}  ${what}: ${ratio.toFixed(2)} × ${peer}, wanted at ${atMost ? 'most' : 'least'} ${wanted}`,
  )
}

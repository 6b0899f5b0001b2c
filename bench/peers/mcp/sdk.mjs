// `node sdk.mjs stdio|http <port> <tools> high|low`: the same tool with the SDK's McpServer, or
// with its low-level Server.
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer, Server, createMcpHandler } from '@modelcontextprotocol/server'
import { z } from 'zod'

const [transport, port, tools, level] = process.argv.slice(2)
const names = ['add', ...Array.from({ length: Number(tools) - 1 }, (_, index) => `tool_${index}`)]
const inputSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
}
const input = z.object({ a: z.number(), b: z.number() })
const give = (sum) => ({ content: [{ type: 'text', text: String(sum) }] })

function high() {
  const server = new McpServer({ name: 'sdk', version: '1.0.0' })
  for (const name of names)
    server.registerTool(name, { description: 'Add two numbers', inputSchema: input }, ({ a, b }) =>
      give(a + b),
    )
  return server
}

function low() {
  const server = new Server({ name: 'sdk', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: names.map((name) => ({ name, description: 'Add two numbers', inputSchema })),
  }))
  server.setRequestHandler('tools/call', ({ params }) =>
    give(params.arguments.a + params.arguments.b),
  )
  return server
}

const factory = level === 'low' ? low : high
if (transport === 'stdio') {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  serveStdio(factory)
} else {
  const handle = toNodeHandler(createMcpHandler(factory))
  createServer((request, response) => void handle(request, response)).listen(
    Number(port),
    '127.0.0.1',
  )
}

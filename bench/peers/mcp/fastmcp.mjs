// `node fastmcp.mjs stdio|http <port> <tools>`: the same tool with fastmcp.
import { FastMCP } from 'fastmcp'
import { z } from 'zod'

const [transport, port, tools] = process.argv.slice(2)
const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' })
for (const name of [
  'add',
  ...Array.from({ length: Number(tools) - 1 }, (_, index) => `tool_${index}`),
]) {
  server.addTool({
    name,
    description: 'Add two numbers',
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => String(a + b),
  })
}
await server.start(
  transport === 'stdio'
    ? { transportType: 'stdio' }
    : {
        transportType: 'httpStream',
        httpStream: {
          port: Number(port),
          host: '127.0.0.1',
          stateless: true,
          enableJsonResponse: true,
        },
      },
)

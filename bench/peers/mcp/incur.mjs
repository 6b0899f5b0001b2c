// `node incur.mjs --mcp`, or `node incur.mjs http <port>`: the same tool with incur, listed
// directly and not behind its search.
import { createServer } from 'node:http'
import { Cli, z } from 'incur'

const cli = Cli.create('bench', {
  description: 'Adds',
  mcp: { tools: { discovery: 'direct' } },
}).command('add', {
  description: 'Add two numbers',
  options: z.object({ a: z.number(), b: z.number() }),
  run: ({ options }) => ({ sum: options.a + options.b }),
})
const [transport, port] = process.argv.slice(2)
if (transport !== 'http') {
  await cli.serve()
} else {
  createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const answer = await cli.fetch(
      new Request(`http://127.0.0.1:${port}${request.url}`, {
        method: request.method,
        headers: request.headers,
        body: Buffer.concat(chunks),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }).listen(Number(port), '127.0.0.1')
}

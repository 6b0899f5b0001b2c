// A server with /list_tools and /call_tool.
import { createServer } from 'node:http'

const parameters = {
  type: 'object',
  properties: { text: { type: 'string' }, count: { type: 'integer' } },
  required: ['text'],
}
const ANSWERS = {
  echo: ({ text, count }) => [200, { status: 'success', result: { text, count } }],
  refuse: () => [500, { ok: false, error: { code: 'E3101', message: 'none', retryable: true } }],
  missing: () => [404, { detail: 'no such row' }],
  plain: ({ text }) => [200, [1, { text }]],
}
const tools = Object.keys(ANSWERS).map((name) => ({ name, description: `The ${name}`, parameters }))

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const send = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }
  if (request.url === '/list_tools') return send(200, { tools })
  const { name, arguments: input } = JSON.parse(Buffer.concat(chunks).toString())
  send(...ANSWERS[name](input))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})

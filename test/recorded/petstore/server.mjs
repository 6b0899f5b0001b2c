// The API that petstore.json describes.
import { createServer } from 'node:http'

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const send = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(value === undefined ? undefined : JSON.stringify(value))
  }
  if (request.url === '/pets/404') return send(404, { message: 'no such pet' })
  if (request.method === 'DELETE') return send(204)
  if (request.method === 'POST') {
    const pet = JSON.parse(body)
    return pet.name === 'none' ? send(422, { message: 'a name is needed' }) : send(201, pet)
  }
  send(200, { method: request.method, url: request.url })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})

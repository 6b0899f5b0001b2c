// region node
import { createServer } from 'node:http'
import { createHandler, toNode } from 'toolable'
import { notes } from './notes.mjs'

const server = createServer(toNode(createHandler(notes, { basePath: '/api' })))
// endregion

server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(
    `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`,
  ),
)

// region express
import express from 'express'
import { createHandler, toNode } from 'toolable'
import { notes } from './notes.mjs'

const app = express()
app.use(express.json())
app.get('/', (_request, response) => {
  response.send('the site')
})
app.use('/api', toNode(createHandler(notes)))
// endregion

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () =>
  console.log(
    `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`,
  ),
)

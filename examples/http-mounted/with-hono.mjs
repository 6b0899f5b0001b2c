// region hono
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createHandler } from 'toolable'
import { notes } from './notes.mjs'

const app = new Hono()
app.get('/', (context) => context.text('the site'))
app.mount('/api', createHandler(notes))
// endregion

serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) },
  ({ port }) => console.log(`http://127.0.0.1:${port}`),
)

// A host with tools in Python, shell, JavaScript and of its own: one list, one way to call, one
// answer for a model.
import { fileURLToPath } from 'node:url'
// region host
import { registry, tool } from 'toolable'

const shout = tool({
  name: 'shout',
  summary: 'Say it loudly',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: ({ text }) => `${text}`.toUpperCase(),
})

const reg = await registry({
  tools: [shout],
  folders: [fileURLToPath(new URL('tools', import.meta.url))],
})
for (const { id, summary } of reg.list()) console.log(`${id}: ${summary}`)

const counted = await reg.call('count_words', { text: 'to be or not to be' })
if (counted.ok) console.log(counted.result)

const failed = await reg.call('find_lines', { text: 'to be', word: 'question' })
if (!failed.ok)
  console.log(failed.error.code, failed.error.message, '-', failed.error.suggestion?.fix)

// What a model asked for, and the message that answers it.
console.log(
  await reg.handleToolCall({
    id: 'call_1',
    type: 'function',
    function: { name: 'slugify', arguments: '{"text":"Hello, World!"}' },
  }),
)
for (const { source, message } of reg.problems().filter(({ reason }) => reason !== 'slow'))
  console.log(`${source}: ${message}`)
await reg.close()
// endregion

import { createParser } from 'eventsource-parser'
import { isObject, parseObject } from '../../../../contract/json.ts'
import { shorten } from '../../../../contract/shorten.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import type { ModelReply } from '../../model-type.ts'
import { assemble } from './assemble.ts'
import { isError, toldError } from './failure.ts'
import type { OpenAiServer } from './server.ts'

/** Reads a reply that comes in pieces. One that breaks off, or holds something else, may be asked for again: nothing has been done yet. */
export async function readStream(
  server: OpenAiServer,
  bytes: AsyncIterable<Uint8Array>,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const assembly = assemble()
  let isDone = false
  const parser = createParser({
    onEvent({ data }) {
      if (isDone) return
      if (data.trim() === '[DONE]') return void (isDone = true)
      const chunk = parseObject(data)
      if (!chunk)
        throw new ToolError(
          'DEPENDENCY',
          `the model server ${server.address.origin} sent something in its stream that is no JSON: ${JSON.stringify(shorten(data, 100))}`,
        )
      if (isError(chunk['error'])) throw toldError(server, chunk['error'])
      assembly.count(chunk['usage'])
      // A reply has one choice; the last chunk, with the usage, has none.
      const choice = Array.isArray(chunk['choices']) ? (chunk['choices'][0] as unknown) : undefined
      const delta = isObject(choice) ? assembly.add(choice) : ''
      if (delta !== '') onText?.(delta)
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    if (isDone) break
  }
  // A server that gives no reason may have stopped in the middle of a call.
  if (!assembly.finished && !(isDone && assembly.hasWholeCalls))
    throw new ToolError(
      'DEPENDENCY',
      `the stream of the model server ${server.address.origin} broke off before the reply was whole`,
    )
  return assembly.reply()
}

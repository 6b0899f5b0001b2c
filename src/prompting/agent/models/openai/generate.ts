import { ToolError } from '../../../../contract/tool-error.ts'
import { onAbort } from '../../../../call/on-abort.ts'
import { LARGEST_ANSWER, tooLarge } from '../../../../registry/http/limit-answer.ts'
import type { Model, ModelReply, ModelRequest } from '../../model-type.ts'
import { failedAnswer, unreachable, withoutSecrets } from './failure.ts'
import type { OpenAiServer } from './server.ts'
import { readStream } from './read-stream.ts'
import { readWhole } from './read-whole.ts'
import { writeRequest } from './write-request.ts'

/** Asks the server for one reply. Throws ToolErrors that say whether to ask again, and never hold the key. */
export async function generate(
  server: OpenAiServer,
  request: ModelRequest,
  { signal, onText }: Parameters<Model['generate']>[1],
): Promise<ModelReply> {
  const silence = watchSilence(signal, server)
  try {
    const answer = await fetch(server.address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: server.stream ? 'text/event-stream, application/json' : 'application/json',
        ...server.headers,
      },
      body: JSON.stringify(writeRequest(server, request)),
      signal: silence.signal,
      redirect: 'manual',
    })
    const bytes = bounded(answer, silence.beat)
    if (!answer.ok) throw await failedAnswer(server, answer, bytes)
    // There are servers that do not stream, whatever they are asked.
    const isStream = answer.headers.get('content-type')?.includes('text/event-stream') === true
    return isStream
      ? await readStream(server, bytes, onText)
      : await readWhole(server, bytes, onText)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (silence.signal.aborted) throw silence.signal.reason
    throw withoutSecrets(ToolError.is(error) ? error : unreachable(server, error), server.secrets)
  } finally {
    silence.stop()
  }
}

async function* bounded(answer: Response, beat: () => void): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    beat()
    size += chunk.length
    if (size > LARGEST_ANSWER) throw tooLarge()
    yield chunk
  }
}

/** A signal that aborts when the server says nothing for too long. */
function watchSilence(
  outer: AbortSignal,
  { silence, address }: OpenAiServer,
): { readonly signal: AbortSignal; beat(): void; stop(): void } {
  const controller = new AbortController()
  const stopListening = onAbort(outer, () => controller.abort(outer.reason))
  if (outer.aborted) controller.abort(outer.reason)
  const timer = setTimeout(
    () =>
      controller.abort(
        new ToolError(
          'TIMEOUT',
          `the model server ${address.origin} said nothing for ${silence / 1000} seconds`,
          { retryable: true },
        ),
      ),
    silence,
  )
  return {
    signal: controller.signal,
    beat: () => void timer.refresh(),
    stop() {
      clearTimeout(timer)
      stopListening()
    },
  }
}

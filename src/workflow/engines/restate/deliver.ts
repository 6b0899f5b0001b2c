import { ToolError } from '../../../contract/tool-error.ts'
import { isObject } from '../../../contract/json.ts'
import type { HttpAnswer } from '../../../registry/http/request.ts'
import { askServer } from './ask-server.ts'
import type { Asked, Server } from './ask-server.ts'
import { readRefusal } from './refusal.ts'
import { WORKFLOWS } from './wire.ts'

/** What those who talk to a server have at hand. */
export type Place = {
  readonly ingress: Server
  readonly admin: Server | undefined
  readonly ask: (asked: Omit<Asked, 'signal'>) => Promise<HttpAnswer>
  readonly signal: AbortSignal
}

/** Milliseconds that a worker gets to say what it thinks of a word; the server has it already. */
const HEARING = 5_000

/**
 * Hands a word to an execution: the server takes it at once and keeps it, also while no worker is alive. Throws what the worker says against it, where one is
 * there to say it: NOT_FOUND, CONFLICT, INVALID_INPUT.
 */
export async function deliver(
  { ingress, ask, signal }: Place,
  id: string,
  handler: 'answer' | 'cancel',
  body: unknown,
): Promise<void> {
  const what =
    handler === 'answer' ? `the answer to ${id} was not taken` : `${id} was not cancelled`
  await checkExists(id, ask, ingress)
  // By this the same word is not taken twice when the way back breaks.
  const word = crypto.randomUUID()
  const sent = await ask({
    method: 'POST',
    path: `/${WORKFLOWS}/${id}/${handler}/send`,
    body,
    headers: { 'idempotency-key': word },
    timeout: 30_000,
  })
  const invocation = isObject(sent.document) ? sent.document['invocationId'] : undefined
  if (sent.status >= 300 || typeof invocation !== 'string') throw readRefusal(sent, ingress, what)
  let heard: HttpAnswer
  try {
    heard = await askServer(ingress, {
      method: 'GET',
      path: `/restate/invocation/${encodeURIComponent(invocation)}/attach`,
      signal,
      timeout: HEARING,
    })
  } catch (error) {
    if (ToolError.is(error) && error.retryable) return
    throw error
  }
  if (heard.status >= 400) throw readRefusal(heard, ingress, what)
}

// A word to an execution that never was would wait for it.
async function checkExists(id: string, ask: Place['ask'], ingress: Server): Promise<void> {
  const { status } = await ask({
    method: 'GET',
    path: `/restate/workflow/${WORKFLOWS}/${id}/output`,
    timeout: 30_000,
  })
  if (status === 404)
    throw new ToolError(
      'NOT_FOUND',
      `the Restate server at ${ingress.url} knows no workflow ${id}`,
      {
        suggestion:
          'Check the id, and whether this is the server that it was started on: toolable workflow list',
      },
    )
  if (status === 200)
    throw new ToolError('CONFLICT', `${id} is over`, { suggestion: `toolable runs show ${id}` })
}

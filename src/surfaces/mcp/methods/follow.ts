import type { LiveCall } from '../calls/live-call.ts'
import type { McpServer } from '../server-type.ts'
import { RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'

/** What a request is about, for states that belong to it. */
export type Subject = { readonly method: string; readonly params: Params }

/** Waits for a call as long as its client does: gives its result, the questions that it asks, or the task that it becomes after `grace` milliseconds. */
export async function follow(server: McpServer, call: LiveCall, subject: Subject, grace: number | undefined): Promise<object> {
  const { calls } = server
  if (grace === 0) return calls.toTask(call)
  const turn = await call.turn(grace)
  if (turn === 'asked') return calls.suspend(call, ({ digestOf }) => digestOf(subject.method, salient(subject.params)))
  if (turn === 'waited') return calls.toTask(call)
  call.detach()
  const settled = call.settled!
  if ('error' in settled) throw new RpcError(settled.error.code, settled.error.message, settled.error.data)
  return settled.result
}

/** Takes up the call that a request goes on with. */
export async function resume(server: McpServer, subject: Subject, exchange: Parameters<McpServer['calls']['resume']>[2]): Promise<LiveCall> {
  const { requestState, inputResponses } = subject.params
  return server.calls.resume(requestState, inputResponses, exchange, ({ digestOf }) => digestOf(subject.method, salient(subject.params)))
}

// Everything but what differs between two rounds of the same request.
function salient({ name, uri, arguments: given }: Params): unknown {
  return { name, uri, arguments: given ?? {} }
}

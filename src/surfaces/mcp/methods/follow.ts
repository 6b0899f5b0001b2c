import type { ServedCallOptions } from '../../../call/options.ts'
import type { LiveCall, Settled } from '../calls/live-call.ts'
import type { Exchange } from '../exchange.ts'
import type { McpServer } from '../server-type.ts'
import { RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import { callOptions } from './call-options.ts'

/** A request that may ask its client, and the work that it takes. */
export type Asking = {
  readonly method: string
  readonly params: Params
  /** What is called or read, for messages. */
  readonly what: string
  /** Milliseconds after which the client gets a task instead; without it the client waits until the end. */
  readonly grace?: number | undefined
  /** Throws RpcError for faults of the protocol. */
  work(options: ServedCallOptions, call: LiveCall): Promise<Settled>
}

/** Begins the work on a request, or goes on with the work that its state names, and waits for it as long as the client does: gives the result, the questions that are asked, or the task that it becomes. */
export async function follow(
  server: McpServer,
  asking: Asking,
  exchange: Exchange,
): Promise<object> {
  const { calls } = server
  const { method, params, what, grace, work } = asking
  const goesOn = params['requestState'] !== undefined && exchange.caller.era === 'modern'
  const call = goesOn
    ? await calls.resume(params, exchange, ({ digestOf }) => digestOf(method, salient(params)))
    : calls.start(exchange, params, async (started) => {
        const { options, stop } = callOptions(server, started, params, what)
        try {
          return await work(options, started)
        } finally {
          stop()
        }
      })
  if (grace === 0) return calls.toTask(call)
  const turn = await call.turn(grace)
  if (turn === 'asked')
    return calls.suspend(call, ({ digestOf }) => digestOf(method, salient(params)))
  if (turn === 'waited') return calls.toTask(call)
  call.detach()
  const settled = call.settled!
  if ('error' in settled)
    throw new RpcError(settled.error.code, settled.error.message, settled.error.data)
  return settled.result
}

// Everything but what differs between two rounds of the same request.
function salient({ name, uri, arguments: given }: Params): unknown {
  return { name, uri, arguments: given ?? {} }
}

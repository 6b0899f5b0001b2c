import type { Interaction } from '../../../contract/interaction.ts'
import { toMilliseconds } from '../../../contract/duration.ts'
import type { Duration } from '../../../contract/duration.ts'
import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { CallOptions, ServedCallOptions } from '../../../call/options.ts'
import { createReporter } from '../calls/reporter.ts'
import type { LiveCall } from '../calls/live-call.ts'
import { can, canUseTasks } from '../exchange.ts'
import { elicit } from '../questions/elicitation.ts'
import { listRoots } from '../questions/roots.ts'
import { sampling } from '../questions/sampling.ts'
import type { McpServer } from '../server-type.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import { OWN_META } from '../wire/versions.ts'

/** How a call is made for a client: its questions, completions, folders and events go over the wire. `stop` ends the reporting. */
export function callOptions(
  server: McpServer,
  call: LiveCall,
  params: Params,
  what: string,
): { readonly options: ServedCallOptions; stop(): void } {
  const { caller } = call
  const reporter = isHeard(call) ? createReporter(call, what) : undefined
  const options: ServedCallOptions = {
    ...server.options.call,
    ...wanted(params, server.options.call?.timeout),
    cancellation: call.cancellation,
    ...(caller.name !== undefined && { caller: caller.name }),
    ...(reporter && { onEvent: reporter.onEvent }),
    answer: (question, signal) => answer(server, call, question, signal, what),
    sample: async (request, signal) => (await call.ask(sampling(request), signal)) as string,
    ...(can(caller, 'roots') && {
      roots: async ({ key }, signal) =>
        (await call.ask(listRoots(key), signal)) as readonly { readonly uri: string }[],
    }),
    confirm: (question) => confirm(server, call, question),
  }
  return { options, stop: () => reporter?.stop() }
}

// Most calls are made by clients that want to hear nothing before the end; one that can be asked may want it in a later round.
function isHeard({ caller, progressToken }: LiveCall): boolean {
  const later =
    caller.era === 'modern' &&
    (can(caller, 'elicitation') || can(caller, 'sampling') || can(caller, 'roots'))
  return (
    caller.logLevel !== undefined || progressToken !== undefined || later || canUseTasks(caller)
  )
}

async function answer(
  { source }: McpServer,
  call: LiveCall,
  question: Interaction,
  signal: AbortSignal,
  what: string,
): Promise<unknown> {
  if (can(call.caller, 'elicitation')) return call.ask(elicit(question), signal)
  if (question.default !== undefined) return undefined
  await call.ask(elicit(question), signal).catch((error: unknown) => {
    if (!ToolError.is(error)) throw error
    const form = question.dialogue ? `${what} --session` : what
    throw new ToolError(
      'ANSWER_REQUIRED',
      `'${what}' asks '${question.prompt}', and ${error.message}`,
      {
        details: error.details ?? {},
        suggestion: {
          action: 'use_different_tool',
          fix: `Run it on the command line, where it can be answered: ${source.name} ${form}`,
          example: `${source.name} ${form}`,
          applicability: 'has_placeholders',
        },
      },
    )
  })
  return undefined
}

// A client that cannot ask its user has asked for approval before it called, or was told not to.
async function confirm(
  { options }: McpServer,
  call: LiveCall,
  question: Interaction,
): Promise<boolean | undefined> {
  if (!can(call.caller, 'elicitation')) return options.confirm === 'always' ? undefined : true
  return (await call.ask(elicit(question), call.cancellation)) === true
}

// Hosts that know us may say how a call is made.
function wanted(params: Params, longest: CallOptions['timeout']): CallOptions {
  const meta = params['_meta']
  const given = isObject(meta) ? meta[OWN_META.options] : undefined
  if (!isObject(given)) return {}
  const { dryRun, timeout, idempotencyKey } = given
  return {
    ...(dryRun === true && { dryRun: true }),
    ...((typeof timeout === 'number' || typeof timeout === 'string') && {
      timeout: shorter(timeout, longest),
    }),
    ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
  }
}

// What the operator allows cannot be stretched by a client.
function shorter(wanted: Duration, longest: Duration | undefined): Duration {
  try {
    return toMilliseconds(wanted, 'timeout') > toMilliseconds(longest ?? wanted, 'timeout')
      ? longest!
      : wanted
  } catch (error) {
    throw new RpcError(RPC.invalidParams, `${OWN_META.options}: ${(error as Error).message}`)
  }
}

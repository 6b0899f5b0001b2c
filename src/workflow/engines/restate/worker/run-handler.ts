import { isObject } from '../../../../contract/json.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'
import type { DurableContext, Settled } from '../../engine-type.ts'
import type { RestateHandler, RestateSdk } from '../sdk-type.ts'
import type { RunAnswer, RunRequest } from '../wire.ts'
import { durableContext } from './context.ts'
import { noteBegin, noteEnd } from './noticeboard.ts'

/** Executes a workflow over whatever keeps its steps. Never rejects for what steps do. */
export type Interpret = (workflow: Workflow, input: unknown, context: DurableContext) => Promise<Settled>

/** The handler `run`: one execution from its beginning to its end, played again from its journal whenever it moves. */
export function runHandler(sdk: RestateSdk, { interpret, hashOf }: { readonly interpret: Interpret; readonly hashOf: (definition: Workflow) => Promise<string> }): RestateHandler<RunRequest, RunAnswer> {
  return async (context, request) => {
    const problem = await problemOf(request, hashOf)
    // Only a request that never was one fails here: the engine must not try it again.
    if (problem !== undefined) throw new sdk.TerminalError(problem, { errorCode: 400 })
    const { definition, hash, input, created } = request
    noteBegin(context, { name: definition.name, hash, created })
    const settled = await interpretCalmly(sdk, () => interpret(definition, input, durableContext(sdk, context)))
    const answer: RunAnswer = { state: settled.ok ? 'completed' : settled.error.code === 'CANCELLED' ? 'cancelled' : 'failed', settled }
    noteEnd(context, answer)
    return answer
  }
}

async function problemOf(request: unknown, hashOf: (definition: Workflow) => Promise<string>): Promise<string | undefined> {
  if (!isObject(request) || !isObject(request['definition']) || typeof request['definition']['name'] !== 'string' || !Array.isArray(request['definition']['steps'])) return 'the request holds no workflow: send {definition, hash, input, created}'
  const { definition, hash } = request as unknown as RunRequest
  const found = await hashOf(definition)
  return found === hash ? undefined : `the definition of '${definition.name.slice(0, 100)}' was changed on its way: its hash is ${found}, and ${String(hash).slice(0, 100)} was promised`
}

// A mistake of ours would be tried again for ever, and fail in the same way each time.
async function interpretCalmly(sdk: RestateSdk, work: () => Promise<Settled>): Promise<Settled> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof sdk.RestateError || (error as Error | undefined)?.name?.includes('Suspen') === true) throw error
    return { ok: false, error: { code: 'INTERNAL', message: `the interpreter failed: ${error instanceof Error ? error.message : String(error)}`, retryable: false } }
  }
}

import { isObject } from '../../../../contract/json.ts'
import { hashWorkflow } from '../../../definition/hash-workflow.ts'
import { interpret } from '../../../interpret/interpret.ts'
import type { Settled } from '../../engine-type.ts'
import type { RestateHandler, RestateSdk } from '../sdk-type.ts'
import type { RunAnswer, RunRequest } from '../wire.ts'
import { durableContext } from './context.ts'
import { noteBegin, noteEnd } from './noticeboard.ts'

/** The handler `run`: one execution from its beginning to its end, played again from its journal whenever it moves. */
export function runHandler(sdk: RestateSdk): RestateHandler<RunRequest, RunAnswer> {
  return async (context, request) => {
    const problem = problemOf(request)
    // Only a request that never was one fails here: the engine must not try it again.
    if (problem !== undefined) throw new sdk.TerminalError(problem, { errorCode: 400 })
    const { definition, hash, input, created } = request
    const info = { name: definition.name, hash, created }
    noteBegin(context, info)
    const settled = await interpretCalmly(sdk, () =>
      interpret(definition, input, durableContext(sdk, context)),
    )
    const answer: RunAnswer = {
      state: settled.ok ? 'completed' : settled.error.code === 'CANCELLED' ? 'cancelled' : 'failed',
      settled,
      info,
    }
    noteEnd(context, answer)
    return answer
  }
}

function problemOf(request: unknown): string | undefined {
  if (
    !isObject(request) ||
    !isObject(request['definition']) ||
    typeof request['definition']['name'] !== 'string' ||
    !Array.isArray(request['definition']['steps'])
  )
    return 'the request holds no workflow: send {definition, hash, input, created}'
  const { definition, hash } = request as unknown as RunRequest
  const found = hashWorkflow(definition)
  return found === hash
    ? undefined
    : `the definition of '${definition.name.slice(0, 100)}' was changed on its way: its hash is ${found}, and ${String(hash).slice(0, 100)} was promised`
}

// A mistake of ours would be tried again for ever, and fail in the same way each time.
async function interpretCalmly(sdk: RestateSdk, work: () => Promise<Settled>): Promise<Settled> {
  try {
    return await work()
  } catch (error) {
    if (
      error instanceof sdk.RestateError ||
      (error as Error | undefined)?.name?.includes('Suspen') === true
    )
      throw error
    return {
      ok: false,
      error: {
        code: 'INTERNAL',
        message: `the interpreter failed: ${error instanceof Error ? error.message : String(error)}`,
        retryable: false,
      },
    }
  }
}

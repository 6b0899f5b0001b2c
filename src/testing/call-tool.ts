import type { CallOptions } from '../core/call.ts'
import type { Tool } from '../core/tool.ts'
import { call } from '../core/tool.ts'
import type { PlannedAction } from '../protocol/context.ts'
import type { ToolEvent } from '../protocol/events.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { Answers, Samples } from './answers.ts'
import { createAnswerer, createCompleter, guardTestCallbacks } from './answers.ts'

/** How `callTool` calls: as every call, with answers and completions by value. */
export type CallToolOptions = CallOptions & {
  readonly answers?: Answers
  readonly samples?: Samples
}

/** What one call came to. */
export type CallToolResult<Result = unknown> = {
  readonly outcome: Outcome<Result>
  /** What the tool reported while it worked. */
  readonly events: readonly ToolEvent[]
  /** What the tool would have done, in a dry run; empty otherwise. */
  readonly plan: readonly PlannedAction[]
}

type CallToolArguments<Input> = unknown extends Input
  ? [input?: unknown, options?: CallToolOptions]
  : {} extends Input
    ? [input?: Input, options?: CallToolOptions]
    : [input: Input, options?: CallToolOptions]

/**
 * Calls a tool in this process and gives all that came of it. Throws only what a function of the
 * test threw.
 */
export async function callTool<Input, Result>(
  target: Tool<Input, Result>,
  ...[input, options = {}]: CallToolArguments<NoInfer<Input>>
): Promise<CallToolResult<Result>> {
  const { answers, samples, ...rest } = options
  const functions = guardTestCallbacks()
  const events: ToolEvent[] = []
  const answer = answers === undefined ? undefined : functions.guard(createAnswerer(answers))
  const complete = samples === undefined ? undefined : functions.guard(createCompleter(samples))
  const sample: CallOptions['sample'] = async (request) => {
    const completion = await complete?.(request)
    if (completion === undefined)
      throw new ToolError('ANSWER_REQUIRED', `the test has no completion for '${request.prompt}'`, {
        suggestion: 'Give callTool more samples',
      })
    return completion as string
  }
  const outcome = await (
    call as (target: unknown, input: unknown, options: CallOptions) => Promise<Outcome<Result>>
  )(target, input, {
    ...rest,
    ...compact({ answer, sample: complete && sample }),
    onEvent(event) {
      if (event.type !== 'tool_invoked') events.push(event)
      return rest.onEvent?.(event)
    },
  })
  functions.rethrow()
  return { outcome, events, plan: readPlannedActions(outcome) }
}

function readPlannedActions(outcome: Outcome): readonly PlannedAction[] {
  const plan =
    outcome.ok && outcome.meta.dry_run && isObject(outcome.result)
      ? outcome.result['plan']
      : undefined
  return Array.isArray(plan) ? (plan as readonly PlannedAction[]) : []
}

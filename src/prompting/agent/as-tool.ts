import { ToolError, toolErrorFrom } from '../../contract/tool-error.ts'
import type { Context } from '../../contract/context.ts'
import type { Interaction } from '../../contract/interaction.ts'
import { ok } from '../../define/results.ts'
import type { Reply } from '../../define/results.ts'
import type { AgentEvent, AgentResult, AgentRunOptions } from './agent-type.ts'

export type AgentAnswer = Pick<AgentResult, 'text' | 'turns' | 'usage'>

/** How an agent runs inside of the call of a tool: questions go to whoever answers the tool, and what it does is the tool's progress. */
export function optionsInside(
  ctx: Context,
): Required<Pick<AgentRunOptions, 'signal' | 'answer' | 'onEvent'>> {
  return {
    signal: ctx.signal,
    answer: (question) => askThrough(ctx, question),
    onEvent: (event) => report(event, ctx),
  }
}

/** What a run means as the result of a tool: its text, or the error that ended it. */
export function answerOf({ status, error, text, turns, usage }: AgentResult): Reply<AgentAnswer> {
  if (status === 'completed') return ok({ text, turns, usage }, { message: text, hidden: true })
  const { code, ...told } = error ?? new ToolError('INTERNAL', 'the agent failed').toObject()
  throw toolErrorFrom({ ...told, code, details: { ...told.details, status, text, turns, usage } })
}

// Undefined where nobody is there: whoever asked knows what to do then.
async function askThrough(
  ctx: Context,
  { kind, prompt, options, schema, timeout, key, default: preset }: Interaction,
): Promise<unknown> {
  const common = {
    prompt,
    ...(timeout !== undefined && { timeout }),
    ...(key !== undefined && { key }),
  }
  try {
    if (kind === 'confirm') return await ctx.ask({ kind, ...common })
    if (kind === 'decision')
      return await ctx.ask({
        kind,
        ...common,
        options: options ?? [],
        ...(typeof preset === 'string' && { default: preset }),
      })
    return await ctx.ask({
      kind: 'input',
      ...common,
      ...(schema && { schema }),
      ...(preset !== undefined && { default: preset }),
    })
  } catch (error) {
    if (ToolError.is(error) && error.code === 'ANSWER_REQUIRED') return undefined
    throw error
  }
}

function report(event: AgentEvent, ctx: Context): void {
  if (event.type === 'turn_start') ctx.progress(`turn ${event.turn}`)
  else if (event.type === 'tool_call') ctx.progress(`turn ${event.turn}: calls ${event.name}`)
  else if (event.type === 'tool_result' && !event.outcome.ok)
    ctx.log(
      `${event.name} failed: ${event.outcome.error.code} ${event.outcome.error.message}`,
      'warn',
    )
  else if (event.type === 'retry')
    ctx.log(`the model is asked again: ${event.error.message}`, 'warn')
}

import { giveOutcome } from '../give-outcome.ts'
import { runOnce } from '../run-once.ts'
import type { ChildRequest, Feed, Form } from './form.ts'

/** A tool of a toolable executable: warm where it can be kept so, else started for this call. */
export const toolable: Form = async (request) => {
  const { call, input, ctx, services, looked, held } = request
  // What is held has a workspace for each call, so that no process serves several.
  const outcome =
    call.warm && !held ? await services.warm?.call(call, input, ctx, looked) : undefined
  return outcome
    ? giveOutcome(outcome, ctx)
    : runOnce(request, feedTool(request), { expects: 'json', mustAnswer: true })
}

function feedTool({ call, input, ctx }: ChildRequest): Feed {
  const name = call.tool === undefined ? [] : [call.tool]
  const text = JSON.stringify(input)
  // Executables of the specification know neither stdin nor these flags.
  if (!call.stdin && !call.warm)
    return {
      args: [...name, text, ...(call.streaming ? ['--stream'] : [])],
      ...(call.streaming && { streams: true }),
    }
  return {
    args: [
      ...name,
      '-',
      ...(ctx.dryRun ? ['--dry-run'] : []),
      ...(call.destructive ? ['--yes'] : []),
    ],
    input: text,
  }
}

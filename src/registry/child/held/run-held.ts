import type { Context } from '../../../contract/context.ts'
import { isReply } from '../../../define/results.ts'
import type { StagedOutput } from '../../../process/inputs/place-outputs.ts'
import { restorePaths } from '../../../process/inputs/restore-paths.ts'
import type { ChildRequest, Form } from '../forms/form.ts'
import type { HeldBy } from './held-call.ts'
import { holdCall } from './held-call.ts'

/** Calls a tool that its manifest holds, in whatever form it is called by. What it makes comes to its place when it succeeds, and is told by that place. */
export async function runHeld(form: Form, request: ChildRequest, held: HeldBy): Promise<unknown> {
  const { call, input, ctx } = request
  const { outputs, place, remove, ...hold } = await holdCall(call, input, ctx, held)
  try {
    const answer = await form({
      ...request,
      input: hold.input,
      ctx: tellingPlaces(ctx, outputs),
      held: hold.options,
    })
    await place()
    return isReply(answer)
      ? { ...answer, result: restorePaths(answer.result, outputs) }
      : restorePaths(answer, outputs)
  } finally {
    await remove()
  }
}

function tellingPlaces(ctx: Context, outputs: readonly StagedOutput[]): Context {
  const artifact: Context['artifact'] = (name, uri) =>
    ctx.artifact(restorePaths(name, outputs), restorePaths(uri, outputs))
  return Object.create(ctx, { artifact: { value: artifact } }) as Context
}

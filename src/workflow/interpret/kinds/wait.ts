import { ToolError } from '../../../contract/tool-error.ts'
import { toMilliseconds } from '../../../contract/duration.ts'
import type { WaitStep } from '../../definition/workflow-type.ts'
import type { Operation } from '../../engines/engine-type.ts'
import { fill } from '../../expressions/fill.ts'
import type { Scope } from '../../expressions/scope-type.ts'
import { act, within } from '../flow.ts'
import { succeed } from '../frame.ts'
import type { StepKind } from '../frame.ts'
import { ask } from './ask.ts'
import { fillOptions } from './fill-options.ts'

/** Waits for a time, a moment, or somebody. */
export const wait: StepKind<WaitStep> = {
  retries: false,
  timed: false,
  *take(step, { scope }, path) {
    const { timeout } = step
    if ('answer' in step) {
      const { prompt, options, default: preset, ...rest } = step.answer
      return succeed(
        yield* ask(path, {
          kind: options ? 'decision' : 'input',
          action: step.name,
          key: step.name,
          prompt: String(fill(prompt, scope)),
          ...(options && { options: fillOptions(options, scope) }),
          ...(preset !== undefined && { default: fill(preset, scope) }),
          ...rest,
          ...(timeout !== undefined && { timeout }),
        }),
      )
    }
    const pause = act({ kind: 'sleep', key: path, until: momentOf(step, scope) })
    yield* timeout === undefined ? pause : within(`${path}~timeout`, timeout, pause)
    return succeed(null)
  },
}

function momentOf(
  step: WaitStep & ({ readonly for: number | string } | { readonly until: string }),
  scope: Scope,
): (Operation & { kind: 'sleep' })['until'] {
  if ('for' in step)
    return {
      seconds:
        typeof step.for === 'number'
          ? step.for
          : toMilliseconds(fill(step.for, scope) as number | string, 'for') / 1000,
    }
  const time = String(fill(step.until, scope))
  if (Number.isNaN(Date.parse(time)))
    throw new ToolError(
      'INVALID_INPUT',
      `'${time.slice(0, 100)}' is no moment: write it as 2026-12-31T18:00:00Z`,
      { field: 'until' },
    )
  return { time }
}

import type { Context } from '../contract/context.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { after } from './after.ts'
import { askInSession, confirm } from './consent.ts'
import type { Gathered } from './context.ts'
import { driveGenerator, isGenerator } from './drive.ts'
import { enter } from './enter.ts'
import { checkAnswer, plainAnswer, succeeded } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Finished } from './finished.ts'
import { tellGuards } from './guards/check-guards.ts'
import type { Asked } from './guards/check-guards.ts'
import type { CallOptions } from './options.ts'
import type { Prepared } from './prepare.ts'
import { showInput } from './redact.ts'
import type { RunningCall } from './running.ts'
import type { Stay } from './state/stay.ts'
import { tell } from './tell.ts'

/** A call whose input is valid. */
export type Execution = {
  readonly definition: ToolDefinition
  readonly prepared: Prepared
  readonly options: CallOptions
  readonly gathered: Gathered
  readonly call: RunningCall
  readonly stay: Stay
  finish(answer: Answer): Finished
  report(outcome: Outcome): Promise<void>
}

/** Asks, runs the handler, checks what it answers, and commits: at once where nothing has to be waited for. */
export function execute(execution: Execution): Finished | Promise<Finished> {
  const { definition, prepared, options, gathered, call, stay } = execution
  const emit = (event: ToolEvent): void | Promise<void> => {
    if (call.over) return
    if (event.type === 'artifact') gathered.artifacts.push({ name: event.name, uri: event.uri })
    return tell(event, options, call)
  }
  return after(enter({ definition, prepared, options, gathered, call, state: stay.state, emit }), ({ context, asked }) => {
    if (!definition.run) throw new ToolError('PRECONDITION', `tool '${definition.name}' is described here but cannot be run: it has no handler`, { recoverable: false, suggestion: { action: 'use_different_tool', fix: 'Use another tool' } })
    if (prepared.dryRun && !definition.dryRun) return execution.finish(plainAnswer({ dry_run: true, would_execute: showInput(definition, prepared.input) }))
    const consented = definition.annotations.destructive && !prepared.dryRun ? confirm(definition, prepared.input, options, call) : undefined
    return after(consented, () => after(handle(execution, context, emit), (returned) => conclude(execution, asked, returned)))
  })
}

function handle({ definition, prepared, options, call }: Execution, context: Context, emit: (event: ToolEvent) => void | Promise<void>): unknown {
  if (call.over) throw cancelled()
  const running = definition.run!(prepared.input as never, context)
  const drive = (first: unknown): unknown => {
    if (!isGenerator(first)) return first
    return driveGenerator(first, { emit, answer: (prompt) => askInSession(definition, prompt, options, call), signal: call.signal })
  }
  return isThenable(running) ? Promise.resolve(running).then(drive) : drive(running)
}

function conclude(execution: Execution, asked: Asked | undefined, returned: unknown): Finished | Promise<Finished> {
  const { definition, prepared, options, gathered, call, stay, finish, report } = execution
  // Nobody is told of a success that came after the end.
  if (call.over) throw new ToolError('CANCELLED', 'the call is over')
  return after(prepared.dryRun ? plainAnswer({ plan: gathered.plan }) : checkAnswer(definition, returned), (answer) => {
    if (call.over) throw cancelled()
    const counts = succeeded(answer) && !prepared.dryRun
    const told = counts && asked ? tellGuards(asked, finish(answer).outcome) : undefined
    return after(told, () => {
      const complete = (): Finished => {
        call.complete()
        return finish(answer)
      }
      return counts ? stay.commit(complete, options.onEvent && report) : complete()
    })
  })
}

// Nobody hears it: whatever ended the call has been told.
function cancelled(): ToolError {
  return new ToolError('CANCELLED', 'the call was cancelled')
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

import type { ToolEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { askInSession, confirm } from './consent.ts'
import type { Gathered } from './context.ts'
import { driveGenerator, isGenerator } from './drive.ts'
import { enter } from './enter.ts'
import { checkAnswer, plainAnswer, succeeded } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Finished } from './finished.ts'
import { tellGuards } from './guards/check-guards.ts'
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

/** Asks, runs the handler, checks what it answers, and commits. Awaits only what is a promise: each await costs a call more than the rest of its line. */
export async function execute({ definition, prepared, options, gathered, call, stay, finish, report }: Execution): Promise<Finished> {
  const { run } = definition
  const emit = (event: ToolEvent): void | Promise<void> => {
    if (call.over) return
    if (event.type === 'artifact') gathered.artifacts.push({ name: event.name, uri: event.uri })
    return tell(event, options, call)
  }
  const entering = enter({ definition, prepared, options, gathered, call, state: stay.state, emit })
  const { context, guarded } = entering instanceof Promise ? await entering : entering
  if (!run) throw new ToolError('PRECONDITION', `tool '${definition.name}' is described here but cannot be run: it has no handler`, { recoverable: false, suggestion: { action: 'use_different_tool', fix: 'Use another tool' } })
  if (prepared.dryRun && !definition.dryRun) return finish(plainAnswer({ dry_run: true, would_execute: showInput(definition, prepared.input) }))
  if (definition.annotations.destructive && !prepared.dryRun) await confirm(definition, prepared.input, options, call)
  if (call.over) throw new ToolError('CANCELLED', 'the call was cancelled')

  const running = run(prepared.input as never, context)
  const first = isThenable(running) ? await running : running
  const answer = (prompt: string): Promise<unknown> => askInSession(definition, prompt, options, call)
  const returned = isGenerator(first) ? await driveGenerator(first, { emit, answer, signal: call.signal }) : first
  const checking = prepared.dryRun ? plainAnswer({ plan: gathered.plan }) : checkAnswer(definition, returned)
  const checked = checking instanceof Promise ? await checking : checking
  const counts = succeeded(checked) && !prepared.dryRun
  if (counts && guarded) await tellGuards(options.guards!, guarded, finish(checked).outcome)
  call.complete()
  const finished = finish(checked)
  if (counts && options.state) await stay.commit(() => report(finished.outcome))
  return finished
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

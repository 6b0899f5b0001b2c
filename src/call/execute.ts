import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { after, isThenable } from './after.ts'
import { askInSession, confirm } from './consent.ts'
import { emit } from './context.ts'
import type { Entering } from './context.ts'
import { driveGenerator, isGenerator } from './drive.ts'
import type { AnyGenerator } from './drive.ts'
import { enter } from './enter.ts'
import type { Entered } from './enter.ts'
import { checkAnswer, plainAnswer, succeeded } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Finished } from './finished.ts'
import { tellGuards, wantsToKnow } from './guards/check-guards.ts'
import type { Asked } from './guards/check-guards.ts'
import { showInput } from './redact.ts'
import type { Stay } from './state/stay.ts'

/** A call whose input is valid. */
export type Execution = Entering & {
  /** What it does with its state, where it has looked at one. */
  readonly opened: Stay | undefined
  /** Makes the outcome of an answer. */
  finish(answer: Answer): Finished
  /** Tells of an outcome. */
  report(outcome: Outcome): void | Promise<void>
}

type Admitted = Entered<Execution>

/** Asks, runs the handler, checks what it answers, and commits: at once where nothing has to be waited for. */
export function execute(execution: Execution): Finished | Promise<Finished> {
  return after(enter(execution), consent)
}

function consent(admitted: Admitted): Finished | Promise<Finished> {
  const { definition, prepared, options, call } = admitted.entering
  if (!definition.run)
    throw new ToolError(
      'PRECONDITION',
      `tool '${definition.name}' is described here but cannot be run: it has no handler`,
      { recoverable: false, suggestion: { action: 'use_different_tool', fix: 'Use another tool' } },
    )
  if (prepared.dryRun && !definition.dryRun)
    return admitted.entering.finish(
      plainAnswer({ dry_run: true, would_execute: showInput(definition, prepared.input) }),
    )
  const consented =
    definition.annotations.destructive && !prepared.dryRun
      ? confirm(definition, prepared.input, options, call)
      : undefined
  return after(consented, handle, admitted)
}

function handle(_consented: void, admitted: Admitted): Finished | Promise<Finished> {
  const { definition, prepared, call } = admitted.entering
  // Nobody hears it: whatever ended the call has been told.
  call.check()
  const returned: unknown = definition.run!(prepared.input as never, admitted.context)
  return isThenable(returned)
    ? after(Promise.resolve(returned), goOn, admitted)
    : goOn(returned, admitted)
}

function goOn(returned: unknown, admitted: Admitted): Finished | Promise<Finished> {
  return isGenerator(returned)
    ? after(drive(returned, admitted.entering), conclude, admitted)
    : conclude(returned, admitted)
}

function drive(generator: AnyGenerator, execution: Execution): Promise<unknown> {
  const { definition, options, call } = execution
  return driveGenerator(generator, {
    emit: (event) => emit(event, execution),
    answer: (prompt) => askInSession(definition, prompt, options, call),
    signal: call.signal,
  })
}

function conclude(returned: unknown, admitted: Admitted): Finished | Promise<Finished> {
  const { definition, prepared, call } = admitted.entering
  // Nobody is told of a success that came after the end.
  call.check()
  return after(
    prepared.dryRun
      ? plainAnswer({ plan: admitted.entering.gathered.plan })
      : checkAnswer(definition, returned),
    settle,
    admitted,
  )
}

function settle(answer: Answer, { entering, asked }: Admitted): Finished | Promise<Finished> {
  const { prepared, call } = entering
  call.check()
  if (!succeeded(answer) || prepared.dryRun) return complete(answer, entering)
  return asked && wantsToKnow(asked)
    ? commitKnown(answer, entering, asked)
    : commit(answer, entering)
}

async function commitKnown(answer: Answer, execution: Execution, asked: Asked): Promise<Finished> {
  await tellGuards(asked, execution.finish(answer).outcome)
  return commit(answer, execution)
}

function commit(answer: Answer, execution: Execution): Finished | Promise<Finished> {
  const { opened, options } = execution
  if (!opened) return complete(answer, execution)
  if (!opened.endsAtOnce(options.onEvent !== undefined))
    return commitInTurn(opened, answer, execution)
  const finished = complete(answer, execution)
  opened.commit()
  return finished
}

function commitInTurn(
  opened: Stay,
  answer: Answer,
  execution: Execution,
): Finished | Promise<Finished> {
  return opened.commitInTurn(
    () => complete(answer, execution),
    execution.options.onEvent && ((outcome) => execution.report(outcome)),
  )
}

function complete(answer: Answer, execution: Execution): Finished {
  execution.call.complete()
  return execution.finish(answer)
}

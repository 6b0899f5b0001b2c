import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { after } from './after.ts'
import { enterBudget } from './budget.ts'
import type { Gathered } from './context.ts'
import { describeFailure } from './describe-failure.ts'
import { admit } from './enter.ts'
import { execute } from './execute.ts'
import { withoutExit } from './exit-guard.ts'
import { toToolError } from './failure.ts'
import { buildMeta, toOutcome } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Finished, Identity } from './finished.ts'
import { host } from './host.ts'
import type { ServedCallOptions } from './options.ts'
import type { Prepared } from './prepare.ts'
import { report as tellInvoked } from './report.ts'
import { underRules } from './rules.ts'
import { startCall } from './running.ts'
import type { RunningCall } from './running.ts'
import { Stay } from './state/stay.ts'

/** THE call: validate, ask, run, check, commit or roll back, answer. Never throws; every surface goes through here. */
export function invoke(definition: ToolDefinition, given: unknown, options?: ServedCallOptions, identity?: Identity): Promise<Finished> {
  return new Promise((resolve) => begin(definition, given, options, identity, resolve))
}

/** The same for whoever has a promise already: each one costs. `done` is told once. */
export function begin(definition: ToolDefinition, given: unknown, asked: ServedCallOptions = {}, identity: Identity = {}, done: (finished: Finished) => void): void {
  const options = underRules(definition, asked)
  const startedAt = host.clock()
  const gathered: Gathered = { artifacts: [], plan: [], warnings: [] }
  const tool = identity.tool ?? (identity.toolset === undefined ? definition.name : `${identity.toolset}.${definition.name}`)
  let stay: Stay | undefined
  let prepared: Prepared | undefined
  let leaveBudget: (() => void) | undefined
  const meta = (warnings: readonly string[], facts?: Answer['facts']) => buildMeta({ truncated: facts?.truncated, next_cursor: facts?.next_cursor, run_id: facts?.run_id, tool, version: identity.version, startedAt, dryRun: prepared?.dryRun ?? options.dryRun ?? false, warnings, caller: options.caller, artifacts: gathered.artifacts })
  const finish = (answer: Answer): Finished => ({ outcome: toOutcome(answer, meta(answer.warnings, answer.facts)), value: answer.value })
  const report = async (outcome: Outcome): Promise<void> => {
    if (!options.unrecorded) await tellInvoked(definition, given, prepared && { value: prepared.input }, outcome, options)
  }

  const work = (call: RunningCall): Finished | Promise<Finished> => after(admit(definition, given, options, call), (ready) => {
    prepared = ready
    const run = (): Finished | Promise<Finished> => {
      // Whatever is opened after the end would never be closed.
      if (call.over) throw new ToolError('CANCELLED', 'the call is over')
      if (options.budget) leaveBudget = enterBudget(options.budget, call)
      stay = new Stay(options.state, definition.annotations.readOnly === true, call)
      return execute({ definition, prepared: ready, options, gathered, call, stay, finish, report })
    }
    const { idempotencyKey: key, env = host.env() } = options
    return key === undefined || ready.dryRun ? run() : import('./idempotency.ts').then(({ once }) => once({ key, tool, input: ready.input, given, env }, async () => run()))
  })
  const describe = (thrown: unknown): Finished => {
    const { error, object } = describeFailure(thrown, definition.errors, definition.name)
    return { outcome: { ok: false, status: 'error', error: object, meta: meta([]) }, error }
  }
  const isTold = (): boolean => stay?.isCommitted === true && options.state !== undefined
  const leave = (finished: Finished): Finished | Promise<Finished> => {
    leaveBudget?.()
    const leaving = stay?.leave()
    return leaving || (options.onEvent && !isTold()) ? leaveLater(finished, leaving) : finished
  }
  const leaveLater = async (finished: Finished, leaving: void | Promise<void>): Promise<Finished> => {
    let last = finished
    try {
      await leaving
    } catch (error) {
      last = withWarning(finished, `${stay?.isCommitted ? 'what the call had opened could not be closed' : 'not all that the call changed could be taken back'}: ${toToolError(error).message}`)
    }
    // An observer that fails after the end changes nothing any more.
    if (!isTold()) await report(last.outcome).catch(() => undefined)
    return last
  }
  startCall(
    options.cancellation ?? options.signal,
    (call) => (definition.isPassedOn ? work(call) : withoutExit(call, () => work(call))),
    (finished) => void after(leave(finished), done),
    (thrown) => void after(leave(describe(thrown)), done),
  )
}

function withWarning({ outcome, ...finished }: Finished, warning: string): Finished {
  return { ...finished, outcome: { ...outcome, meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), warning] } } }
}

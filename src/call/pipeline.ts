import type { Outcome } from '../contract/outcome.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
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
import { runCall } from './running.ts'
import type { RunningCall } from './running.ts'
import { Stay } from './state/stay.ts'

/** THE call: validate, ask, run, check, commit or roll back, answer. Never throws; every surface goes through here. */
export async function invoke(definition: ToolDefinition, given: unknown, options: ServedCallOptions = {}, identity: Identity = {}): Promise<Finished> {
  const startedAt = host.clock()
  const gathered: Gathered = { artifacts: [], plan: [], warnings: [] }
  const tool = identity.tool ?? (identity.toolset === undefined ? definition.name : `${identity.toolset}.${definition.name}`)
  const stay = new Stay(options.state)
  let prepared: Prepared | undefined
  let leaveBudget: (() => void) | undefined
  const meta = (facts?: Answer['facts'], warnings: readonly string[] = []) => buildMeta({ ...facts, tool, version: identity.version, startedAt, dryRun: prepared?.dryRun ?? options.dryRun ?? false, warnings: [...gathered.warnings, ...warnings], caller: options.caller, artifacts: gathered.artifacts })
  const finish = (answer: Answer): Finished => ({ outcome: toOutcome(answer, meta(answer.facts, answer.warnings)), value: answer.value })
  const report = async (outcome: Outcome): Promise<void> => {
    if (!options.unrecorded) await tellInvoked(definition, given, prepared && { value: prepared.input }, outcome, options)
  }

  const work = (call: RunningCall): Promise<Finished> => {
    const go = (ready: Prepared): Promise<Finished> => {
      prepared = ready
      if (options.budget) leaveBudget = enterBudget(options.budget, call)
      const run = (): Promise<Finished> => stay.begin(definition.annotations.readOnly === true, call, () => execute({ definition, prepared: ready, options, gathered, call, stay, finish, report }))
      const { idempotencyKey: key, env = host.env() } = options
      return key === undefined || ready.dryRun ? run() : import('./idempotency.ts').then(({ once }) => once({ key, tool, input: ready.input, given, env }, run))
    }
    const admitted = admit(definition, given, options, call)
    return admitted instanceof Promise ? admitted.then(go) : go(admitted)
  }
  const leave = (): Promise<string | undefined> => stay.leave().then(() => undefined, (error: unknown) => `${stay.isCommitted ? 'what the call had opened could not be closed' : 'not all that the call changed could be taken back'}: ${toToolError(error).message}`)

  let finished: Finished
  try {
    finished = await runCall(options.cancellation ?? options.signal, (call) => (definition.isPassedOn ? work(call) : withoutExit(call, () => work(call))))
    const warning = stay.isUsed ? await leave() : undefined
    if (warning !== undefined) finished = withWarning(finished, warning)
  } catch (thrown) {
    const warning = stay.isUsed ? await leave() : undefined
    const { error, object } = describeFailure(thrown, definition.errors)
    finished = { outcome: { ok: false, status: 'error', error: object, meta: meta(undefined, warning === undefined ? [] : [warning]) }, error }
  }
  leaveBudget?.()
  // An observer that fails after the end changes nothing any more.
  if (!stay.isCommitted && options.onEvent) await report(finished.outcome).catch(() => undefined)
  return finished
}

function withWarning({ outcome, ...finished }: Finished, warning: string): Finished {
  return { ...finished, outcome: { ...outcome, meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), warning] } } }
}

import type { Outcome, OutcomeMeta } from '../contract/outcome.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { after } from './after.ts'
import { enterBudget } from './budget.ts'
import type { Gathered } from './context.ts'
import { describeFailure } from './describe-failure.ts'
import { admit } from './enter.ts'
import { execute } from './execute.ts'
import type { Finishing } from './execute.ts'
import { withoutExit } from './exit-guard.ts'
import { toToolError } from './failure.ts'
import { buildMeta, toOutcome } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Begun, Finished, Identity } from './finished.ts'
import { host } from './host.ts'
import type { ServedCallOptions } from './options.ts'
import { isOutOfPatience } from './patience.ts'
import type { Prepared } from './prepare.ts'
import { report } from './report.ts'
import { underRules } from './rules.ts'
import { startCall } from './running.ts'
import type { Course, RunningCall } from './running.ts'
import { Stay } from './state/stay.ts'

/** THE call: validate, ask, run, check, commit or roll back, answer. Never throws; every surface goes through here. */
export function invoke(definition: ToolDefinition, given: unknown, options?: ServedCallOptions, identity?: Identity): Promise<Finished> {
  const begun = begin(definition, given, options, identity)
  return begun.finished ? Promise.resolve(begun.finished) : new Promise((resolve) => begun.whenFinished(resolve))
}

/** The same for whoever makes a promise of something else: each one costs. */
export function begin(definition: ToolDefinition, given: unknown, asked: ServedCallOptions = {}, identity: Identity = {}): Begun {
  const options = underRules(definition, asked)
  const passage = new Passage(definition, given, options, identity)
  startCall(options.cancellation ?? options.signal, passage)
  return passage
}

/** One call on its way from what was given to what is answered. A class, because a function for each step would cost more than the steps. */
class Passage implements Begun, Course<Finished>, Finishing {
  finished: Finished | undefined
  #react: ((finished: Finished) => void) | undefined
  readonly #definition: ToolDefinition
  readonly #given: unknown
  readonly #options: ServedCallOptions
  readonly #identity: Identity
  readonly #startedAt = host.clock()
  readonly #gathered: Gathered = { artifacts: [], plan: [] }
  #prepared: Prepared | undefined
  #stay: Stay | undefined
  #leaveBudget: (() => void) | undefined

  constructor(definition: ToolDefinition, given: unknown, options: ServedCallOptions, identity: Identity) {
    this.#definition = definition
    this.#given = given
    this.#options = options
    this.#identity = identity
  }

  whenFinished(react: (finished: Finished) => void): void {
    this.#react = react
  }

  work(call: RunningCall): Finished | Promise<Finished> {
    return this.#definition.isPassedOn ? this.#enter(call) : withoutExit(call, () => this.#enter(call))
  }

  #enter(call: RunningCall): Finished | Promise<Finished> {
    return after(admit(this.#definition, this.#given, this.#options, call), (prepared) => {
      this.#prepared = prepared
      const { idempotencyKey: key } = this.#options
      return key === undefined || prepared.dryRun ? this.#run(prepared, call) : this.#runOnce(key, prepared, call)
    })
  }

  #runOnce(key: string, { input }: Prepared, call: RunningCall): Promise<Finished> {
    const [tool, given, { env = host.env() }] = [this.#tool, this.#given, this.#options]
    return import('./idempotency.ts').then(({ once }) => once({ key, tool, input, given, env }, async () => this.#run(this.#prepared!, call)))
  }

  #run(prepared: Prepared, call: RunningCall): Finished | Promise<Finished> {
    // Whatever is opened after the end would never be closed.
    call.check()
    const [definition, options] = [this.#definition, this.#options]
    if (options.budget) this.#leaveBudget = enterBudget(options.budget, call)
    const stay = (this.#stay = new Stay(options.state, definition.annotations.readOnly === true, call))
    return execute({ definition, prepared, options, gathered: this.#gathered, call, stay, finishing: this })
  }

  finish(answer: Answer): Finished {
    return { outcome: toOutcome(answer, this.#meta(answer.warnings, answer.facts)), value: answer.value }
  }

  report(outcome: Outcome): void | Promise<void> {
    if (!this.#options.unrecorded) return report(this.#definition, this.#given, this.#prepared && { value: this.#prepared.input }, outcome, this.#options)
  }

  succeed(finished: Finished): void {
    this.#leave(finished)
  }

  fail(thrown: unknown): void {
    const { error, object } = describeFailure(thrown, this.#definition.errors, this.#definition.name)
    this.#leave({ outcome: { ok: false, status: 'error', error: object, meta: this.#meta([]) }, error })
  }

  #leave(finished: Finished): void {
    this.#leaveBudget?.()
    const leaving = this.#stay?.leave()
    if (leaving) void this.#leaveLater(finished, leaving)
    else this.#end(finished)
  }

  async #leaveLater(finished: Finished, leaving: Promise<void>): Promise<void> {
    let last = finished
    try {
      await leaving
    } catch (error) {
      last = withWarning(finished, `${this.#stay?.isCommitted ? 'what the call had opened could not be closed' : 'not all that the call changed could be taken back'}: ${toToolError(error).message}`)
    }
    this.#end(last)
  }

  #end(finished: Finished): void {
    const telling = this.#options.onEvent && !this.#isTold ? this.#tell(finished.outcome) : undefined
    // There is no point in waiting for a stuck one twice.
    if (!telling || isOutOfPatience(finished.error)) this.#answer(finished)
    else void telling.then(() => this.#answer(finished))
  }

  // An observer that fails after the end changes nothing any more.
  #tell(outcome: Outcome): Promise<void> | undefined {
    try {
      const telling = this.report(outcome)
      return telling instanceof Promise ? telling.catch(() => undefined) : undefined
    } catch {
      return undefined
    }
  }

  #answer(finished: Finished): void {
    this.finished = finished
    this.#react?.(finished)
  }

  get #isTold(): boolean {
    return this.#stay?.isCommitted === true && this.#options.state !== undefined
  }

  get #tool(): string {
    const { tool, toolset } = this.#identity
    return tool ?? (toolset === undefined ? this.#definition.name : `${toolset}.${this.#definition.name}`)
  }

  #meta(warnings: readonly string[], facts?: Answer['facts']): OutcomeMeta {
    const { dryRun = false, caller } = this.#options
    return buildMeta({ truncated: facts?.truncated, next_cursor: facts?.next_cursor, run_id: facts?.run_id, tool: this.#tool, version: this.#identity.version, startedAt: this.#startedAt, dryRun: this.#prepared?.dryRun ?? dryRun, warnings, caller, artifacts: this.#gathered.artifacts })
  }
}

function withWarning({ outcome, ...finished }: Finished, warning: string): Finished {
  return { ...finished, outcome: { ...outcome, meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), warning] } } }
}

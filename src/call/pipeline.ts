import type { Artifact, Outcome, OutcomeMeta } from '../contract/outcome.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { after } from './after.ts'
import { enterBudget } from './budget.ts'
import type { Gathered } from './context.ts'
import { describeFailure } from './describe-failure.ts'
import { admit } from './enter.ts'
import { execute } from './execute.ts'
import type { Execution } from './execute.ts'
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
export function invoke(
  definition: ToolDefinition,
  given: unknown,
  options?: ServedCallOptions,
  identity?: Identity,
): Promise<Finished> {
  const begun = begin(definition, given, options, identity)
  return begun.finished
    ? Promise.resolve(begun.finished)
    : new Promise((resolve) => begun.whenFinished(resolve))
}

/** The same for whoever makes a promise of something else: each one costs. */
export function begin(
  definition: ToolDefinition,
  given: unknown,
  asked: ServedCallOptions = {},
  identity: Identity = {},
): Begun {
  const options = underRules(definition, asked)
  const passage = new Passage(definition, given, options, identity)
  startCall(options.cancellation ?? options.signal, passage)
  return passage
}

/** One call on its way from what was given to what is answered, and all that its steps need to know. A class, because a function for each step would cost more than the steps; and one object, because each costs. */
class Passage implements Begun, Course<Finished>, Execution {
  finished: Finished | undefined
  readonly definition: ToolDefinition
  readonly options: ServedCallOptions
  /** There as soon as the call begins to work. */
  call!: RunningCall
  /** There as soon as the input is valid. */
  prepared!: Prepared
  /** What it does with its state, where it has looked at one. */
  opened: Stay | undefined
  readonly #given: unknown
  readonly #identity: Identity
  readonly #startedAt = host.clock()
  #react: ((finished: Finished) => void) | undefined
  #gathered: Gathered | undefined
  #isLeft = false
  #leaveBudget: (() => void) | undefined

  constructor(
    definition: ToolDefinition,
    given: unknown,
    options: ServedCallOptions,
    identity: Identity,
  ) {
    this.definition = definition
    this.options = options
    this.#given = given
    this.#identity = identity
  }

  get gathered(): Gathered {
    return (this.#gathered ??= { artifacts: [], plan: [] })
  }

  get stay(): Stay {
    return this.opened ?? this.#open()
  }

  #open(): Stay {
    const stay = (this.opened = new Stay(
      this.options.state,
      this.definition.annotations.readOnly === true,
      this.call,
    ))
    // What is opened after the end is closed at once.
    if (this.#isLeft) void stay.leave()
    return stay
  }

  whenFinished(react: (finished: Finished) => void): void {
    this.#react = react
  }

  work(call: RunningCall): Finished | Promise<Finished> {
    this.call = call
    return this.definition.isPassedOn ? admitted(this) : withoutExit(call, admitted, this)
  }

  /** Everything behind the check of its input. */
  run(prepared: Prepared): Finished | Promise<Finished> {
    this.prepared = prepared
    const { idempotencyKey: key } = this.options
    return key === undefined || prepared.dryRun ? this.#run() : this.#runOnce(key, prepared)
  }

  #runOnce(key: string, { input }: Prepared): Promise<Finished> {
    const [tool, given, { env = host.env() }] = [this.#tool, this.#given, this.options]
    return import('./idempotency.ts').then(({ once }) =>
      once({ key, tool, input, given, env }, async () => this.#run()),
    )
  }

  #run(): Finished | Promise<Finished> {
    // Whatever is opened after the end would never be closed.
    this.call.check()
    const { budget, state } = this.options
    if (budget) this.#leaveBudget = enterBudget(budget, this.call)
    // A state is seen as it is now, and not when the handler first looks.
    if (state !== undefined) this.#open()
    return execute(this)
  }

  /** Starts the clock and checks the input. */
  admit(): Prepared | Promise<Prepared> {
    return admit(this.definition, this.#given, this.options, this.call)
  }

  finish(answer: Answer): Finished {
    return {
      outcome: toOutcome(answer, this.#meta(answer.warnings, answer.facts)),
      value: answer.value,
    }
  }

  report(outcome: Outcome): void | Promise<void> {
    const prepared = this.prepared as Prepared | undefined
    if (!this.options.unrecorded)
      return report(
        this.definition,
        this.#given,
        prepared && { value: prepared.input },
        outcome,
        this.options,
      )
  }

  succeed(finished: Finished): void {
    this.#leave(finished)
  }

  fail(thrown: unknown): void {
    const { error, object } = describeFailure(thrown, this.definition.errors, this.definition.name)
    this.#leave({
      outcome: { ok: false, status: 'error', error: object, meta: this.#meta([]) },
      error,
    })
  }

  #leave(finished: Finished): void {
    this.#leaveBudget?.()
    this.#isLeft = true
    const leaving = this.opened?.leave()
    if (leaving) void this.#leaveLater(finished, leaving)
    else this.#end(finished)
  }

  async #leaveLater(finished: Finished, leaving: Promise<void>): Promise<void> {
    let last = finished
    try {
      await leaving
    } catch (error) {
      last = withWarning(
        finished,
        `${this.opened?.isCommitted ? 'what the call had opened could not be closed' : 'not all that the call changed could be taken back'}: ${toToolError(error).message}`,
      )
    }
    this.#end(last)
  }

  #end(finished: Finished): void {
    const telling = this.options.onEvent && !this.#isTold ? this.#tell(finished.outcome) : undefined
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
    return this.opened?.isCommitted === true && this.options.state !== undefined
  }

  get #tool(): string {
    const { tool, toolset } = this.#identity
    return (
      tool ?? (toolset === undefined ? this.definition.name : `${toolset}.${this.definition.name}`)
    )
  }

  #meta(warnings: readonly string[], facts?: Answer['facts']): OutcomeMeta {
    const { dryRun = false, caller } = this.options
    const prepared = this.prepared as Prepared | undefined
    return buildMeta({
      truncated: facts?.truncated,
      next_cursor: facts?.next_cursor,
      run_id: facts?.run_id,
      tool: this.#tool,
      version: this.#identity.version,
      startedAt: this.#startedAt,
      dryRun: prepared?.dryRun ?? dryRun,
      warnings,
      caller,
      artifacts: this.#gathered?.artifacts ?? NO_ARTIFACTS,
    })
  }
}

const NO_ARTIFACTS: readonly Artifact[] = []

function admitted(passage: Passage): Finished | Promise<Finished> {
  return after(passage.admit(), run, passage)
}

function run(prepared: Prepared, passage: Passage): Finished | Promise<Finished> {
  return passage.run(prepared)
}

function withWarning({ outcome, ...finished }: Finished, warning: string): Finished {
  return {
    ...finished,
    outcome: {
      ...outcome,
      meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), warning] },
    },
  }
}

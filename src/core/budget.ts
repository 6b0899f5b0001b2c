import { checkOptions } from '../define/checks.ts'
import type { Budget, BudgetDimension, BudgetLimits, TokenUsage } from '../protocol/limits.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import { host } from './host.ts'
import type { RunningCall } from './lifecycle.ts'

const COUNTED_DIMENSIONS = {
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  totalTokens: 'total_tokens',
  calls: 'calls',
} as const
type CountedField = keyof typeof COUNTED_DIMENSIONS
const COUNTED_FIELDS = Object.keys(COUNTED_DIMENSIONS) as CountedField[]
const BUDGET_SUGGESTION = {
  action: 'abort',
  fix: 'Finish with what is there, or ask for a larger budget',
} as const

class SharedBudget implements Budget {
  readonly limits: BudgetLimits
  readonly #milliseconds: number | undefined
  readonly #limited: readonly CountedField[]
  readonly #startedAt = host.clock()
  readonly #running = new Set<RunningCall>()
  readonly #counts = { inputTokens: 0, outputTokens: 0, totalTokens: 0, calls: 0 }
  #timer: NodeJS.Timeout | undefined

  constructor(limits: BudgetLimits) {
    this.limits = Object.freeze({ ...limits })
    this.#milliseconds = limits.time === undefined ? undefined : toMilliseconds(limits.time, 'time')
    this.#limited = COUNTED_FIELDS.filter((name) => limits[name] !== undefined)
  }

  get used(): Budget['used'] {
    return { seconds: this.#seconds, ...this.#counts }
  }

  get #seconds(): number {
    return (host.clock() - this.#startedAt) / 1000
  }

  remaining(dimension: BudgetDimension): number | undefined {
    if (dimension === 'time')
      return this.#milliseconds === undefined
        ? undefined
        : Math.max(0, this.#milliseconds / 1000 - this.#seconds)
    const field = this.#limited.find((name) => COUNTED_DIMENSIONS[name] === dimension)
    return field && Math.max(0, this.limits[field]! - this.#counts[field])
  }

  spend({ input = 0, output = 0 }: TokenUsage): void {
    for (const tokens of [input, output])
      if (!(Number.isFinite(tokens) && tokens >= 0))
        throw new ToolError(
          'INVALID_INPUT',
          `a number of tokens must be 0 or more, got ${String(tokens)}`,
        )
    this.#counts.inputTokens += input
    this.#counts.outputTokens += output
    this.#counts.totalTokens += input + output
    const problem = this.#exceeded()
    if (!problem) return
    this.#endAll(problem)
    throw problem
  }

  check(): void {
    const problem = this.#exceeded()
    if (problem) throw problem
  }

  /**
   * Counts a call that begins, and ends it when the others spend what it would need; gives the
   * function that says it is over.
   */
  enter(call: RunningCall): () => void {
    this.check()
    if (this.#counts.calls === this.limits.calls) throw this.#createExceededError('calls')
    this.#counts.calls++
    this.#running.add(call)
    this.#watchTime(call)
    return () => {
      this.#running.delete(call)
      if (this.#running.size > 0) return
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  // The deadline of the call tells its handler of the limit, and stands still while a person is
  // asked; the time of a budget does not.
  #watchTime(call: RunningCall): void {
    const left = this.remaining('time')
    if (left === undefined) return
    call.setDeadline(left * 1000, () => this.#timeIsUp())
    this.#timer ??= setTimeout(() => this.#endAll(this.#timeIsUp()), left * 1000)
  }

  #endAll(problem: ToolError): void {
    for (const call of [...this.#running]) call.fail(problem)
  }

  #exceeded(): ToolError | undefined {
    if (this.remaining('time') === 0) return this.#timeIsUp()
    for (const field of this.#limited)
      if (this.#counts[field] > this.limits[field]!) return this.#createExceededError(field)
    return undefined
  }

  #createExceededError(field: CountedField): ToolError {
    const [limit, dimension] = [this.limits[field]!, COUNTED_DIMENSIONS[field]]
    return new ToolError(
      'E_BUDGET_EXCEEDED',
      `the budget of ${limit} ${dimension.replace('_', ' ')} is used up`,
      {
        recoverable: false,
        retryable: false,
        details: { dimension, limit, used: this.#counts[field] },
        suggestion: BUDGET_SUGGESTION,
      },
    )
  }

  #timeIsUp(): ToolError {
    const limit = this.#milliseconds! / 1000
    return new ToolError('TIMEOUT', `the budget of ${limit} seconds is used up`, {
      details: { dimension: 'time', limit, used: this.#seconds },
      suggestion: BUDGET_SUGGESTION,
    })
  }
}

/**
 * Limits that calls share; give it as `budget` to each of them. Throws CONFIG without a limit, for
 * one that is not above 0, and for one that there is not.
 */
export function createBudget(limits: BudgetLimits): Budget {
  if (!isObject(limits))
    throw new ToolError(
      'CONFIG',
      'createBudget() takes limits: { time, inputTokens, outputTokens, totalTokens, calls }',
    )
  checkOptions('createBudget()', limits, ['time', ...COUNTED_FIELDS])
  if (Object.values(limits).every((limit) => limit === undefined))
    throw new ToolError(
      'CONFIG',
      'a budget needs at least one limit: time, inputTokens, outputTokens, totalTokens or calls',
    )
  for (const name of COUNTED_FIELDS) {
    const limit = limits[name]
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
      throw new ToolError(
        'CONFIG',
        `${name}: a limit of a budget must be a whole number above 0, got ${String(limit)}`,
      )
  }
  try {
    return new SharedBudget(limits)
  } catch (error) {
    throw new ToolError('CONFIG', `time: ${(error as Error).message}`, { cause: error })
  }
}

/** Counts a call against a budget; gives the function that says it is over. */
export function enterBudget(budget: Budget, call: RunningCall): () => void {
  if (!(budget instanceof SharedBudget))
    throw new ToolError('CONFIG', 'budget must be what createBudget() gives')
  return budget.enter(call)
}

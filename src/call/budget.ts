import type { Budget, BudgetDimension, BudgetLimits, TokenUsage } from '../contract/budget.ts'
import { toMilliseconds } from '../contract/duration.ts'
import { ToolError } from '../contract/tool-error.ts'
import { host } from './host.ts'
import type { RunningCall } from './running.ts'

const COUNTED = { inputTokens: 'input_tokens', outputTokens: 'output_tokens', totalTokens: 'total_tokens', calls: 'calls' } as const

class SharedBudget implements Budget {
  readonly limits: BudgetLimits
  readonly #milliseconds: number | undefined
  readonly #startedAt = host.clock()
  readonly #running = new Set<RunningCall>()
  #input = 0
  #output = 0
  #calls = 0

  constructor(limits: BudgetLimits) {
    this.limits = limits
    this.#milliseconds = limits.time === undefined ? undefined : toMilliseconds(limits.time, 'time')
  }

  get used(): Budget['used'] {
    return { seconds: (host.clock() - this.#startedAt) / 1000, inputTokens: this.#input, outputTokens: this.#output, totalTokens: this.#input + this.#output, calls: this.#calls }
  }

  remaining(dimension: BudgetDimension): number | undefined {
    const { used } = this
    if (dimension === 'time') return this.#milliseconds === undefined ? undefined : Math.max(0, this.#milliseconds / 1000 - used.seconds)
    const field = (Object.keys(COUNTED) as (keyof typeof COUNTED)[]).find((name) => COUNTED[name] === dimension)!
    const limit = this.limits[field]
    return limit === undefined ? undefined : Math.max(0, limit - used[field])
  }

  spend({ input = 0, output = 0 }: TokenUsage): void {
    for (const tokens of [input, output]) if (!(tokens >= 0)) throw new ToolError('INVALID_INPUT', `a number of tokens must be 0 or more, got ${tokens}`)
    this.#input += input
    this.#output += output
    const problem = this.#exceeded()
    if (!problem) return
    for (const call of this.#running) call.fail(problem)
    throw problem
  }

  check(): void {
    const problem = this.#exceeded()
    if (problem) throw problem
  }

  /** Counts a call that begins, and ends it when the others spend what it would need; gives the function that says it is over. */
  enter(call: RunningCall): () => void {
    this.#calls++
    this.check()
    const left = this.remaining('time')
    if (left !== undefined) call.limitTo(left * 1000, () => this.#timeIsUp())
    this.#running.add(call)
    return () => void this.#running.delete(call)
  }

  #exceeded(): ToolError | undefined {
    if (this.remaining('time') === 0) return this.#timeIsUp()
    const { used } = this
    for (const [field, dimension] of Object.entries(COUNTED) as [keyof typeof COUNTED, BudgetDimension][]) {
      const limit = this.limits[field]
      if (limit !== undefined && used[field] > limit) return new ToolError('E_BUDGET_EXCEEDED', `the budget of ${limit} ${dimension.replace('_', ' ')} is used up`, { recoverable: false, retryable: false, details: { dimension, limit, used: used[field] }, suggestion: { action: 'abort', fix: 'Finish with what is there, or ask for a larger budget' } })
    }
    return undefined
  }

  #timeIsUp(): ToolError {
    const limit = this.#milliseconds! / 1000
    return new ToolError('TIMEOUT', `the budget of ${limit} seconds is used up`, { details: { dimension: 'time', limit, used: this.used.seconds }, suggestion: { action: 'abort', fix: 'Finish with what is there, or ask for a larger budget' } })
  }
}

/** Limits that calls share; give it as `budget` to each of them. Throws CONFIG without a limit, and for one that is not above 0. */
export function createBudget(limits: BudgetLimits): Budget {
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  if (given.length === 0) throw new ToolError('CONFIG', 'a budget needs at least one limit: time, inputTokens, outputTokens, totalTokens or calls')
  for (const [name, limit] of given) if (name !== 'time' && !(Number.isSafeInteger(limit) && (limit as number) > 0)) throw new ToolError('CONFIG', `${name}: a limit of a budget must be a whole number above 0, got ${String(limit)}`)
  const budget = new SharedBudget(limits)
  if (budget.remaining('time') === 0) throw new ToolError('CONFIG', 'time: a limit of a budget must be above 0')
  return budget
}

/** Counts a call against a budget; gives the function that says it is over. */
export function enterBudget(budget: Budget, call: RunningCall): () => void {
  if (!(budget instanceof SharedBudget)) throw new ToolError('CONFIG', 'budget must be what createBudget() gives')
  return budget.enter(call)
}

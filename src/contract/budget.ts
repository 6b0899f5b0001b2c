import type { Duration } from './duration.ts'

/** Tokens that a model took and gave. */
export type TokenUsage = { readonly input?: number; readonly output?: number }

/** What may be spent; at least one limit. */
export type BudgetLimits = {
  /** From the making of the budget on. */
  readonly time?: Duration
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  /** Calls of tools. */
  readonly calls?: number
}

/** What a budget counts. */
export type BudgetDimension = 'time' | 'input_tokens' | 'output_tokens' | 'total_tokens' | 'calls'

/** Limits that several calls share. Whoever goes beyond one fails with E_BUDGET_EXCEEDED, which names the dimension; beyond `time` with TIMEOUT. */
export type Budget = {
  readonly limits: BudgetLimits
  /** Counts tokens; throws when a limit is passed, and ends the calls that share the budget. */
  spend(usage: TokenUsage): void
  readonly used: {
    readonly seconds: number
    readonly inputTokens: number
    readonly outputTokens: number
    readonly totalTokens: number
    readonly calls: number
  }
  /** Seconds, tokens or calls that are left; undefined without a limit. */
  remaining(dimension: BudgetDimension): number | undefined
  /** Throws when a limit has been passed. */
  check(): void
}

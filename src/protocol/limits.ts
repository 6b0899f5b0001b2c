/**
 * Limits of a call: durations as people write them, and budgets that several calls share.
 */

import { ToolError } from './tool-error.ts'

/**
 * A duration as people write it: a number is seconds; strings take `ms`, `s`, `m`, `h` (`'500ms'`,
 * `'1.5h'`).
 */
export type Duration = number | string

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
// setTimeout overflows above this and fires at once.
export const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Milliseconds of a duration; throws INVALID_INPUT for anything that is not a positive, finite
 * time.
 */
export function toMilliseconds(duration: Duration, field?: string): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*$/.exec(String(duration))
  const milliseconds = match
    ? Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS]
    : NaN
  if (!(milliseconds > 0)) {
    throw new ToolError(
      'INVALID_INPUT',
      `'${duration}' is not a duration: give seconds above 0, or a number with ms, s, m or h`,
      field === undefined ? {} : { field },
    )
  }
  return Math.min(milliseconds, MAX_TIMER_MS)
}

/** The wanted duration, or the longest that is allowed. Throws INVALID_INPUT naming the field. */
export function capTimeout(
  wanted: Duration,
  longest: Duration | undefined,
  field: string,
): Duration {
  const milliseconds = toMilliseconds(wanted, field)
  return longest !== undefined && toMilliseconds(longest, field) < milliseconds ? longest : wanted
}

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

/**
 * Limits that several calls share. Whoever goes beyond one fails with E_BUDGET_EXCEEDED, which
 * names the dimension; beyond `time` with TIMEOUT.
 */
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

import type { BudgetLimits } from '../../contract/budget.ts'
import type { Surroundings } from '../config/load.ts'

/** Everything that a run of an agent is made of, as `run.json` keeps it: it holds no key, only where that comes from. */
export type AgentSettings = {
  readonly task: string
  readonly model?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  readonly system?: string
  readonly prompt?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly tools?: readonly string[]
  readonly maxTurns?: number
  readonly maxTotalTokens?: number
  readonly maxCalls?: number
  readonly maxOutputTokens?: number
  readonly parallel?: 'safe' | 'all' | 'none'
  /** Consent to every destructive call. */
  readonly yes?: boolean
  /** Tools plan instead of act. */
  readonly dryRun?: boolean
}

/** What the command line says. */
export type AgentFlags = AgentSettings &
  Surroundings & { readonly wait?: boolean; readonly detach?: boolean; readonly progress?: string }

/** The limits in it, where there are any. */
export function budgetOf({ maxTotalTokens, maxCalls }: AgentSettings): BudgetLimits | undefined {
  if (maxTotalTokens === undefined && maxCalls === undefined) return undefined
  return {
    ...(maxTotalTokens !== undefined && { totalTokens: maxTotalTokens }),
    ...(maxCalls !== undefined && { calls: maxCalls }),
  }
}

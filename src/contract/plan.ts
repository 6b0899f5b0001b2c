/** One step of a plan. */
export type PlanStep = {
  /** From 1, never used again. */ readonly step_id: number
  /** At most 500 characters. */ readonly title: string
  readonly status: 'pending' | 'in_progress' | 'done'
}

/** What an agent has set out to do. It is completed when all its steps are done. */
export type Plan = {
  readonly objective: string
  readonly status: 'active' | 'completed'
  readonly steps: readonly PlanStep[]
}

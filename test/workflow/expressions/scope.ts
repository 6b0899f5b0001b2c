import type { ExpressionScope, StepRecord } from '../../../src/workflow/expressions.ts'

/** A step that went well. */
export function done(result: unknown): StepRecord {
  return { status: 'ok', result, error: null }
}

/** A scope with what a test says, and nothing else. */
export function scopeOf(given: Partial<ExpressionScope> = {}): ExpressionScope {
  return {
    input: {},
    steps: {},
    workflow: { id: 'r-0000000001', name: 'sample' },
    items: {},
    ...given,
  }
}

import type { Subject } from './subject/subject.ts'

/** What a check found. `fix` says what to do about it. */
export type Verdict =
  | { readonly status: 'pass' }
  | { readonly status: 'warn' | 'fail'; readonly found: string; readonly fix: string }

/** One thing that a program can be good or bad at. All checks have these few functions, and nobody asks which one it is. */
export type Check = {
  readonly id: string
  /** What is so where it passes. */
  readonly title: string
  /** Its share of the score. */
  readonly weight: number
  /** `first`: it measures, and nothing else may run beside it; `last`: it looks at what all others saw. */
  readonly turn?: 'first' | 'last'
  /** Why it says nothing about this program; undefined where it applies. */
  skip?(subject: Subject): string | undefined
  run(subject: Subject): Promise<Verdict> | Verdict
}

/** What one check said about one program. */
export type Checked = {
  readonly id: string
  readonly title: string
  readonly status: 'pass' | 'warn' | 'fail' | 'skip'
  readonly weight: number
  readonly found?: string
  readonly fix?: string
}

/** How agent-ready a program is. */
export type Report = {
  readonly path: string
  readonly speaks: string
  readonly tools: readonly string[]
  readonly score: number
  readonly of: number
  readonly percent: number
  readonly checks: readonly Checked[]
}

export const PASS: Verdict = { status: 'pass' }

/** A finding that costs the whole weight. */
export function failed(found: string, fix: string): Verdict {
  return { status: 'fail', found, fix }
}

/** A finding that costs half of it. */
export function doubtful(found: string, fix: string): Verdict {
  return { status: 'warn', found, fix }
}

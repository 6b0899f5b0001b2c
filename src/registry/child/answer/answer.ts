import type { ToolEvent } from '../../../contract/events.ts'
import type { Outcome } from '../../../contract/outcome.ts'

/** What a child left behind: its output, how it ended, and what its manifest says about exit statuses. */
export type ChildOutput = {
  readonly stdout: Buffer
  /** The last part of it, notifications left out. */
  readonly stderr: string
  readonly status: number | null
  readonly signal: string | null
  readonly exitCodes?: { readonly [meaning: string]: number }
}

/** How far an output is understood. */
export type AnswerRules = {
  /** `json`: an answer is JSON, scalars too. `text`: an answer may be text, so that `1.10` and `true` stay what they are. `verbatim`: the exit status alone says how it went, and JSON is data, whatever its words are. */
  readonly expects: 'json' | 'text' | 'verbatim'
  /** An answer has to be there. */
  readonly mustAnswer?: true
}

/** What a child answered: the outcome, and what it told on the way. */
export type Answer = { readonly outcome: Outcome; readonly events: readonly ToolEvent[] }

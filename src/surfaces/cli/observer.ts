import type { DialectName } from '../../contract/dialects/dialect.ts'
import type { ToolEvent } from '../../contract/events.ts'
import type { Interaction } from '../../contract/interaction.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { OutputMode } from '../../define/flags/injected.ts'

/** In which form an outcome was printed. */
export type PrintedForm = {
  readonly mode: OutputMode
  readonly dialect: DialectName
  /** Events stand before it, one a line. */
  readonly streamed: boolean
}

/** Sees what a command line does while it does it. */
export type Observer = {
  onEvent(event: ToolEvent): void
  /** Somebody at stdin is asked now: in words at a terminal, or by a JSON line. */
  onQuestion(question: Interaction, how: 'words' | 'line'): void
  onOutcome(outcome: Outcome, form: PrintedForm): void
}

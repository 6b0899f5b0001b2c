import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'

/** Knows which questions have been shown. */
export type ShownQuestions = {
  /** These events have been shown. */
  pass(events: readonly RunEvent[]): void
  /** Resolves when everything that came before a question has been shown, or nobody asks any more. */
  untilShown(id: string, signal: AbortSignal): Promise<void>
}

/** Keeps questions behind what came before them. */
export function watchQuestions(): ShownQuestions {
  const shown = new Set<string>()
  const waiting = new Map<string, () => void>()
  return {
    pass(events) {
      for (const event of events) {
        const id = questionOf(event)
        if (id === undefined) continue
        shown.add(id)
        waiting.get(id)?.()
      }
    },
    untilShown: (id, signal) =>
      shown.has(id) || signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.set(id, resolve)
            signal.addEventListener('abort', () => resolve(), { once: true })
          }),
  }
}

/** The id of the question that an event asks. */
export function questionOf({ type, interaction }: RunEvent): string | undefined {
  return type === 'action_required' &&
    isObject(interaction) &&
    typeof interaction['id'] === 'string'
    ? interaction['id']
    : undefined
}

/** The states of a run. `waiting_ai` is entered by a question and left by its answer. */
export const RUN_STATES = ['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled'] as const
export type RunState = (typeof RUN_STATES)[number]

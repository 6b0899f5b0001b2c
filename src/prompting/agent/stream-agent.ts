import type { AgentEvent, AgentResult } from './agent-type.ts'

type Run = (options: {
  readonly signal: AbortSignal
  readonly onEvent: (event: AgentEvent) => void
}) => Promise<AgentResult>

/** The events of a run as they come. Leaving the loop cancels the run and waits for its end. */
export async function* streamAgent(
  run: Run,
  outer: AbortSignal | undefined,
): AsyncGenerator<AgentEvent, void, undefined> {
  const left = new AbortController()
  const events: AgentEvent[] = []
  let wake: () => void = () => undefined
  const done = run({
    signal: outer ? AbortSignal.any([outer, left.signal]) : left.signal,
    onEvent(event) {
      events.push(event)
      wake()
    },
  })
  let over = false
  const end = done.finally(() => {
    over = true
    wake()
  })
  end.catch(() => undefined)
  try {
    for (;;) {
      while (events.length > 0) yield events.shift()!
      if (over) break
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    await end
  } finally {
    left.abort('nobody listens any more')
    await end.catch(() => undefined)
  }
}

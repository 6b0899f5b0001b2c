import { parseObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'

/** What the readers of a log live on; a secret that happens to be one of these words must not take it away. */
const ENVELOPE = ['v', 'type', 'ts', 'run_id', 'seq', 'attempt', 'state', 'rc'] as const

/** Redacts lines of JSON such that each stays a line of JSON, of the same place in the run. */
export function keepLines(redact: (text: string) => string): (text: string) => string {
  return (text) => {
    if (redact(text) === text) return text
    return text
      .slice(0, -1)
      .split('\n')
      .map((line) => `${redactLine(line, redact)}\n`)
      .join('')
  }
}

function redactLine(line: string, redact: (text: string) => string): string {
  const safe = redact(line)
  if (safe === line) return line
  const [before, after] = [parseObject(line), safe.includes('\n') ? undefined : parseObject(safe)]
  if (before && after && ENVELOPE.every((name) => before[name] === after[name])) return safe
  return JSON.stringify({ ...envelopeOf(before ?? {}), redacted: true })
}

function envelopeOf(event: JsonObject): JsonObject {
  return Object.fromEntries(
    ENVELOPE.flatMap((name) => (Object.hasOwn(event, name) ? [[name, event[name]]] : [])),
  )
}

import { createHash } from 'node:crypto'
import type { ToolCall } from '../engines/engine-type.ts'

const LONGEST_ID = 100

/** The key of a try: the path of its step, and which try it is where it is not the first. It is also the id of its task. */
export function keyOfTry({ step, attempt }: Pick<ToolCall, 'step' | 'attempt'>): string {
  return attempt > 1 ? `${step}#${attempt}` : step
}

/** The run of a step: the same in every attempt of its workflow, and in every process. */
export function childRunId(idempotencyKey: string): string {
  return `r-${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 10)}`
}

/** The id under which a workflow asks what one of its tools asks. */
export function forwardedId(key: string, question: string): string {
  const id = `${key}.${question}`
    .replaceAll('/', '.')
    .replaceAll('#', ':')
    .replaceAll(/[^\w.:-]/g, '-')
    .replace(/^\.+/, '')
  return id.length <= LONGEST_ID
    ? id
    : `${id.slice(0, LONGEST_ID - 13)}-${createHash('sha256').update(id).digest('hex').slice(0, 12)}`
}

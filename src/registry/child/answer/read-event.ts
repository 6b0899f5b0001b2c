import { readArtifacts } from '../../../contract/dialects/read-meta.ts'
import type { Context } from '../../../contract/context.ts'
import type { LogLevel, ToolEvent } from '../../../contract/events.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { parseObject } from '../../../contract/json.ts'
import { planIn } from '../../../contract/read-plan.ts'
import { tellArtifact } from './tell-artifact.ts'

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]
const OTHER_LEVELS: ReadonlyMap<unknown, LogLevel> = new Map([
  ['warning', 'warn'],
  ['critical', 'error'],
  ['fatal', 'error'],
  ['trace', 'debug'],
])

type Reader = (line: JsonObject) => ToolEvent | undefined

const READERS: { readonly [type: string]: Reader } = {
  progress: (line) => ({
    type: 'progress',
    message: textOf(line),
    ...percentOf(line),
    ...planIn(line),
  }),
  log: (line) => ({ type: 'log', level: levelOf(line['level']), message: textOf(line) }),
  artifact: (line) => {
    const [artifact] = readArtifacts([line])
    return artifact && { type: 'artifact', name: artifact.name, uri: artifact.uri }
  },
  item: (line) => ({ type: 'item', value: line['value'] ?? null }),
}

/** The event that a line of a foreign stream or of the run protocol tells; undefined for lines that tell a caller nothing, such as heartbeats. */
export function readEvent(line: JsonObject): ToolEvent | undefined {
  const { type } = line
  return typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type]!(line) : undefined
}

/** The event of a notification, as tools write it on stderr: `{"type":"notification","kind":"progress",…}`. */
export function readNotification(line: string): ToolEvent | undefined {
  if (!line.startsWith('{')) return undefined
  const value = parseObject(line)
  return value?.['type'] === 'notification' && value['kind'] !== 'item'
    ? readEvent({ ...value, type: value['kind'] })
    : undefined
}

/** Tells the caller an event of a child. */
export function tellEvent(event: ToolEvent, ctx: Context): void {
  if (event.type === 'progress')
    ctx.progress(event.message, event.percent, event.plan && { plan: event.plan })
  else if (event.type === 'log') ctx.log(event.message, event.level)
  else if (event.type === 'artifact') tellArtifact(event, ctx)
  else if (event.type === 'item') ctx.item(event.value)
}

function textOf({ message, msg, step }: JsonObject): string {
  const text = message ?? msg ?? step ?? ''
  return typeof text === 'string' ? text : JSON.stringify(text)
}

function percentOf({ percent, pct }: JsonObject): { readonly percent?: number } {
  const value = percent ?? pct
  return typeof value === 'number' ? { percent: value } : {}
}

function levelOf(level: unknown): LogLevel {
  const word = typeof level === 'string' ? level.toLowerCase() : level
  return LEVELS.includes(word) ? (word as LogLevel) : (OTHER_LEVELS.get(word) ?? 'info')
}

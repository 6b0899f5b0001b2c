import { isObject } from '../../contract/json.ts'

type Check = { readonly kind: string; readonly fits: (value: unknown) => boolean }

const TEXT: Check = { kind: 'a text', fits: (value) => typeof value === 'string' }
const NUMBER: Check = {
  kind: 'a finite number',
  fits: (value) => typeof value === 'number' && Number.isFinite(value),
}
const FLAG: Check = { kind: 'true or false', fits: (value) => typeof value === 'boolean' }
const LIST: Check = { kind: 'a list', fits: Array.isArray }
const OBJECT: Check = { kind: 'an object', fits: isObject }
const NEVER: Check = { kind: 'a field', fits: () => false }

/** What the fields of the protocol have to be; other fields are the tool's own. */
const FIELDS: ReadonlyMap<string, Check> = new Map([
  ...[
    'ts',
    'run_id',
    'trace_id',
    'span_id',
    'step',
    'code',
    'level',
    'hint',
    'status',
    'action',
    'reason',
    'task_id',
    'uri',
    'path',
  ].map((name) => [name, TEXT] as const),
  ...['pct', 'percent', 'eta_s'].map((name) => [name, NUMBER] as const),
  ...['retryable', 'recoverable'].map((name) => [name, FLAG] as const),
  ['artifacts', LIST],
  ['metrics', OBJECT],
  ['__proto__', NEVER],
])

/** Fields of an event that are not what the protocol says, with what they should be; undefined where all are right. */
export function findWrongFields(event: {
  readonly [field: string]: unknown
}): readonly (readonly [name: string, kind: string])[] | undefined {
  let wrong: (readonly [string, string])[] | undefined
  for (const name in event) {
    const check = FIELDS.get(name)
    if (check !== undefined && !check.fits(event[name])) (wrong ??= []).push([name, check.kind])
  }
  return wrong
}

/** Whether a value holds more levels of lists and objects than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const key in value)
    if (isDeeperThan((value as { readonly [key: string]: unknown })[key], levels - 1)) return true
  return false
}

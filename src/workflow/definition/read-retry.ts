import type { KeyPath } from '../../contract/documents/document.ts'
import { isObject } from '../../contract/json.ts'
import { shown } from './definition-reader.ts'
import type { DefinitionReader } from './definition-reader.ts'
import { MOST_RETRIES, RETRY_KEYS } from './keys.ts'
import type { Retry } from './workflow-type.ts'

/** How a step is tried again that says nothing about it. */
export const DEFAULT_RETRY = { max: 3, delay: 1, factor: 2, longest: 60 } as const satisfies Retry

const CODE = /^[A-Za-z][\w-]{0,63}$/

/** What `retry` means, written out: a number is how often. */
export function readRetry(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): Retry | undefined {
  if (!isObject(value)) {
    const max = readMax(reader, value, path)
    return max === undefined ? undefined : { ...DEFAULT_RETRY, max }
  }
  reader.knownKeys(value, Object.keys(RETRY_KEYS), path, "'retry'")
  const {
    max = DEFAULT_RETRY.max,
    delay = DEFAULT_RETRY.delay,
    factor = DEFAULT_RETRY.factor,
    longest,
    on,
  } = value
  const pause = reader.duration(delay, [...path, 'delay'], 'none') ?? DEFAULT_RETRY.delay
  const codes = on === undefined ? undefined : readCodes(reader, on, [...path, 'on'])
  const times = typeof factor === 'number' && factor >= 1 && factor <= 100 ? factor : undefined
  if (times === undefined)
    reader.find(
      [...path, 'factor'],
      `'factor' must be a number from 1 to 100; got ${shown(factor)}`,
    )
  return {
    max: readMax(reader, max, [...path, 'max']) ?? DEFAULT_RETRY.max,
    delay: pause,
    factor: times ?? DEFAULT_RETRY.factor,
    longest:
      longest === undefined
        ? Math.max(DEFAULT_RETRY.longest, pause)
        : (reader.duration(longest, [...path, 'longest'], 'none') ?? DEFAULT_RETRY.longest),
    ...(codes && { on: codes }),
  }
}

function readMax(reader: DefinitionReader, value: unknown, path: KeyPath): number | undefined {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_RETRIES)
    return Number(value)
  return reader.find(
    path,
    `'${String(path.at(-1))}' must be a whole number from 0 to ${MOST_RETRIES}; got ${shown(value)}`,
    'Write retry: 3, or retry: {max: 3, delay: 1s, factor: 2, longest: 60s}',
  )
}

function readCodes(reader: DefinitionReader, value: unknown, path: KeyPath): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  list.forEach((code, index) => {
    if (typeof code !== 'string' || !CODE.test(code))
      reader.find(
        Array.isArray(value) ? [...path, index] : path,
        `${shown(code)} is no code of an error`,
        'Write codes (TIMEOUT, DEPENDENCY) or classes (retryable, infra_error)',
      )
  })
  return list.filter((code) => typeof code === 'string')
}

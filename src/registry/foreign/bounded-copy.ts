import { isObject } from '../../contract/json.ts'

const DEEPEST = 40
const MOST_VALUES = 20_000
const MOST_CHARACTERS = 1_000_000

/** What was left out of a copy. */
export type CutShort = 'too deep' | 'too large' | undefined

/** A copy of a JSON value from outside that is surely finite and small enough to work with: circles, shared parts that multiply, depth and size all end somewhere. */
export function boundedCopy(value: unknown): { readonly copy: unknown; readonly cut: CutShort } {
  const work: Work = { values: 0, characters: 0, cut: undefined }
  return { copy: copy(work, value, 0), cut: work.cut }
}

type Work = { values: number; characters: number; cut: CutShort }

function copy(work: Work, value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    work.characters += value.length
    return value
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object') return undefined
  if (depth > DEEPEST) {
    work.cut ??= 'too deep'
    return {}
  }
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value as unknown[])
      if (hasRoom(work)) items.push(copy(work, item, depth + 1) ?? null)
    return items
  }
  if (!isObject(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return undefined
  const members: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    if (!hasRoom(work)) break
    work.characters += key.length
    const copied = copy(work, member, depth + 1)
    if (copied !== undefined) members.push([key, copied])
  }
  return Object.fromEntries(members)
}

function hasRoom(work: Work): boolean {
  work.values += 1
  if (work.values <= MOST_VALUES && work.characters <= MOST_CHARACTERS) return true
  work.cut = 'too large'
  return false
}

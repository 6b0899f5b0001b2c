/**
 * Edits one entry of a configuration file as text and verifies that nothing else changed.
 */

import { isDeepStrictEqual } from 'node:util'
import { ToolError } from '../protocol/tool-error.ts'
import type { ConfigFormat, ConfigObject, CreatedParts } from './formats/format.ts'

/** One entry of a configuration file: where it stands. */
export type ConfigSlot = {
  readonly format: ConfigFormat
  readonly container: string
  readonly name: string
}

/**
 * The entries of the container. Throws CONFIG, beginning with what is wrong, for a text that is not
 * what it should be.
 */
export function readEntries(
  text: string,
  { format, container }: Omit<ConfigSlot, 'name'>,
): ConfigObject {
  const value = readValue(text, format, container)
  return Object.hasOwn(value, container) ? (value[container] as ConfigObject) : {}
}

/** The text with an entry added, or another value for it. */
export function putEntry(text: string, slot: ConfigSlot, entry: ConfigObject): string {
  const { format, container, name } = slot
  const entries = readEntries(text, slot)
  const after = Object.hasOwn(entries, name)
    ? format.replace(text, container, name, entry)
    : format.add(text, container, name, entry)
  return verifyEdit(text, after, slot, { ...entries, [name]: entry })
}

/** The text without an entry and what was made for it. */
export function dropEntry(text: string, slot: ConfigSlot, made: CreatedParts): string {
  const { [slot.name]: _, ...others } = readEntries(text, slot)
  return verifyEdit(text, slot.format.remove(text, slot.container, slot.name, made), slot, others)
}

/** The text with one word of an entry exchanged for another. */
export function replaceWord(
  text: string,
  slot: ConfigSlot,
  entry: ConfigObject,
  word: string,
  replacement: string,
): string {
  return verifyEdit(
    text,
    text.replace(word, () => replacement),
    slot,
    { ...readEntries(text, slot), [slot.name]: entry },
  )
}

// Edits are made on text, so what they mean is read back before anything is written: the entry, and
// nothing else, has changed.
function verifyEdit(
  before: string,
  after: string | undefined,
  { format, container, name }: ConfigSlot,
  entries: ConfigObject,
): string {
  const wanted = { ...readValue(before, format, container), [container]: entries }
  const parsed = after === undefined ? undefined : format.parse(after, container)
  const value = parsed && 'value' in parsed ? parsed.value : undefined
  if (
    after !== undefined &&
    value &&
    isDeepStrictEqual(
      Object.hasOwn(value, container) ? value : { ...value, [container]: {} },
      wanted,
    )
  )
    return after
  throw new ToolError(
    'CONFIG',
    `holds '${container}' in a form that cannot be edited without changing more than '${name}'`,
  )
}

// Parsers follow brackets by calling themselves.
function parseSafely(
  text: string,
  format: ConfigFormat,
  container: string,
): ReturnType<ConfigFormat['parse']> {
  try {
    return format.parse(text, container)
  } catch (error) {
    if (error instanceof RangeError) return { problem: 'is nested too deeply' }
    throw error
  }
}

function readValue(text: string, format: ConfigFormat, container: string): ConfigObject {
  const parsed = parseSafely(text, format, container)
  if ('problem' in parsed) throw new ToolError('CONFIG', parsed.problem)
  const inside = parsed.value[container]
  if (
    Object.hasOwn(parsed.value, container) &&
    (typeof inside !== 'object' || inside === null || Array.isArray(inside))
  )
    throw new ToolError('CONFIG', `holds no table of servers at '${container}'`)
  return parsed.value
}

const FORMAT_LOADERS = {
  jsonc: async (): Promise<ConfigFormat> => (await import('./formats/jsonc.ts')).jsonc,
  toml: async (): Promise<ConfigFormat> => (await import('./formats/toml.ts')).toml,
} as const

/** A format with its parser, which is loaded only then. */
export function loadFormat(name: keyof typeof FORMAT_LOADERS): Promise<ConfigFormat> {
  return FORMAT_LOADERS[name]()
}

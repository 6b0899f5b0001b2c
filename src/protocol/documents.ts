/**
 * Files that people write: where a value is in the text, why a text could not be read, and the JSON
 * reader. `yaml.ts` is the reader for YAML.
 */

import { compact } from '../util/values.ts'
import type { DocumentPosition } from './parse-json.ts'
import { getPositionAt, parseJson } from './parse-json.ts'
import { ToolError } from './tool-error.ts'

/**
 * Reads JSON; throws CONFIG with line and column for what is none, and for keys that are there
 * twice.
 */
export async function readJsonDocument(file: string, text: string): Promise<LocatedDocument> {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const { line, column } = getPositionAt(text, parsed.position)
    throw new ToolError(
      'CONFIG',
      `${file} is not JSON (line ${line}, column ${column}): ${parsed.found}`,
      { details: { file, line, column } },
    )
  }
  if (countKeys(parsed.value) !== countWrittenKeys(text)) await rejectDuplicateKeys(file, text)
  return {
    value: parsed.value,
    async locate(path) {
      const { findNodeAtLocation, parseTree } = await import('jsonc-parser')
      const root = parseTree(text)
      const node = root && findNodeAtLocation(root, [...path])
      const whole = node?.parent?.type === 'property' ? node.parent : node
      return whole && getPositionAt(text, whole.offset)
    },
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce<number>((sum, each) => sum + countKeys(each), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}

// Every string is taken whole, so that one inside another counts for nothing.
function countWrittenKeys(text: string): number {
  let count = 0
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g))
    if (colon !== undefined) count++
  return count
}

async function rejectDuplicateKeys(file: string, text: string): Promise<void> {
  const { visit } = await import('jsonc-parser')
  const seen = new Map<string, Set<string>>()
  visit(text, {
    onObjectProperty(key, offset, _length, _line, _character, pathOf) {
      const parent = JSON.stringify(pathOf() satisfies KeyPath)
      const keys = seen.get(parent) ?? seen.set(parent, new Set()).get(parent)!
      if (!keys.has(key)) return void keys.add(key)
      const { line, column } = getPositionAt(text, offset)
      throw new ToolError(
        'CONFIG',
        `${file} has the key '${key}' twice in one object (line ${line}, column ${column})`,
        { details: { file, line, column }, suggestion: 'Remove or rename one of them' },
      )
    },
  })
}

export type { DocumentPosition } from './parse-json.ts'

/** The keys that lead to a value. */
export type KeyPath = readonly (string | number)[]

/** A file that was understood, and where its parts stand. */
export type LocatedDocument = {
  readonly value: unknown
  /**
   * The place of what a path names: of its key where it has one. Late, because it is asked only for
   * faults.
   */
  locate(path: KeyPath): Promise<DocumentPosition | undefined>
}

/** Why a text is not what it should be, and where. */
export type ReadProblem = {
  readonly reason: string
  readonly message: string
  readonly fix: string
  /** From 1. */ readonly line?: number
}

/** What was read, or why it could not be. */
export type ReadResult<T> = { readonly value: T } | { readonly problem: ReadProblem }

/** A reading that failed. */
export function failReading(
  reason: string,
  message: string,
  fix: string,
  line?: number,
): { readonly problem: ReadProblem } {
  return { problem: compact({ reason, message, fix, line }) }
}

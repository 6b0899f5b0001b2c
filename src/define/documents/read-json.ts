import { ToolError } from '../../contract/tool-error.ts'
import { parseJson } from '../schema/parse-json.ts'
import { placeAt } from '../../contract/documents/document.ts'
import type { LocatedDocument, KeyPath } from '../../contract/documents/document.ts'

/** Reads JSON; throws CONFIG with line and column for what is none, and for keys that are there twice. */
export async function readJson(file: string, text: string): Promise<LocatedDocument> {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const { line, column } = placeAt(text, parsed.position)
    throw new ToolError(
      'CONFIG',
      `${file} is not JSON (line ${line}, column ${column}): ${parsed.found}`,
      { details: { file, line, column } },
    )
  }
  if (countKeys(parsed.value) !== countWrittenKeys(text)) await refuseDuplicates(file, text)
  return {
    value: parsed.value,
    async locate(path) {
      const { findNodeAtLocation, parseTree } = await import('jsonc-parser')
      const root = parseTree(text)
      const node = root && findNodeAtLocation(root, [...path])
      const whole = node?.parent?.type === 'property' ? node.parent : node
      return whole && placeAt(text, whole.offset)
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

async function refuseDuplicates(file: string, text: string): Promise<void> {
  const { visit } = await import('jsonc-parser')
  const seen = new Map<string, Set<string>>()
  visit(text, {
    onObjectProperty(key, offset, _length, _line, _character, pathOf) {
      const parent = JSON.stringify(pathOf() satisfies KeyPath)
      const keys = seen.get(parent) ?? seen.set(parent, new Set()).get(parent)!
      if (!keys.has(key)) return void keys.add(key)
      const { line, column } = placeAt(text, offset)
      throw new ToolError(
        'CONFIG',
        `${file} has the key '${key}' twice in one object (line ${line}, column ${column})`,
        { details: { file, line, column }, suggestion: 'Remove or rename one of them' },
      )
    },
  })
}

import { ToolError } from '../../contract/tool-error.ts'
import type { ConfigDocument, KeyPath, Place } from './document.ts'

const MOST_ALIASES = 100

/** Reads YAML; throws CONFIG with line and column for what is none, for keys that are there twice and for aliases that grow without end. */
export async function readYaml(file: string, text: string): Promise<ConfigDocument> {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false, version: '1.2' })
  const placeOf = (offset: number | undefined): Place | undefined => {
    if (offset === undefined) return undefined
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const refuse = (message: string, place: Place | undefined): never => {
    throw new ToolError('CONFIG', `${file} is not usable YAML${place ? ` (line ${place.line}, column ${place.column})` : ''}: ${message}`, { details: { file, ...place } })
  }
  const [problem] = document.errors
  if (problem) refuse(problem.message, placeOf(problem.pos[0]))
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: MOST_ALIASES })
  } catch (error) {
    refuse((error as Error).message, undefined)
  }
  return {
    value,
    locate: async (path: KeyPath) => {
      let node: unknown = document.contents
      let offset: number | undefined
      for (const key of path) {
        if (isMap(node)) {
          const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
          offset = isScalar(pair?.key) ? pair.key.range?.[0] : offset
          node = pair?.value
        } else if (isSeq(node)) {
          node = node.items[Number(key)]
          offset = (node as { readonly range?: readonly number[] } | undefined)?.range?.[0] ?? offset
        }
      }
      return placeOf(offset)
    },
  }
}

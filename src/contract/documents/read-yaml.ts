import { ToolError } from '../tool-error.ts'
import { readYaml as readPlainYaml } from './yaml.ts'
import { placeAt } from './document.ts'
import type { LocatedDocument, KeyPath, Place } from './document.ts'

/** Reads YAML as plain data; throws CONFIG with the line for what is none, for keys that are there twice and for aliases that grow without end. */
export async function readYaml(file: string, text: string): Promise<LocatedDocument> {
  const reading = await readPlainYaml(text)
  if ('value' in reading) return { value: reading.value, locate: (path) => locate(text, path) }
  const { message, fix, line } = reading.problem
  throw new ToolError(
    'CONFIG',
    `${file}${line === undefined ? '' : `, line ${line}`}: ${message}`,
    { details: { file, ...(line !== undefined && { line }) }, suggestion: fix },
  )
}

async function locate(text: string, path: KeyPath): Promise<Place | undefined> {
  const { isMap, isScalar, isSeq, parseDocument } = await import('yaml')
  let node: unknown = parseDocument(text).contents
  let offset: number | undefined
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isScalar(item.key) && String(item.key.value) === String(key),
      )
      offset = isScalar(pair?.key) ? pair.key.range?.[0] : offset
      node = pair?.value
    } else if (isSeq(node)) {
      node = node.items[Number(key)]
      offset = (node as { readonly range?: readonly number[] } | undefined)?.range?.[0] ?? offset
    }
  }
  return offset === undefined ? undefined : placeAt(text, offset)
}

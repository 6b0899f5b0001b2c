import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

/** Whether a tool reads what is at a path, makes it, or changes it. */
export type Direction = 'in' | 'out' | 'inout'

const OUT_WORDS =
  /^(out|output|outfile|outdir|target|dest|destination)$|^(out|output)_|_(out|output)$/

/** Whether a field holds a path, or a list of paths. */
export function isPathField(property: JsonSchema): boolean {
  const { items } = property
  return (
    property['format'] === 'path' ||
    isObject(property['x-toolable-path']) ||
    (isObject(items) && (items['format'] === 'path' || isObject(items['x-toolable-path'])))
  )
}

/** What a path has to be: 'file', 'directory', or anything. */
export function kindOf(property: JsonSchema): unknown {
  return rulesOf(property)['kind']
}

/** The direction that a path field declares, else the one that its name tells. */
export function directionOf(field: string, property: JsonSchema): Direction {
  const declared = rulesOf(property)['direction']
  if (declared === 'in' || declared === 'out' || declared === 'inout') return declared
  return OUT_WORDS.test(wordsOf(field)) ? 'out' : 'in'
}

function rulesOf(property: JsonSchema): { readonly [rule: string]: unknown } {
  const { items } = property
  const rules =
    property['x-toolable-path'] ?? (isObject(items) ? items['x-toolable-path'] : undefined)
  return isObject(rules) ? rules : {}
}

// outputDir, output-dir and output_dir are one name.
function wordsOf(field: string): string {
  return field
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

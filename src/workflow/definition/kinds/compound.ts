import type { KeyPath } from '../../../contract/documents/document.ts'
import { isObject } from '../../../contract/json.ts'
import { shown } from '../definition-reader.ts'
import type { DefinitionReader } from '../definition-reader.ts'
import type { Draft } from '../draft.ts'
import { ITEM_NAME, MOST_CONCURRENT } from '../keys.ts'
import type { Step } from '../workflow-type.ts'
import type { Given, KindContext, KindRead, ReadKind } from './kind.ts'

const DEFAULT_CONCURRENCY = 4
const EACH_KEYS = ['items', 'as', 'do']

/** `tasks: [scan a, scan b]` */
export const readParallel: ReadKind = (given, path, { reader, steps }) => {
  const drafts = steps(given['tasks'], [...path, 'tasks'], 'tasks')
  return {
    fields: { tasks: stepsOf(drafts), max_concurrency: concurrencyOf(given, path, reader) },
    inside: [{ drafts, together: true, items: [] }],
  }
}

/** `each: {items: ..., as: file, do: [...]}` */
export const readEach: ReadKind = (given, path, context) => {
  const each = given['each']
  const at = [...path, 'each']
  if (!isObject(each))
    return {
      fields: context.reader.find(
        at,
        `'each' must be an object with 'items' and 'do'; got ${shown(each)}`,
        'Write each: {items: "${{ input.files }}", as: file, do: [...]}',
      ),
    }
  context.reader.knownKeys(each, EACH_KEYS, at, "'each'")
  const missing = ['items', 'do'].find((key) => each[key] === undefined)
  if (missing !== undefined) return { fields: context.reader.find(at, `'each' needs '${missing}'`) }
  return readItems({ ...each, max_concurrency: given['max_concurrency'] }, at, path, context)
}

/** `type: each`, `items: ...`, `as: file`, `do: [...]` */
export const readEachWrittenOut: ReadKind = (given, path, context) =>
  readItems(given, path, path, context)

function readItems(
  given: Given,
  path: KeyPath,
  outer: KeyPath,
  { reader, steps }: KindContext,
): KindRead {
  const { items, as: name = 'item' } = given
  if (!Array.isArray(items) && (typeof items !== 'string' || !items.includes('${{')))
    reader.find(
      [...path, 'items'],
      `'items' must be a list, or an expression that gives one; got ${shown(items)}`,
      'Write items: "${{ steps.scan.result }}"',
    )
  const read = reader.value(items, [...path, 'items'])
  const item = typeof name === 'string' && ITEM_NAME.test(name) ? name : undefined
  if (item === undefined)
    reader.find(
      [...path, 'as'],
      `'as' must be a name of letters, digits and _ that is not input, steps or workflow; got ${shown(name)}`,
      'Write as: file',
    )
  const drafts = steps(given['do'], [...path, 'do'], 'steps')
  return {
    fields: {
      items: read.value,
      as: item,
      do: stepsOf(drafts),
      max_concurrency: concurrencyOf(given, outer, reader),
    },
    uses: read.uses,
    inside: [{ drafts, together: false, items: item === undefined ? [] : [item, `${item}_index`] }],
  }
}

/** The steps of drafts, without those that could not be read. */
export function stepsOf(drafts: readonly Draft[]): readonly Step[] {
  return drafts.flatMap(({ step }) => step ?? [])
}

function concurrencyOf(
  { max_concurrency: most = DEFAULT_CONCURRENCY }: Given,
  path: KeyPath,
  reader: DefinitionReader,
): number | undefined {
  if (Number.isInteger(most) && Number(most) >= 1 && Number(most) <= MOST_CONCURRENT)
    return Number(most)
  return reader.find(
    [...path, 'max_concurrency'],
    `'max_concurrency' must be a whole number from 1 to ${MOST_CONCURRENT}; got ${shown(most)}`,
  )
}

/**
 * The step kind `each`: runs the same steps for every item of a list, several items concurrently.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isObject } from '../../util/values.ts'
import type { EachStep, WorkflowStep } from '../definition/model.ts'
import { describeValue } from '../definition/reader.ts'
import type { DefinitionReader, StepDraft } from '../definition/reader.ts'
import { ITEM_NAME_PATTERN, MAX_CONCURRENCY } from '../definition/schema.ts'
import { interpolate } from '../expressions.ts'
import { createGroupRecord, joinStepPath, runAll } from './flow.ts'
import type { ParsedStep, ParseStep, RawStep, StepKind, StepParseContext } from './flow.ts'

const DEFAULT_CONCURRENCY = 4
const EACH_KEYS = ['items', 'as', 'do']

/** `tasks: [scan a, scan b]` */
export const parseParallelStep: ParseStep = (given, path, { reader, steps }) => {
  const drafts = steps(given['tasks'], [...path, 'tasks'], 'tasks')
  return {
    fields: { tasks: getSteps(drafts), max_concurrency: parseConcurrency(given, path, reader) },
    inside: [{ drafts, isParallel: true, items: [] }],
  }
}

/** `each: {items: ..., as: file, do: [...]}` */
export const parseEachStep: ParseStep = (given, path, context) => {
  const each = given['each']
  const at = [...path, 'each']
  if (!isObject(each))
    return {
      fields: context.reader.addProblem(
        at,
        `'each' must be an object with 'items' and 'do'; got ${describeValue(each)}`,
        'Write each: {items: "${{ input.files }}", as: file, do: [...]}',
      ),
    }
  context.reader.checkKeys(each, EACH_KEYS, at, "'each'")
  const missing = ['items', 'do'].find((key) => each[key] === undefined)
  if (missing !== undefined)
    return { fields: context.reader.addProblem(at, `'each' needs '${missing}'`) }
  return parseItems({ ...each, max_concurrency: given['max_concurrency'] }, at, path, context)
}

/** `type: each`, `items: ...`, `as: file`, `do: [...]` */
export const parseEachLongForm: ParseStep = (given, path, context) =>
  parseItems(given, path, path, context)

function parseItems(
  given: RawStep,
  path: KeyPath,
  outer: KeyPath,
  { reader, steps }: StepParseContext,
): ParsedStep {
  const { items, as: name = 'item' } = given
  if (!Array.isArray(items) && (typeof items !== 'string' || !items.includes('${{')))
    reader.addProblem(
      [...path, 'items'],
      `'items' must be a list, or an expression that gives one; got ${describeValue(items)}`,
      'Write items: "${{ steps.scan.result }}"',
    )
  const read = reader.value(items, [...path, 'items'])
  const item = typeof name === 'string' && ITEM_NAME_PATTERN.test(name) ? name : undefined
  if (item === undefined)
    reader.addProblem(
      [...path, 'as'],
      `'as' must be a name of letters, digits and _ that is not input, steps or workflow; got ${describeValue(name)}`,
      'Write as: file',
    )
  const drafts = steps(given['do'], [...path, 'do'], 'steps')
  return {
    fields: {
      items: read.value,
      as: item,
      do: getSteps(drafts),
      max_concurrency: parseConcurrency(given, outer, reader),
    },
    uses: read.uses,
    inside: [
      { drafts, isParallel: false, items: item === undefined ? [] : [item, `${item}_index`] },
    ],
  }
}

/** The steps of drafts, without those that could not be read. */
export function getSteps(drafts: readonly StepDraft[]): readonly WorkflowStep[] {
  return drafts.flatMap(({ step }) => step ?? [])
}

function parseConcurrency(
  { max_concurrency: most = DEFAULT_CONCURRENCY }: RawStep,
  path: KeyPath,
  reader: DefinitionReader,
): number | undefined {
  if (Number.isInteger(most) && Number(most) >= 1 && Number(most) <= MAX_CONCURRENCY)
    return Number(most)
  return reader.addProblem(
    [...path, 'max_concurrency'],
    `'max_concurrency' must be a whole number from 1 to ${MAX_CONCURRENCY}; got ${describeValue(most)}`,
  )
}

const MAX_ITEMS = 100_000

/**
 * The same steps for every item of a list, several items at the same time; gives the list of what
 * they gave.
 */
export const eachStep: StepKind<EachStep> = {
  retriesByDefault: false,
  enforceTimeout: true,
  *run({ items, as, do: steps, max_concurrency, on_error, name }, at, path) {
    const list = interpolate(items, at.scope)
    if (!Array.isArray(list))
      throw new ToolError(
        'INVALID_INPUT',
        `'${name}' goes through a list, and was given ${list === null ? 'null' : typeof list}`,
      )
    if (list.length > MAX_ITEMS)
      throw new ToolError(
        'INVALID_INPUT',
        `'${name}' goes through ${MAX_ITEMS} items at most; there are ${list.length}`,
      )
    const flows = list.map((item: unknown, index) => {
      const scope = {
        ...at.scope,
        steps: { ...at.scope.steps },
        items: { ...at.scope.items, [as]: item, [`${as}_index`]: index },
      }
      return at.frame.walk.steps(steps, { ...at, path: joinStepPath(path, String(index)), scope })
    })
    const endings = yield* runAll(flows, {
      limit: max_concurrency,
      stopEarly: on_error !== 'continue',
    })
    return createGroupRecord(endings, (result) => result, on_error === 'continue')
  },
}

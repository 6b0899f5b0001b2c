/**
 * The step kind `each`: runs the same steps for every item of a list, several items concurrently.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CommonStep, WorkflowStep } from '../definition/model.ts'
import type { DefinitionReader } from '../definition/reader.ts'
import { describeValue } from '../definition/reader.ts'
import type { ConfigKeys } from '../definition/schema.ts'
import { anyShape, stepsShape, textShape } from '../definition/schema.ts'
import { EXPRESSION_OPEN, listExpressions } from '../expression-parser.ts'
import { interpolate } from '../expressions.ts'
import { joinStepPath, runGroup } from './flow.ts'
import type { ParsedStep, RawStep, StepKind, StepParseContext } from './kind.ts'
import { CONCURRENCY_SHAPE, getSteps, parseConcurrency, toPlanText } from './kind.ts'

/** Runs the same steps for every item of a list. */
export type EachStep = CommonStep & {
  readonly type: 'each'
  /** The list: an expression, or a list of texts. */
  readonly items: unknown
  /** The name of an item in expressions. */
  readonly as: string
  readonly do: readonly WorkflowStep[]
  readonly max_concurrency: number
}

declare module '../definition/model.ts' {
  interface StepTypes {
    readonly each: EachStep
  }
}

const MAX_ITEMS = 100_000
// A name that expressions can use.
const ITEM_NAME_PATTERN =
  /^(?!(?:__proto__|input|steps|workflow|true|false|null)$)[A-Za-z_][A-Za-z0-9_]{0,63}$/

const ITEM_KEYS: ConfigKeys = {
  items: anyShape(
    { type: ['string', 'array'] },
    'The list: an expression, or the items themselves',
  ),
  as: textShape('What an item is called inside; its position is <name>_index', {
    pattern: ITEM_NAME_PATTERN.source,
    default: 'item',
  }),
  do: stepsShape('What is done with each', { minItems: 1 }),
}

/** The result is the list of the results of the last step. */
export const eachStep: StepKind<EachStep> = {
  forms: [
    {
      // each: {items: ..., as: file, do: [...]}
      mark: 'each',
      keys: {
        each: {
          is: 'object',
          keys: ITEM_KEYS,
          required: ['items', 'do'],
          schema: { description: 'The list, and what is done with each of its items' },
        },
        max_concurrency: CONCURRENCY_SHAPE,
      },
      parse: parseEach,
    },
    {
      // items: ..., as: file, do: [...]
      mark: 'items',
      keys: { ...ITEM_KEYS, max_concurrency: CONCURRENCY_SHAPE },
      required: ['items', 'do'],
      parse: (given, context) => parseItems(given, given, context.reader, context),
    },
  ],
  run(step, at, path) {
    const list = interpolate(step.items, at.scope)
    if (!Array.isArray(list))
      throw new ToolError(
        'INVALID_INPUT',
        `'${step.name}' goes through a list, and was given ${list === null ? 'null' : typeof list}`,
      )
    if (list.length > MAX_ITEMS)
      throw new ToolError(
        'INVALID_INPUT',
        `'${step.name}' goes through ${MAX_ITEMS} items at most; there are ${list.length}`,
      )
    const flows = list.map((item: unknown, index) => {
      const scope = {
        ...at.scope,
        steps: { ...at.scope.steps },
        items: { ...at.scope.items, [step.as]: item, [`${step.as}_index`]: index },
      }
      const inside = { ...at, path: joinStepPath(path, String(index)), scope }
      return at.frame.runner.steps(step.do, inside)
    })
    return runGroup(flows, (result) => result, step)
  },
  label: ({ as, max_concurrency }) => `each ${as}, ${max_concurrency} at the same time`,
  plan({ items, as }, known) {
    const list = known(listExpressions(items), (scope) => interpolate(items, scope))
    return compact({ items, as, count: Array.isArray(list) ? list.length : undefined })
  },
  describe: ({ as = '', items, count }) =>
    `for each '${as}' of ${toPlanText(items)}${count === undefined ? '' : ` (${count})`}`,
  children: (step) => [{ steps: step.do, path: ['do'], key: '/*/' }],
  childKeys: ['each', 'do'],
  canRunInline: () => true,
}

function parseEach(given: RawStep, context: StepParseContext): ParsedStep | undefined {
  const each = given['each']
  const reader = context.reader.at('each')
  if (!isObject(each))
    return reader.addProblem(
      `'each' must be an object with 'items' and 'do'; got ${describeValue(each)}`,
      'Write each: {items: "${{ input.files }}", as: file, do: [...]}',
    )
  reader.checkKeys(each, Object.keys(ITEM_KEYS), "'each'")
  const missing = ['items', 'do'].find((key) => each[key] === undefined)
  if (missing !== undefined) return reader.addProblem(`'each' needs '${missing}'`)
  return parseItems(each, given, reader, context)
}

function parseItems(
  { items, as: name = 'item', do: steps }: RawStep,
  given: RawStep,
  reader: DefinitionReader,
  context: StepParseContext,
): ParsedStep {
  if (!Array.isArray(items) && (typeof items !== 'string' || !items.includes(EXPRESSION_OPEN)))
    reader.addFieldProblem(
      'items',
      `'items' must be a list, or an expression that gives one; got ${describeValue(items)}`,
      'Write items: "${{ steps.scan.result }}"',
    )
  const list = reader.at('items').value(items)
  const as = typeof name === 'string' && ITEM_NAME_PATTERN.test(name) ? name : undefined
  if (as === undefined)
    reader.addFieldProblem(
      'as',
      `'as' must be a name of letters, digits and _ that is not input, steps or workflow; got ${describeValue(name)}`,
      'Write as: file',
    )
  const drafts = context.steps(steps, reader.at('do'), 'steps')
  const max_concurrency = parseConcurrency(given, context.reader)
  return {
    fields: { items: list, as, do: getSteps(drafts), max_concurrency },
    inside: [{ drafts, isParallel: false, items: as === undefined ? [] : [as, `${as}_index`] }],
  }
}

import { ToolError } from '../../../contract/tool-error.ts'
import type { EachStep } from '../../definition/workflow-type.ts'
import { fill } from '../../expressions/fill.ts'
import { all } from '../flow.ts'
import { pathOf } from '../frame.ts'
import type { StepKind } from '../frame.ts'
import { joinParts } from './join-parts.ts'

const MOST_ITEMS = 100_000

/** The same steps for every item of a list, several items at the same time; gives the list of what they gave. */
export const each: StepKind<EachStep> = {
  retries: false,
  timed: true,
  *take({ items, as, do: steps, max_concurrency, on_error, name }, at, path) {
    const list = fill(items, at.scope)
    if (!Array.isArray(list))
      throw new ToolError(
        'INVALID_INPUT',
        `'${name}' goes through a list, and was given ${list === null ? 'null' : typeof list}`,
      )
    if (list.length > MOST_ITEMS)
      throw new ToolError(
        'INVALID_INPUT',
        `'${name}' goes through ${MOST_ITEMS} items at most; there are ${list.length}`,
      )
    const flows = list.map((item: unknown, index) => {
      const scope = {
        ...at.scope,
        steps: { ...at.scope.steps },
        items: { ...at.scope.items, [as]: item, [`${as}_index`]: index },
      }
      return at.frame.walk.steps(steps, { ...at, path: pathOf(path, String(index)), scope })
    })
    const endings = yield* all(flows, {
      limit: max_concurrency,
      stopEarly: on_error !== 'continue',
    })
    return joinParts(endings, (result) => result, on_error === 'continue')
  },
}

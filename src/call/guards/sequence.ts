import type { Guard } from '../../contract/guard.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { lookupKey } from '../../define/names.ts'
import { slice } from '../state/slice.ts'
import { guard } from './guard.ts'
import { readNames } from './tool-names.ts'

const done = slice<string>('toolable.guards.done', { by: (tool) => tool, read: readName })

/** Some tools only after others: `sequence({ deploy: ['build', 'test'] })`. What counts is a success on the same state. Throws CONFIG for tools that wait for each other. */
export function sequence(needs: { readonly [tool: string]: readonly string[] }): Guard {
  if (!isObject(needs))
    throw new ToolError(
      'CONFIG',
      "guards.sequence() takes the tools that wait with those that come first: { deploy: ['build', 'test'] }",
    )
  const firsts = new Map(
    Object.entries(needs).map(([tool, first]) => [
      lookupKey(tool),
      { first, keys: readNames(`what '${tool}' needs`, first) },
    ]),
  )
  for (const tool of firsts.keys()) refuseCircle(tool, firsts)
  const awaited = new Set([...firsts.values()].flatMap(({ keys }) => keys))
  return guard({
    name: 'sequence',
    check({ tool, state }) {
      const needed = firsts.get(lookupKey(tool))
      if (!needed) return undefined
      const isDone = new Set(state.get(done).all())
      const missing = [needed.first].flat().filter((name) => !isDone.has(lookupKey(name)))
      if (missing.length === 0) return undefined
      return {
        message: `Tool '${tool}' requires: ${missing.join(', ')}`,
        advice: `Call ${missing.join(', then ')}; then call '${tool}' again`,
        details: { requires: needed.first, missing },
      }
    },
    passed({ tool, state }) {
      const key = lookupKey(tool)
      if (awaited.has(key) && !state.get(done).all().includes(key)) state.get(done).upsert(key)
    },
  })
}

function refuseCircle(
  tool: string,
  firsts: ReadonlyMap<string, { readonly keys: readonly string[] }>,
  path: readonly string[] = [],
): void {
  if (path.includes(tool))
    throw new ToolError(
      'CONFIG',
      `these tools wait for each other, so none could ever run: ${[...path.slice(path.indexOf(tool)), tool].join(' needs ')}`,
    )
  for (const first of firsts.get(tool)?.keys ?? []) refuseCircle(first, firsts, [...path, tool])
}

function readName(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a name of a tool is a text')
  return value
}

import type { Guard, GuardedCall } from '../../contract/guard.ts'
import type { Duration } from '../../contract/duration.ts'
import { toMilliseconds } from '../../contract/duration.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { lookupKey } from '../../define/names.ts'
import { slice } from '../state/slice.ts'

/** A guard of your own. `check` gives a refusal, or nothing where the call may happen; one that throws refuses. */
export function guard(options: Guard): Guard {
  if (!options.name) throw new ToolError('CONFIG', 'a guard needs a name')
  if (typeof options.check !== 'function') throw new ToolError('CONFIG', `guard '${options.name}' needs check(): the function that decides`)
  return options
}

const done = slice<string>('toolable.guards.done', { by: (tool) => tool })
const readFiles = slice<string>('toolable.guards.read', { by: (path) => path })
const begun = slice<{ readonly guard: string; readonly at: number }>('toolable.guards.begun', { kind: 'log' })

/** Some tools only after others: `sequence({ deploy: ['build', 'test'] })`. What counts is a success on the same state. */
function sequence(needs: { readonly [tool: string]: readonly string[] }): Guard {
  const byName = new Map(Object.entries(needs).map(([tool, first]) => [lookupKey(tool), first]))
  const named = new Set([...byName.values()].flat().map(lookupKey))
  return guard({
    name: 'sequence',
    check({ tool, state }) {
      const first = byName.get(lookupKey(tool))
      if (!first) return undefined
      const missing = first.filter((name) => !state.get(done).all().includes(lookupKey(name)))
      if (missing.length === 0) return undefined
      return { message: `Tool '${tool}' requires: ${missing.join(', ')}`, advice: `Call ${missing.join(', then ')} first, then '${tool}' again`, details: { requires: first, missing } }
    },
    passed({ tool, state }) {
      if (named.has(lookupKey(tool))) state.get(done).upsert(lookupKey(tool))
    },
  })
}

/** Nothing is overwritten that was not read before, on the same state. A path that nobody has written yet is free. */
function readBeforeWrite({ read, write, path = 'path', exists }: {
  readonly read: string | readonly string[]
  readonly write: string | readonly string[]
  /** The field of the input that names what is read or written; default `path`. */
  readonly path?: string
  /** Tells whether there is something to be read; default: what the files of the state say. */
  readonly exists?: (path: string, call: GuardedCall) => boolean | Promise<boolean>
}): Guard {
  const readers = new Set([read].flat().map(lookupKey))
  const writers = new Set([write].flat().map(lookupKey))
  const isThere = exists ?? (async (name: string, { state }: GuardedCall) => (await state.filesystem.stat(name)) !== undefined)
  const pathOf = ({ tool, input }: GuardedCall): string => {
    const value = isObject(input) && Object.hasOwn(input, path) ? input[path] : undefined
    if (typeof value !== 'string') throw new ToolError('CONFIG', `guard 'read_before_write' finds no text '${path}' in the input of '${tool}'`)
    return normal(value)
  }
  return guard({
    name: 'read_before_write',
    async check(call) {
      if (!writers.has(lookupKey(call.tool))) return undefined
      const name = pathOf(call)
      if (call.state.get(readFiles).all().includes(name) || !(await isThere(name, call))) return undefined
      const [reader] = [read].flat()
      return { message: `'${name}' exists and was not read before '${call.tool}' would change it`, advice: `Call '${reader}' with ${JSON.stringify({ [path]: name })} first, then '${call.tool}' again`, details: { path: name } }
    },
    passed(call) {
      if (readers.has(lookupKey(call.tool)) || writers.has(lookupKey(call.tool))) call.state.get(readFiles).upsert(pathOf(call))
    },
  })
}

/** At most so many calls in so much time, of all tools or of those that are named. Calls that fail count. */
function rate({ calls, per, tools, name = 'rate' }: { readonly calls: number; readonly per: Duration; readonly tools?: readonly string[]; /** Two rates on one state need two names. */ readonly name?: string }): Guard {
  if (!(Number.isSafeInteger(calls) && calls > 0)) throw new ToolError('CONFIG', `calls: must be a whole number above 0, got ${calls}`)
  const milliseconds = toMilliseconds(per, 'per')
  const only = tools && new Set(tools.map(lookupKey))
  return guard({
    name,
    check({ tool, state }) {
      if (only && !only.has(lookupKey(tool))) return undefined
      const now = Date.now()
      const log = state.get(begun)
      const recent = log.where((call) => call.guard === name && call.at > now - milliseconds)
      if (recent.length >= calls) {
        const seconds = Math.ceil((recent[0]!.at + milliseconds - now) / 1000)
        return { code: 'RATE_LIMIT', message: `'${tool}' was called too often: at most ${calls} calls in ${milliseconds / 1000} seconds`, advice: `Wait ${seconds} seconds, then call it again`, details: { retry_after_s: seconds } }
      }
      // Written at once, so that calls beside this one count it, and forgotten when it no longer matters.
      log.clear((call) => call.guard === name && call.at <= now - milliseconds)
      log.append({ guard: name, at: now })
      return undefined
    },
  })
}

/** A person has to agree to each call: of the named tools, of those that `when` picks, else of those that are not read-only. */
function approval({ tools, when, prompt }: { readonly tools?: readonly string[]; readonly when?: (call: GuardedCall) => boolean | Promise<boolean>; readonly prompt?: (call: GuardedCall) => string } = {}): Guard {
  const only = tools && new Set(tools.map(lookupKey))
  return guard({
    name: 'approval',
    async check(call) {
      const { tool, input, annotations } = call
      const isWanted = only?.has(lookupKey(tool)) || (when ? await when(call) : !only && !annotations.readOnly)
      if (!isWanted) return undefined
      if (await call.ask({ kind: 'confirm', prompt: prompt?.(call) ?? `Run ${tool} with ${JSON.stringify(input)}?` })) return undefined
      return { code: 'PERMISSION', message: `'${tool}' was not run: nobody agreed to it`, advice: 'Do not call it again unless the user asks for it' }
    },
  })
}

/** The guards that come with the house. */
export const guards = { sequence, readBeforeWrite, rate, approval } as const

// `./a/../b` and `b` are the same file.
function normal(path: string): string {
  const words: string[] = []
  for (const word of path.replaceAll('\\', '/').split('/')) {
    if (word === '' || word === '.') continue
    if (word === '..' && words.length > 0 && words.at(-1) !== '..') words.pop()
    else words.push(word)
  }
  return `${path.startsWith('/') ? '/' : ''}${words.join('/')}`
}

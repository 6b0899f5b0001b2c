/**
 * `guard()` and the built-in guards. A guard decides before each call whether it may happen; what
 * it remembers lives in slices of the call's state.
 *
 * To add one, write a function that returns `guard({ name, check, passed })` and list it in
 * `guards`.
 */

import { checkOptions } from '../../define/checks.ts'
import type { Guard, GuardedCall } from '../../protocol/context.ts'
import type { Duration } from '../../protocol/limits.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import { toLookupKey } from '../call.ts'
import { slice } from '../state/state-api.ts'

/** The built-in guards. */
export const guards = { sequence, readBeforeWrite, rate, approval } as const

const GUARD_OPTIONS = ['name', 'check', 'passed'] as const satisfies readonly (keyof Guard)[]

/**
 * A guard of your own. `check` gives a refusal, or nothing where the call may happen; one that
 * throws refuses. Throws CONFIG for what could not decide.
 */
export function guard(options: Guard): Guard {
  if (typeof options?.name !== 'string' || options.name === '')
    throw new ToolError('CONFIG', 'a guard needs a name')
  checkOptions(`guard '${options.name}'`, options, GUARD_OPTIONS)
  if (typeof options.check !== 'function')
    throw new ToolError(
      'CONFIG',
      `guard '${options.name}' needs check(): the function that decides`,
    )
  if (options.passed !== undefined && typeof options.passed !== 'function')
    throw new ToolError('CONFIG', `passed of guard '${options.name}' must be a function`)
  return options
}

const completedTools = slice<string>('toolable.guards.done', {
  by: (tool) => tool,
  read: parseName,
})

/**
 * Some tools only after others: `sequence({ deploy: ['build', 'test'] })`. What counts is a success
 * on the same state. Throws CONFIG for tools that wait for each other.
 */
function sequence(needs: { readonly [tool: string]: readonly string[] }): Guard {
  if (!isObject(needs))
    throw new ToolError(
      'CONFIG',
      "guards.sequence() takes the tools that wait with those that come first: { deploy: ['build', 'test'] }",
    )
  const firsts = new Map(
    Object.entries(needs).map(([tool, first]) => [
      toLookupKey(tool),
      { first, keys: parseToolNames(`what '${tool}' needs`, first) },
    ]),
  )
  for (const tool of firsts.keys()) rejectCycle(tool, firsts)
  const awaited = new Set([...firsts.values()].flatMap(({ keys }) => keys))
  return guard({
    name: 'sequence',
    check({ tool, state }) {
      const needed = firsts.get(toLookupKey(tool))
      if (!needed) return undefined
      const isDone = new Set(state.get(completedTools).all())
      const missing = [needed.first].flat().filter((name) => !isDone.has(toLookupKey(name)))
      if (missing.length === 0) return undefined
      return {
        message: `Tool '${tool}' requires: ${missing.join(', ')}`,
        advice: `Call ${missing.join(', then ')}; then call '${tool}' again`,
        details: { requires: needed.first, missing },
      }
    },
    passed({ tool, state }) {
      const key = toLookupKey(tool)
      if (awaited.has(key) && !state.get(completedTools).all().includes(key))
        state.get(completedTools).upsert(key)
    },
  })
}

function rejectCycle(
  tool: string,
  firsts: ReadonlyMap<string, { readonly keys: readonly string[] }>,
  path: readonly string[] = [],
): void {
  if (path.includes(tool))
    throw new ToolError(
      'CONFIG',
      `these tools wait for each other, so none could ever run: ${[...path.slice(path.indexOf(tool)), tool].join(' needs ')}`,
    )
  for (const first of firsts.get(tool)?.keys ?? []) rejectCycle(first, firsts, [...path, tool])
}

function parseName(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a name of a tool is a text')
  return value
}

type SeenFile = { readonly path: string; readonly version: string }

const seenFiles = slice<SeenFile>('toolable.guards.seen', {
  by: ({ path }) => path,
  read: parseSeenFile,
})

type ReadBeforeWriteOptions = {
  /** The tools that read; the first is the one that refusals advise. */
  readonly read: string | readonly string[]
  /** The tools that change what is there. */
  readonly write: string | readonly string[]
  /**
   * The fields of the input that name what is read or written; default `path`. A field holds a text
   * or a list of texts.
   */
  readonly path?: string | readonly string[]
  /**
   * Tells what stands at a path: a text that is another one when it has changed, undefined where
   * there is nothing. Default: by the files of the state.
   */
  readonly version?: (
    path: string,
    call: GuardedCall,
  ) => string | undefined | Promise<string | undefined>
}

/**
 * Nothing is changed that was not read before as it is now, on the same state: what somebody else
 * has changed since must be read again. What the writing tools left is known, and a path where
 * nothing is, is free.
 */
function readBeforeWrite(options: ReadBeforeWriteOptions): Guard {
  checkOptions('guards.readBeforeWrite()', options, ['read', 'write', 'path', 'version'])
  const { read, write, version = getFileVersion } = options
  const isReader = createNameMatcher('read of guards.readBeforeWrite()', read)
  const isWriter = createNameMatcher('write of guards.readBeforeWrite()', write)
  const fields = [options.path ?? 'path'].flat()
  const [reader] = [read].flat()
  return guard({
    name: 'read_before_write',
    async check(call) {
      if (!isWriter(call.tool)) return undefined
      for (const path of getPaths(call, fields)) {
        const now = await version(path, call)
        if (now === undefined) continue
        const known = call.state.get(seenFiles).where((entry) => entry.path === path)[0]
        if (known?.version === now) continue
        return {
          message: known
            ? `'${path}' has changed since it was read, so '${call.tool}' may not change it`
            : `'${path}' exists and was not read, so '${call.tool}' may not change it`,
          advice: `Call '${reader}' with ${JSON.stringify({ [fields[0]!]: path })}; then call '${call.tool}' again`,
          details: { path, reason: known ? 'changed' : 'not_read' },
        }
      }
      return undefined
    },
    async passed(call) {
      if (!isReader(call.tool) && !isWriter(call.tool)) return
      for (const path of getPaths(call, fields)) {
        const now = await version(path, call)
        if (now === undefined) call.state.get(seenFiles).clear((entry) => entry.path === path)
        else call.state.get(seenFiles).upsert({ path, version: now })
      }
    },
  })
}

function getPaths({ tool, input }: GuardedCall, fields: readonly string[]): readonly string[] {
  const given = fields
    .flatMap((field) =>
      isObject(input) && Object.hasOwn(input, field) && input[field] !== undefined
        ? [input[field]]
        : [],
    )
    .flat()
  if (given.length === 0 || !given.every((path) => typeof path === 'string'))
    throw new ToolError(
      'CONFIG',
      `guard 'read_before_write' finds no path in the input of '${tool}': it looks for texts in ${fields.join(', ')}`,
      {
        suggestion: {
          action: 'abort',
          fix: `Name the fields that hold paths: guards.readBeforeWrite({ …, path: ['file'] })`,
        },
      },
    )
  return (given as readonly string[]).map(normalizePath)
}

// Only what means the same on every file system: behind a link, `a/../b` is not `b`, and a name may
// hold a backslash.
function normalizePath(path: string): string {
  const names = path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/')
  return path.startsWith('/') ? `/${names}` : names || '.'
}

function parseSeenFile(value: unknown): SeenFile {
  if (!isObject(value) || typeof value['path'] !== 'string' || typeof value['version'] !== 'string')
    throw new TypeError('what was read is { path, version }')
  return { path: value['path'], version: value['version'] }
}

/**
 * What stands at a path in the files of a state, as a text that changes with it; undefined where
 * there is nothing. A folder is what lies directly in it.
 */
async function getFileVersion(
  path: string,
  { state: { filesystem } }: GuardedCall,
): Promise<string | undefined> {
  const entry = await filesystem.stat(path)
  if (!entry) return undefined
  const { createHash } = await import('node:crypto')
  const hash = createHash('sha256')
  if (entry.kind === 'file') {
    try {
      return hash.update(await filesystem.readBytes(path)).digest('base64url')
    } catch (error) {
      // For files that are too large to read whole, the size has to do.
      if (ToolError.is(error) && error.code === 'OUTPUT_LIMIT') return `${entry.size} bytes`
      throw error
    }
  }
  for (
    let page = await filesystem.list(path);
    ;
    page = await filesystem.list(path, { offset: page.next })
  ) {
    for (const { path: name, kind, size } of page.items)
      hash.update(JSON.stringify([name, kind, size]))
    if (page.next === undefined) return hash.digest('base64url')
  }
}

type RateEntry = {
  readonly guard: string
  /** Milliseconds of the calendar, because a state may outlive its process. */ readonly at: number
}

const rateLog = slice<RateEntry>('toolable.guards.begun', { kind: 'log', read: parseRateEntry })

type RateOptions = {
  readonly calls: number
  readonly per: Duration
  /** Default: all tools, counted together. */
  readonly tools?: readonly string[]
  /**
   * Rates of the same name on the same state count together; the default is another one for each
   * limit.
   */
  readonly name?: string
}

/**
 * At most so many calls in so much time on the same state. Calls that fail count, and so do those
 * that a later guard refuses.
 */
function rate(options: RateOptions): Guard {
  checkOptions('guards.rate()', options, ['calls', 'per', 'tools', 'name'])
  const { calls, per, tools } = options
  if (!(Number.isSafeInteger(calls) && calls > 0))
    throw new ToolError('CONFIG', `calls: must be a whole number above 0, got ${String(calls)}`)
  const milliseconds = readPeriod(per)
  const isMeant =
    tools === undefined ? () => true : createNameMatcher('tools of guards.rate()', tools)
  const name = options.name ?? ['rate', `${calls}/${milliseconds}ms`, ...(tools ?? [])].join(' ')
  return guard({
    name,
    check({ tool, state }) {
      if (!isMeant(tool)) return undefined
      const now = Date.now()
      const log = state.get(rateLog)
      // A clock that was put back: what it calls the future has begun by now, and must not count
      // until then.
      if (log.all().some((call) => isInFuture(call, name, now)))
        log.reduce(
          (all) =>
            all.map((call) => (isInFuture(call, name, now) ? { guard: name, at: now } : call)),
          undefined,
        )
      const recent = log.where((call) => call.guard === name && call.at > now - milliseconds)
      if (recent.length >= calls) {
        // As many must have become old as are above the limit with one more.
        const seconds = Math.max(
          1,
          Math.ceil((recent[recent.length - calls]!.at + milliseconds - now) / 1000),
        )
        return {
          code: 'RATE_LIMIT',
          message: `'${tool}' was called too often: at most ${calls} calls in ${milliseconds / 1000} seconds`,
          advice: `Wait ${seconds} seconds; then call it again`,
          details: { limit: calls, per_s: milliseconds / 1000, retry_after_s: seconds },
        }
      }
      // Written at once, without waiting for anything in between, so that calls beside this one
      // count it.
      if (log.all().some((call) => isExpired(call, name, now, milliseconds)))
        log.clear((call) => isExpired(call, name, now, milliseconds))
      log.append({ guard: name, at: now })
      return undefined
    },
  })
}

function isInFuture(call: RateEntry, name: string, now: number): boolean {
  return call.guard === name && call.at > now
}

function isExpired(call: RateEntry, name: string, now: number, milliseconds: number): boolean {
  return call.guard === name && call.at <= now - milliseconds
}

function parseRateEntry(value: unknown): RateEntry {
  if (!isObject(value) || typeof value['guard'] !== 'string' || typeof value['at'] !== 'number')
    throw new TypeError('the begin of a call is { guard, at }')
  return { guard: value['guard'], at: value['at'] }
}

// A mistake of the author, not of the caller.
function readPeriod(per: Duration): number {
  try {
    return toMilliseconds(per)
  } catch (error) {
    throw new ToolError('CONFIG', `per: ${(error as Error).message}`, { cause: error })
  }
}

type ApprovalOptions = {
  readonly tools?: readonly string[]
  /** Picks calls besides those of `tools`. */
  readonly when?: (call: GuardedCall) => boolean | Promise<boolean>
  /**
   * What the person reads; default: the tool with its input, without what the tool's `redact` takes
   * out.
   */
  readonly prompt?: (call: GuardedCall) => string
  /** Seconds to wait for the person; default: as long as it takes. */
  readonly timeout?: number
}

/**
 * A person has to agree to each call: of the named tools, of those that `when` picks, else of all
 * that are not read-only. Where nobody is there to be asked, the call fails with ANSWER_REQUIRED. A
 * dry run asks nobody. Throws CONFIG for options that make no sense.
 */
function approval(options: ApprovalOptions = {}): Guard {
  checkOptions('guards.approval()', options, ['tools', 'when', 'prompt', 'timeout'])
  const { tools, when, prompt, timeout } = options
  for (const [option, given] of Object.entries({ when, prompt }))
    if (given !== undefined && typeof given !== 'function')
      throw new ToolError('CONFIG', `${option} of guards.approval() must be a function`)
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout > 0))
    throw new ToolError(
      'CONFIG',
      `timeout of guards.approval() must be seconds above 0, got ${String(timeout)}`,
    )
  const isNamed =
    tools === undefined ? undefined : createNameMatcher('tools of guards.approval()', tools)
  const isWanted = async (call: GuardedCall): Promise<boolean> => {
    if (!isNamed && !when) return call.annotations.readOnly !== true
    return isNamed?.(call.tool) === true || (when !== undefined && (await when(call)) !== false)
  }
  return guard({
    name: 'approval',
    async check(call) {
      if (call.dryRun || !(await isWanted(call))) return undefined
      const agreed = await call.ask(
        compact({
          kind: 'confirm',
          prompt: prompt?.(call) ?? `Run ${call.tool} with ${JSON.stringify(call.shown)}?`,
          timeout,
        }),
      )
      if (agreed === true) return undefined
      return {
        code: 'PERMISSION',
        message: `'${call.tool}' was not run: a person declined it`,
        advice: 'Do not call it again unless the user asks for it',
      }
    },
  })
}

/**
 * The names of tools in the form in which they are looked up; throws CONFIG for what is no list of
 * names.
 */
function parseToolNames(what: string, given: unknown): readonly string[] {
  const names = Array.isArray(given) ? (given as readonly unknown[]) : [given]
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && name !== ''))
    throw new ToolError(
      'CONFIG',
      `${what} must be names of tools: a text, or a list of texts that is not empty`,
    )
  return (names as readonly string[]).map(toLookupKey)
}

/** The same as a test of one name. */
function createNameMatcher(what: string, given: unknown): (name: string) => boolean {
  const names = new Set(parseToolNames(what, given))
  return (name) => names.has(toLookupKey(name))
}

/**
 * Opens the sources of a registry, loads them in parallel, reloads the ones that change, and closes
 * everything.
 */

import { getUserFolder } from '../core/cache.ts'
import { createRules } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import { host } from '../core/host.ts'
import type { Context } from '../protocol/context.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { Catalog } from './catalog.ts'
import { buildCatalog } from './catalog.ts'
import type {
  ChildCall,
  ChildServices,
  WarmCall,
  WarmCaller,
  WarmSettings,
} from './child/child-call.ts'
import { WarmUnavailable } from './child/child-call.ts'
import { openSources } from './source-table.ts'
import type { LoadContext, LoadedSource, Problem, ToolSource } from './source.ts'
import { collectOwnVariables } from './source.ts'
import type { SourceRegistryOptions, SourceState } from './types.ts'
import type { WarmPool } from './warm/pool.ts'

/** The sources of a registry and what they found last. */
type SourceLoader = {
  merged(): Catalog
  states(): readonly SourceState[]
  /** Loads what definitions need; undefined where that is done. */
  prepare(): Promise<void> | undefined
  /** Looks again into every source. */
  reload(fresh: boolean): Promise<void>
  close(): Promise<void>
}

/**
 * Opens all sources and loads them at the same time: a slow one delays nobody but the registry
 * itself, and with `patience` not even that for longer than so many milliseconds.
 */
export async function loadSources(
  options: SourceRegistryOptions,
  onChange: () => void,
  more: readonly ToolSource[] = [],
  patience?: number,
): Promise<SourceLoader> {
  const rules = createRules(options)
  const stop = new AbortController()
  const services = openServices(options)
  const sources = await openSources(
    options,
    compact({ services, answer: options.answer, sample: options.sample }),
    more,
  )
  const context = await buildLoadContext(options, stop.signal)
  const found = new Map<ToolSource, LoadedSource>()
  let merged = buildCatalog([])
  let isPrepared = false
  let preparing: Promise<void> | undefined

  const turns = new Map(
    sources.map((source) => [
      source,
      serialQueue(async (fresh) => {
        if (stop.signal.aborted) return
        const loaded = await loadOne(source, fresh)
        if (!stop.signal.aborted) found.set(source, loaded)
      }),
    ]),
  )
  const underWay = new Map<ToolSource, number>()
  const load = async (source: ToolSource, fresh: boolean): Promise<void> => {
    underWay.set(source, (underWay.get(source) ?? 0) + 1)
    await turns.get(source)!.run(fresh)
    underWay.set(source, underWay.get(source)! - 1)
  }
  const loadOne = async (source: ToolSource, fresh: boolean): Promise<LoadedSource> => {
    try {
      return await source.load({ ...context, fresh })
    } catch (error) {
      return { tools: [], problems: [toLoadProblem(source, error)] }
    }
  }
  // After close the last catalogue stays, so that late calls learn that the registry is closed.
  const join = (): boolean => {
    if (stop.signal.aborted) return false
    merged = buildCatalog(
      sources.map((source) => found.get(source) ?? { tools: [] }),
      rules,
    )
    return true
  }
  const loadEach = async (fresh: boolean): Promise<void> => {
    const loads = sources.map((source) => load(source, fresh))
    const late =
      patience === undefined || options.strict
        ? (await Promise.all(loads), [])
        : await findPendingLoads(loads, patience)
    join()
    for (const load of late) {
      void load.then(() => {
        if (join()) onChange()
      })
    }
  }
  const prepare = async (): Promise<void> => {
    await Promise.all(sources.map(async (source) => source.prepare?.()))
    isPrepared = true
  }
  const close = async (): Promise<void> => {
    stop.abort()
    const end = (): readonly Promise<void>[] => sources.map(async (source) => source.close?.())
    await Promise.allSettled([...end(), services.close()])
    // A look that was under way may have opened something meanwhile.
    await Promise.all([...turns.values()].map((turn) => turn.whenIdle()))
    await Promise.allSettled(end())
  }

  // Before the first look, because what changes during it is told once.
  for (const source of sources) {
    source.onChange?.(
      throttle(async () => {
        await load(source, false)
        if (join()) onChange()
      }),
    )
  }
  await loadEach(false)
  if (options.strict) {
    const [first, ...others] = merged.problems
    if (first) {
      await close()
      throw new ToolError(
        'CONFIG',
        `${first.message}${others.length > 0 ? ` (and ${others.length} more)` : ''}`,
        { details: { problems: merged.problems.slice(0, 50) }, suggestion: first.fix },
      )
    }
  }
  return {
    merged: () => merged,
    prepare: () => (isPrepared ? undefined : (preparing ??= prepare())),
    states: () =>
      sources.map((source) => {
        const { tools, problems } = found.get(source) ?? { tools: [] }
        return compact({
          name: source.name,
          kind: source.kind,
          location: source.location,
          tools: tools.length,
          problems: problems?.length ?? 0,
          loading: (underWay.get(source) ?? 0) > 0 ? (true as const) : undefined,
        })
      }),
    async reload(fresh) {
      if (stop.signal.aborted) throw new ToolError('PRECONDITION', 'the registry is closed')
      // A program may have changed in files that nobody looks at.
      services.refresh()
      await loadEach(fresh)
      if (!stop.signal.aborted) onChange()
    },
    close,
  }
}

// Those that have not come within so many milliseconds.
async function findPendingLoads(
  loads: readonly Promise<void>[],
  patience: number,
): Promise<readonly Promise<void>[]> {
  const come = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)))
  await Promise.race([enough, Promise.all(loads.map((load) => load.then(() => come.add(load))))])
  clearTimeout(timer)
  return loads.filter((load) => !come.has(load))
}

function toLoadProblem(source: ToolSource, thrown: unknown): Problem {
  return {
    source: source.name,
    location: source.location,
    reason: 'failed',
    message: `${source.kind} '${source.name}' could not be read: ${toToolError(thrown).message}`,
    fix: 'Look at the message; everything else works without it',
    severity: 'error',
  }
}

/** What the sources of a registry work with, by its options. */
async function buildLoadContext(
  { cwd = host.cwd(), env = host.env(), cache = true, probe = {} }: SourceRegistryOptions,
  signal: AbortSignal,
): Promise<LoadContext> {
  return {
    cwd,
    env,
    fresh: false,
    cacheFolder:
      cache === false
        ? undefined
        : typeof cache === 'string'
          ? cache
          : await getUserFolder('cache', env),
    probe: compact({ unsandboxed: probe.unsandboxed ?? false, concurrency: probe.concurrency }),
    signal,
  }
}

/** What the sources of one registry share; `close` ends it and waits for what still runs. */
type RegistryServices = ChildServices & { refresh(): void; close(): Promise<void> }

/** Opens what the sources share. Nothing is loaded or started before it is needed. */
function openServices({ env = host.env() }: SourceRegistryOptions): RegistryServices {
  const running = new Set<Promise<unknown>>()
  const warm = createWarmPrograms({ env })
  return {
    running,
    warm,
    refresh: () => warm.refresh(),
    async close() {
      await warm.close()
      await Promise.allSettled([...running])
    },
  }
}

/** The programs that the calls of a registry keep running. */
type WarmPrograms = WarmCaller & {
  /** From here on new processes answer: what a program was made of may have changed. */
  refresh(): void
  close(): Promise<void>
}

/** Calls tools warm. Everything it needs is loaded by the first call. */
function createWarmPrograms(
  settings: Partial<WarmSettings> & Pick<WarmSettings, 'env'>,
): WarmPrograms {
  let pool: WarmPool | undefined
  let opening: Promise<WarmPool> | undefined
  const open = (): Promise<WarmPool> =>
    (opening ??= import('./warm/pool.ts').then(
      ({ createWarmPool }) => (pool = createWarmPool(settings)),
    ))
  return {
    async call(call, input, ctx, looked) {
      if (call.tool === undefined) return undefined
      try {
        return await (pool ?? (await open())).call(
          toWarmCall(call, call.tool, input, ctx),
          ctx,
          looked,
        )
      } catch (error) {
        if (error instanceof WarmUnavailable) return undefined
        throw error
      }
    },
    refresh: () => pool?.refresh(),
    close: async () => (await opening)?.close(),
  }
}

function toWarmCall(call: ChildCall, tool: string, input: unknown, ctx: Context): WarmCall {
  const { command, cwd = ctx.cwd, destructive = false } = call
  return {
    command,
    cwd,
    tool,
    input,
    host: ctx.env,
    env: getCallVariables(call, ctx),
    confirmed: destructive,
  }
}

const variablesByCall = new WeakMap<ChildCall, WarmCall['env'] & object>()

// What does not depend on the caller is made once.
function getCallVariables(call: ChildCall, ctx: Context): WarmCall['env'] & object {
  if (call.requireEnv) return collectOwnVariables(call, ctx)
  let variables = variablesByCall.get(call)
  if (!variables) variablesByCall.set(call, (variables = collectOwnVariables(call, ctx)))
  return variables
}

/** Work that is never done twice at the same time. */
type SerialQueue = {
  /**
   * Does it once more: after what is under way, and once for all who ask meanwhile; `fresh` where
   * one of them wants that.
   */
  run(fresh: boolean): Promise<void>
  /** When nothing is under way any more. */
  whenIdle(): Promise<void>
}

/**
 * Does work in turn, so that what was begun later also ends later, and a thousand wishes at once
 * are one. `work` never throws.
 */
function serialQueue(work: (fresh: boolean) => Promise<void>): SerialQueue {
  let last = Promise.resolve()
  let next: { fresh: boolean; readonly done: Promise<void> } | undefined
  return {
    run(fresh) {
      if (next) {
        next.fresh ||= fresh
        return next.done
      }
      const begin = (): Promise<void> => {
        next = undefined
        return work(turn.fresh)
      }
      const turn = { fresh, done: last.then(begin) }
      next = turn
      return (last = turn.done)
    },
    whenIdle: () => last,
  }
}

const THROTTLE_MS = 500

/**
 * Does the work at once when it is called, and not again before it is done and a moment has passed:
 * a source that tells of a change whenever it is looked at keeps nobody busy.
 */
function throttle(work: () => Promise<void>): () => void {
  let isResting = false
  let isWanted = false
  const start = async (): Promise<void> => {
    isResting = true
    isWanted = false
    await work()
    setTimeout(() => {
      isResting = false
      if (isWanted) void start()
    }, THROTTLE_MS).unref()
  }
  return () => {
    isWanted = true
    if (!isResting) void start()
  }
}

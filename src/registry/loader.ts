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
import { waitAtMost } from '../util/async.ts'
import { compact } from '../util/values.ts'
import type { Catalog } from './catalog.ts'
import { buildCatalog } from './catalog.ts'
import type { ChildCall, ChildServices, WarmCall } from './child/child-call.ts'
import { WarmUnavailable } from './child/child-call.ts'
import { openSources } from './source-table.ts'
import type { LoadContext, LoadedSource, ToolSource } from './source.ts'
import { collectOwnVariables, toBrokenSource } from './source.ts'
import type { SourceRegistryOptions, SourceState } from './types.ts'
import type { WarmPool } from './warm/pool.ts'

/** The sources of a registry and what they found last. */
type SourceLoader = {
  merged(): Catalog
  states(): readonly SourceState[]
  /** Loads the code that definitions need. Undefined when that is done. */
  prepare(): Promise<void> | undefined
  /** Loads every source again. */
  reload(fresh: boolean): Promise<void>
  close(): Promise<void>
}

/**
 * Opens all sources and loads them in parallel. A source that is not loaded after `patienceMs` is
 * added when it is; without `patienceMs` and in strict registries all sources are awaited.
 */
export async function loadSources(
  options: SourceRegistryOptions,
  onChange: () => void,
  more: readonly ToolSource[] = [],
  patienceMs?: number,
): Promise<SourceLoader> {
  const { answer, sample, strict } = options
  const rules = createRules(options)
  const stop = new AbortController()
  const isClosed = (): boolean => stop.signal.aborted
  const services = openServices(options)
  const sources = await openSources(options, compact({ services, answer, sample }), more)
  const context = await buildLoadContext(options, stop.signal)
  const slots = sources.map((source) => new SourceSlot(source, context))
  let merged = buildCatalog([])
  let isPrepared = false
  let preparing: Promise<void> | undefined

  const merge = (): void => {
    merged = buildCatalog(
      slots.map(({ loaded }) => loaded),
      rules,
    )
  }
  // After close the last catalogue stays, so that late calls learn that the registry is closed.
  const mergeAndAnnounce = (): void => {
    if (isClosed()) return
    merge()
    onChange()
  }
  const loadAll = async (fresh: boolean): Promise<void> => {
    const loads = slots.map((slot) => slot.load(fresh))
    if (strict || patienceMs === undefined) return void (await Promise.all(loads))
    const late = await findPending(loads, patienceMs)
    for (const load of late) void load.then(mergeAndAnnounce)
  }
  const prepare = async (): Promise<void> => {
    await Promise.all(sources.map(async (source) => source.prepare?.()))
    isPrepared = true
  }
  const close = async (): Promise<void> => {
    stop.abort()
    const closeSources = () => sources.map(async (source) => source.close?.())
    await Promise.allSettled([...closeSources(), services.close()])
    // A load that was running may have opened something meanwhile.
    await Promise.all(slots.map((slot) => slot.whenIdle()))
    await Promise.allSettled(closeSources())
  }

  // Before the first load, because a change during it is reported once.
  for (const slot of slots)
    slot.source.onChange?.(throttle(() => slot.load(false).then(mergeAndAnnounce)))
  await loadAll(false)
  merge()
  const [problem, ...others] = strict ? merged.problems : []
  if (problem) {
    await close()
    throw new ToolError(
      'CONFIG',
      `${problem.message}${others.length > 0 ? ` (and ${others.length} more)` : ''}`,
      { details: { problems: merged.problems.slice(0, 50) }, suggestion: problem.fix },
    )
  }
  return {
    merged: () => merged,
    prepare: () => (isPrepared ? undefined : (preparing ??= prepare())),
    states: () => slots.map((slot) => slot.describe()),
    async reload(fresh) {
      if (isClosed()) throw new ToolError('PRECONDITION', 'the registry is closed')
      // A program may have changed in files that are not watched.
      services.refresh()
      await loadAll(fresh)
      mergeAndAnnounce()
    },
    close,
  }
}

type LoadTurn = { fresh: boolean; readonly done: Promise<void> }

/** A source and what it found last. Its loads never overlap. */
class SourceSlot {
  readonly source: ToolSource
  loaded: LoadedSource = { tools: [] }
  readonly #context: LoadContext
  #last = Promise.resolve()
  #next: LoadTurn | undefined
  #pending = 0

  constructor(source: ToolSource, context: LoadContext) {
    this.source = source
    this.#context = context
  }

  /**
   * Loads the source after the load that is running. All requests that come meanwhile share one
   * load, which is fresh if one of them asks for that. Never throws.
   */
  load(fresh: boolean): Promise<void> {
    if (this.#next) {
      this.#next.fresh ||= fresh
      return this.#next.done
    }
    const turn: LoadTurn = { fresh, done: this.#last.then(() => this.#loadNow(turn)) }
    this.#pending += 1
    this.#next = turn
    return (this.#last = turn.done)
  }

  whenIdle(): Promise<void> {
    return this.#last
  }

  describe(): SourceState {
    const { name, kind, location } = this.source
    const { tools, problems = [] } = this.loaded
    const loading = this.#pending > 0 || undefined
    return compact({
      name,
      kind,
      location,
      tools: tools.length,
      problems: problems.length,
      loading,
    })
  }

  async #loadNow({ fresh }: LoadTurn): Promise<void> {
    this.#next = undefined
    const { signal } = this.#context
    if (!signal.aborted) {
      const loaded = await this.#tryLoad(fresh)
      // What fails because the registry was closed says nothing about the source.
      if (!signal.aborted) this.loaded = loaded
    }
    this.#pending -= 1
  }

  async #tryLoad(fresh: boolean): Promise<LoadedSource> {
    const { name, kind, location } = this.source
    try {
      return await this.source.load({ ...this.#context, fresh })
    } catch (error) {
      const message = `${kind} '${name}' could not be read: ${toToolError(error).message}`
      const fix = 'Look at the message; everything else works without it'
      return toBrokenSource(name, location, 'failed', message, fix)
    }
  }
}

/** The loads that are not done after this time. */
async function findPending(
  loads: readonly Promise<void>[],
  milliseconds: number,
): Promise<readonly Promise<void>[]> {
  const pending = new Set(loads)
  const all = Promise.all(loads.map((load) => load.then(() => pending.delete(load))))
  await waitAtMost(milliseconds, all)
  return [...pending]
}

async function buildLoadContext(
  { cwd = host.cwd(), env = host.env(), cache = true, probe = {} }: SourceRegistryOptions,
  signal: AbortSignal,
): Promise<LoadContext> {
  const { unsandboxed = false, concurrency } = probe
  const cacheFolder = cache === true ? await getUserFolder('cache', env) : cache || undefined
  return {
    cwd,
    env,
    fresh: false,
    cacheFolder,
    probe: compact({ unsandboxed, concurrency }),
    signal,
  }
}

/** What the sources of one registry share. `close` waits for the calls that still run. */
type RegistryServices = ChildServices & {
  /** From now on new processes answer: the files of a program may have changed. */
  refresh(): void
  close(): Promise<void>
}

/** Creates what the sources share. The first warm call loads the pool of warm programs. */
function openServices({ env = host.env() }: SourceRegistryOptions): RegistryServices {
  const running = new Set<Promise<unknown>>()
  let pool: WarmPool | undefined
  let opening: Promise<WarmPool> | undefined
  const openPool = async (): Promise<WarmPool> => {
    const { createWarmPool } = await import('./warm/pool.ts')
    return (pool = createWarmPool({ env }))
  }
  return {
    running,
    warm: {
      async call(call, input, ctx, looked) {
        if (call.tool === undefined) return undefined
        const warmCall = toWarmCall(call, call.tool, input, ctx)
        try {
          return await (pool ?? (await (opening ??= openPool()))).call(warmCall, ctx, looked)
        } catch (error) {
          if (error instanceof WarmUnavailable) return undefined
          throw error
        }
      },
    },
    refresh: () => pool?.refresh(),
    async close() {
      await (await opening)?.close()
      await Promise.allSettled([...running])
    },
  }
}

function toWarmCall(call: ChildCall, tool: string, input: unknown, ctx: Context): WarmCall {
  const { command, cwd = ctx.cwd, destructive = false } = call
  const env = getCallVariables(call, ctx)
  return { command, cwd, tool, input, host: ctx.env, env, confirmed: destructive }
}

const variablesByCall = new WeakMap<ChildCall, WarmCall['env'] & object>()

// Variables that do not depend on the caller are collected once.
function getCallVariables(call: ChildCall, ctx: Context): WarmCall['env'] & object {
  if (call.requireEnv) return collectOwnVariables(call, ctx)
  let variables = variablesByCall.get(call)
  if (!variables) variablesByCall.set(call, (variables = collectOwnVariables(call, ctx)))
  return variables
}

const THROTTLE_MS = 500

/**
 * Runs the work on the first call, and again at most once per half second after it is done: a source
 * that reports a change whenever it is loaded must not keep the registry busy.
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

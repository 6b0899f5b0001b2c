import { ToolError } from '../contract/tool-error.ts'
import { toToolError } from '../call/failure.ts'
import { readRules } from '../call/rules.ts'
import type { Loaded, Problem } from './found.ts'
import { loadContext } from './load-context.ts'
import { merge } from './merge.ts'
import type { Merged } from './merge.ts'
import { calmly } from './calmly.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { openSources } from './open-sources.ts'
import type { RegistryOptions, SourceState } from './registry-type.ts'
import type { Source } from './source.ts'
import { openServices } from './services.ts'

/** The sources of a registry and what they found last. */
export type Loading = {
  merged(): Merged
  states(): readonly SourceState[]
  /** Loads what definitions need; undefined where that is done. */
  prepare(): Promise<void> | undefined
  /** Looks again into every source. */
  reload(fresh: boolean): Promise<void>
  close(): Promise<void>
}

/** Opens all sources and loads them at the same time: a slow one delays nobody but the registry itself, and with `patience` not even that for longer than so many milliseconds. */
export async function loadAll(
  options: RegistryOptions,
  onChange: () => void,
  more: readonly Source[] = [],
  patience?: number,
): Promise<Loading> {
  const rules = readRules(options)
  const stop = new AbortController()
  const services = openServices(options)
  const sources = await openSources(options, services, more)
  const context = await loadContext(options, stop.signal)
  const found = new Map<Source, Loaded>()
  let merged = merge([])
  let isPrepared = false
  let preparing: Promise<void> | undefined

  const turns = new Map(
    sources.map((source) => [
      source,
      oneAtATime(async (fresh) => {
        if (!stop.signal.aborted) found.set(source, await loadOne(source, fresh))
      }),
    ]),
  )
  const underWay = new Map<Source, number>()
  const load = async (source: Source, fresh: boolean): Promise<void> => {
    underWay.set(source, (underWay.get(source) ?? 0) + 1)
    await turns.get(source)!.again(fresh)
    underWay.set(source, underWay.get(source)! - 1)
  }
  const loadOne = async (source: Source, fresh: boolean): Promise<Loaded> => {
    try {
      return await source.load({ ...context, fresh })
    } catch (error) {
      return { tools: [], problems: [failed(source, error)] }
    }
  }
  const join = (): void => {
    merged = merge(
      sources.map((source) => found.get(source) ?? { tools: [] }),
      rules,
    )
  }
  const loadEach = async (fresh: boolean): Promise<void> => {
    const loads = sources.map((source) => load(source, fresh))
    const late =
      patience === undefined || options.strict
        ? (await Promise.all(loads), [])
        : await stillLate(loads, patience)
    join()
    for (const load of late) {
      void load.then(() => {
        if (stop.signal.aborted) return
        join()
        onChange()
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
    await Promise.all([...turns.values()].map((turn) => turn.rest()))
    await Promise.allSettled(end())
  }

  // Before the first look, because what changes during it is told once.
  for (const source of sources) {
    source.onChange?.(
      calmly(async () => {
        await load(source, false)
        if (stop.signal.aborted) return
        join()
        onChange()
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
        return {
          name: source.name,
          kind: source.kind,
          location: source.location,
          tools: tools.length,
          problems: problems?.length ?? 0,
          ...((underWay.get(source) ?? 0) > 0 && { loading: true as const }),
        }
      }),
    async reload(fresh) {
      if (stop.signal.aborted) throw new ToolError('PRECONDITION', 'the registry is closed')
      // A program may have changed in files that nobody looks at.
      services.refresh()
      await loadEach(fresh)
      onChange()
    },
    close,
  }
}

// Those that have not come within so many milliseconds.
async function stillLate(
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

function failed(source: Source, thrown: unknown): Problem {
  return {
    source: source.name,
    location: source.location,
    reason: 'failed',
    message: `${source.kind} '${source.name}' could not be read: ${toToolError(thrown).message}`,
    fix: 'Look at the message; everything else works without it',
    severity: 'error',
  }
}

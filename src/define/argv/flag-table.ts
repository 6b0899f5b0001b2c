import type { FlagSpec, InjectedFlag } from '../flags/flag-spec.ts'
import { flagName } from '../flags/flag-name.ts'

/** One flag as the scanner sees it: a tool's own field, or one that we inject. */
export type KnownFlag = {
  readonly long: string
  readonly short?: string
  /** How many words follow. */
  readonly takes: 0 | 1 | 2
  /** `--no-x` is allowed. */
  readonly negatable: boolean
  /** `--x.key value` is allowed. */
  readonly dotted: boolean
  readonly what: string
  readonly spec?: FlagSpec
  readonly injected?: InjectedFlag
}

export type FlagTable = {
  long(name: string): KnownFlag | undefined
  short(letter: string): KnownFlag | undefined
  readonly names: readonly string[]
}

/** A table of flags; what stands first wins where names meet. It is made when the first flag is looked for, because input as JSON has none. */
export function flagTable(
  specs: readonly FlagSpec[],
  ...injected: readonly (readonly InjectedFlag[])[]
): FlagTable {
  let made: ReturnType<typeof makeTable> | undefined
  const table = (): ReturnType<typeof makeTable> => (made ??= makeTable(specs, injected.flat()))
  return {
    // People and models write max_depth and maxDepth too.
    long: (name) => table().byLong.get(name) ?? table().byLong.get(flagName(name)),
    short: (letter) => table().byShort.get(letter),
    get names() {
      return table()
        .known.filter(({ injected: flag, spec }) => !(flag?.hidden || spec?.hidden))
        .map(({ long }) => `--${long}`)
    },
  }
}

function makeTable(
  specs: readonly FlagSpec[],
  injected: readonly InjectedFlag[],
): {
  readonly known: readonly KnownFlag[]
  readonly byLong: Map<string, KnownFlag>
  readonly byShort: Map<string, KnownFlag>
} {
  const byLong = new Map<string, KnownFlag>()
  const byShort = new Map<string, KnownFlag>()
  const known = [
    ...specs.filter((spec) => spec.fedBy === undefined).map(fromSpec),
    ...injected.map(fromInjected),
  ]
  for (const flag of known) {
    if (!byLong.has(flag.long)) byLong.set(flag.long, flag)
    if (flag.short !== undefined && !byShort.has(flag.short)) byShort.set(flag.short, flag)
  }
  return { known, byLong, byShort }
}

function fromSpec(spec: FlagSpec): KnownFlag {
  return {
    long: spec.long,
    ...(spec.short !== undefined && { short: spec.short }),
    takes: spec.kind === 'boolean' ? 0 : 1,
    negatable: spec.kind === 'boolean',
    dotted: spec.kind === 'object',
    what: spec.valueName,
    spec,
  }
}

function fromInjected(injected: InjectedFlag): KnownFlag {
  const words =
    injected.kind === 'boolean' || injected.kind === 'count'
      ? 0
      : (injected.valueName ?? '').split(' ').length
  return {
    long: injected.long,
    ...(injected.short !== undefined && { short: injected.short }),
    takes: words as 0 | 1 | 2,
    negatable: false,
    dotted: false,
    what: injected.valueName ?? 'value',
    injected,
  }
}

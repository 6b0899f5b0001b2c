import type { Filesystem } from '../../contract/filesystem.ts'
import type { Slice, Snapshotable, State, StateJson, Transactional } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Items } from './items.ts'
import type { Singletons } from './singletons.ts'
import type { SliceMap } from './slice-map.ts'
import type { Change, Holder } from './slices.ts'
import type { Turns } from './turns.ts'

/** What a call works on: a whole state, or the transaction of the call that it is part of. */
export type Base = {
  readonly id: string
  /** Nothing can be given to a call that has ended. */
  readonly isOver: boolean
  /** Who commits: a commit may have to wait for disks and listeners. */
  readonly committing: Turns
  /** Who changes what can only be changed in its place. */
  readonly inPlace: Turns
  readonly slices: SliceMap
  /** Takes the changes of a call that has succeeded; those of one that ran beside others are made again on what they left. */
  absorb(next: SliceMap, changes: readonly Change[]): void
  /** Log slices: written at once, never taken back. */
  readonly logs: Holder
  /** Throws CONFIG where a key is that of a slice of the other kind. */
  checkKind(slice: Slice<unknown>): void
  toJSON(slices: SliceMap): StateJson
  readonly singletons: Singletons
  /** Makes sure that the call of this base can put back something that has no views; nothing to do for a whole state. */
  keep(thing: Snapshotable): Promise<void>
  /** Where parts of this base begin: the thing itself, or the changes that the outer call holds of it. */
  transactional<View>(thing: Transactional<View>): Pick<Transactional<View>, 'begin'>
  readonly filesystem: Transactional<Filesystem> | undefined
}

/** Where a state that users see keeps what stands behind it. A property, because a map of weak keys would cost a call more than its handler. */
export const behind: unique symbol = Symbol('toolable.state')

/** What stands behind a state; throws CONFIG for what is none of ours. */
export function baseOf(state: State): Base {
  const base = (state as (State & { readonly [behind]?: Base }) | null)?.[behind]
  if (!base) throw new ToolError('CONFIG', 'state must be what createState() or ctx.state gives')
  return base
}

/** The changed slices of a call, put on those that are there now; throws CONFLICT where that would undo what another call did meanwhile. */
export function merge(
  before: SliceMap,
  now: SliceMap,
  next: SliceMap,
  changes: readonly Change[],
): SliceMap {
  if (now === before) return next
  let merged = now
  for (const key of new Set(changes.map((change) => change.key))) {
    const items =
      now.get(key) === before.get(key)
        ? next.get(key)
        : replay(
            key,
            now.get(key) ?? Items.none,
            changes.filter((change) => change.key === key),
          )
    merged = merged.with(key, items)
  }
  return merged
}

function replay(key: string, items: Items<unknown>, changes: readonly Change[]): Items<unknown> {
  if (changes.some(({ replaces }) => replaces)) {
    throw new ToolError(
      'CONFLICT',
      `another call changed '${key}' of the state while this one worked on it`,
      {
        retryable: true,
        suggestion: {
          action: 'retry_with_modified_input',
          fix: 'Call it again: it will see the change',
        },
      },
    )
  }
  return changes.reduce((now, change) => change.apply(now), items)
}

/**
 * Public functions for state besides `createState`: slices, members and state files. Only programs
 * that use them load this file.
 */

import type { Member, Slice, State } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { StateFile, StateFileOptions } from './open-state-file.ts'

/**
 * A typed place in the state. Default kind: `state`, which rolls back when a call fails. Throws
 * CONFIG for another key or kind.
 */
export function slice<Item>(
  key: string,
  {
    kind = 'state',
    by,
    read,
  }: {
    readonly kind?: 'state' | 'log'
    /** What makes an item the same as another, for `upsert`. */ readonly by?: (
      item: Item,
    ) => unknown
    /** Checks an item that came from JSON. */ readonly read?: (value: unknown) => Item
  } = {},
): Slice<Item> {
  if (typeof key !== 'string' || key === '')
    throw new ToolError(
      'CONFIG',
      `the key of a slice must be a text that is not empty, got ${String(key)}`,
    )
  // What is neither would roll back, or not, by accident.
  if (kind !== 'state' && kind !== 'log')
    throw new ToolError(
      'CONFIG',
      `slice '${key}' must be of the kind 'state' or 'log', got ${String(kind)}`,
    )
  return compact({ key, kind, by, read })
}

/**
 * Something that calls share: one for the state (`singleton`, the default), or one for each call.
 * What has `snapshot` and `restore`, or `begin`, rolls back when a call fails.
 */
export function member<Value>(
  key: string,
  options: { readonly scope?: 'singleton' | 'call' } & Pick<Member<Value>, 'open' | 'close'>,
): Member<Value> {
  if (typeof options.open !== 'function')
    throw new ToolError('CONFIG', `member '${key}' needs open(): the function that makes it`)
  return { ...options, key, scope: options.scope ?? 'singleton' }
}

/**
 * Lends out the state that a file holds, an empty one where there is none, and writes it back when
 * `work` succeeds and something changed.
 * Whoever else opens the file in this way waits, in any process. When `work` throws, or the process
 * is killed, the file is as it was, or as last saved.
 * Throws CONFIG, naming the file, for one that holds no state of this version.
 */
export async function withStateFile<Result>(
  path: string,
  work: (state: State, file: StateFile) => Result | Promise<Result>,
  options: StateFileOptions = {},
): Promise<Result> {
  return (await import('./open-state-file.ts')).runWithStateFile(path, work, options)
}

/**
 * The state that a file holds, an empty one where there is none, to be looked at: nobody waits, and
 * nothing is written.
 */
export async function readStateFile(
  path: string,
  options: Pick<StateFileOptions, 'slices' | 'filesystem'> = {},
): Promise<State> {
  return (await import('./open-state-file.ts')).loadStateFile(path, options)
}

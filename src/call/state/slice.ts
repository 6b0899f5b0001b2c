import type { Member, Slice } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** A typed place in the state. Default kind: `state`, which rolls back when a call fails. Throws CONFIG for another key or kind. */
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
  return { key, kind, ...(by && { by }), ...(read && { read }) }
}

/** Something that calls share: one for the state (`singleton`, the default), or one for each call. What has `snapshot` and `restore`, or `begin`, rolls back when a call fails. */
export function member<Value>(
  key: string,
  options: { readonly scope?: 'singleton' | 'call' } & Pick<Member<Value>, 'open' | 'close'>,
): Member<Value> {
  if (typeof options.open !== 'function')
    throw new ToolError('CONFIG', `member '${key}' needs open(): the function that makes it`)
  return { ...options, key, scope: options.scope ?? 'singleton' }
}

import type { Member, Slice } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** A typed place in the state. Default kind: `state`, which rolls back when a call fails. */
export function slice<Item>(key: string, { kind = 'state', by, read }: { readonly kind?: 'state' | 'log'; /** What makes an item the same as another, for `upsert`. */ readonly by?: (item: Item) => unknown; /** Checks an item that came from JSON. */ readonly read?: (value: unknown) => Item } = {}): Slice<Item> {
  return { key, kind, ...(by && { by }), ...(read && { read }) }
}

/** Something that calls share: one for the state (`singleton`, the default), or one for each call. What has `snapshot` and `restore`, or `begin`, rolls back when a call fails. */
export function member<Value>(key: string, options: { readonly scope?: 'singleton' | 'call' } & Pick<Member<Value>, 'open' | 'close'>): Member<Value> {
  if (typeof options.open !== 'function') throw new ToolError('CONFIG', `member '${key}' needs open(): the function that makes it`)
  return { ...options, key, scope: options.scope ?? 'singleton' }
}

import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'

/** One page of a list, and where the next begins. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor?: string }

/** Cuts a page out of a list. A cursor names the last item that was given, so that changes of the list in between skip and repeat nothing. */
export function page<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  params: Params,
  size: number,
): Page<Item> {
  const { cursor } = params
  const start = cursor === undefined ? 0 : afterCursor(items, keyOf, cursor)
  const end = start + size
  if (start === 0 && end >= items.length) return { items }
  const cut = items.slice(start, end)
  return {
    items: cut,
    ...(end < items.length && {
      nextCursor: Buffer.from(keyOf(cut.at(-1)!)).toString('base64url'),
    }),
  }
}

function afterCursor<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  cursor: unknown,
): number {
  const key = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : undefined
  const at = key === undefined ? -1 : items.findIndex((item) => keyOf(item) === key)
  if (at === -1)
    throw new RpcError(
      RPC.invalidParams,
      'the cursor is not one of this list, or what it pointed at is gone: begin again without a cursor',
    )
  return at + 1
}

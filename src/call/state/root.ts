import type { Filesystem } from '../../contract/filesystem.ts'
import type { Slice, SliceView, StateJson, Transactional } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { longId } from '../ids.ts'
import type { Base } from './base.ts'
import { Items } from './items.ts'
import { Singletons } from './singletons.ts'
import { SliceMap } from './slice-map.ts'
import { View } from './slices.ts'
import type { Change, Holder } from './slices.ts'
import { readState, writeState } from './state-json.ts'
import { Turns } from './turns.ts'

// So long may one call keep the others from committing before they give up.
const PATIENCE_MS = 30_000

// They are written in their place, because nothing takes them back.
class Logs implements Holder {
  readonly slices = new Map<string, Items<unknown>>()

  itemsOf(key: string): Items<unknown> {
    return this.slices.get(key) ?? Items.none
  }

  change(change: Change): void {
    this.slices.set(change.key, change.apply(this.itemsOf(change.key)))
  }
}

/** What a whole state holds. */
export class Root implements Base, Holder {
  readonly id: string
  readonly isOver = false
  readonly committing = new Turns(PATIENCE_MS)
  readonly inPlace = new Turns()
  readonly singletons = new Singletons()
  readonly filesystem: Transactional<Filesystem> | undefined
  slices: SliceMap
  readonly logs = new Logs()
  readonly #kinds = new Map<string, 'state' | 'log'>()

  constructor(
    id: string | undefined,
    from: StateJson | undefined,
    filesystem: Transactional<Filesystem> | undefined,
  ) {
    const read = from === undefined ? undefined : readState(from)
    this.id = id ?? read?.id ?? longId()
    this.filesystem = filesystem
    const slices = new Map<string, Items<unknown>>()
    for (const [key, { kind, items }] of read?.slices ?? []) {
      this.#kinds.set(key, kind)
      ;(kind === 'log' ? this.logs.slices : slices).set(key, items)
    }
    this.slices = SliceMap.of(slices)
  }

  absorb(next: SliceMap): void {
    this.slices = next
  }

  checkKind({ key, kind }: Slice<unknown>): void {
    const known = this.#kinds.get(key)
    if (known === undefined) this.#kinds.set(key, kind)
    else if (known !== kind)
      throw new ToolError(
        'CONFIG',
        `'${key}' is the key of a state slice and of a log slice: rename one`,
      )
  }

  /** A slice as it is seen outside of calls. */
  view<Item>(slice: Slice<Item>): SliceView<Item> {
    this.checkKind(slice)
    return new View(slice, slice.kind === 'log' ? this.logs : this)
  }

  itemsOf(key: string): Items<unknown> {
    return this.slices.get(key) ?? Items.none
  }

  change(change: Change): void {
    this.slices = this.slices.with(change.key, change.apply(this.itemsOf(change.key)))
  }

  keep(): Promise<void> {
    return Promise.resolve()
  }

  transactional<View>(thing: Transactional<View>): Transactional<View> {
    return thing
  }

  toJSON(slices: SliceMap): StateJson {
    return writeState(this.id, [
      ...slices.keys().map((key) => [key, 'state', slices.get(key)!] as const),
      ...Array.from(this.logs.slices, ([key, items]) => [key, 'log', items] as const),
    ])
  }
}

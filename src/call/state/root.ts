import type { Filesystem } from '../../contract/filesystem.ts'
import type { Slice, SliceView, StateJson, Transactional } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { longId } from '../ask.ts'
import type { Base } from './base.ts'
import { Items } from './items.ts'
import { Singletons } from './singletons.ts'
import { viewSlice } from './slices.ts'
import type { SliceMap } from './slices.ts'
import { readState, writeState } from './state-json.ts'
import { Turns } from './turns.ts'

// So long may one call keep the others from committing before they give up.
const PATIENCE_MS = 30_000

/** What a whole state holds. */
export class Root implements Base {
  readonly id: string
  readonly isOver = false
  readonly committing = new Turns(PATIENCE_MS)
  readonly inPlace = new Turns()
  readonly singletons = new Singletons()
  readonly filesystem: Transactional<Filesystem> | undefined
  slices: SliceMap = new Map()
  readonly #logs = new Map<string, Items<unknown>>()
  readonly #kinds = new Map<string, 'state' | 'log'>()

  constructor(id: string | undefined, from: StateJson | undefined, filesystem: Transactional<Filesystem> | undefined) {
    const read = from === undefined ? undefined : readState(from)
    this.id = id ?? read?.id ?? longId()
    this.filesystem = filesystem
    const slices = new Map<string, Items<unknown>>()
    for (const [key, { kind, items }] of read?.slices ?? []) {
      this.#kinds.set(key, kind)
      ;(kind === 'log' ? this.#logs : slices).set(key, items)
    }
    this.slices = slices
  }

  absorb(next: SliceMap): void {
    this.slices = next
  }

  checkKind({ key, kind }: Slice<unknown>): void {
    const known = this.#kinds.get(key)
    if (known === undefined) this.#kinds.set(key, kind)
    else if (known !== kind) throw new ToolError('CONFIG', `'${key}' is the key of a state slice and of a log slice: rename one`)
  }

  /** A slice as it is seen outside of calls. */
  view<Item>(slice: Slice<Item>): SliceView<Item> {
    this.checkKind(slice)
    if (slice.kind === 'log') return this.log(slice)
    const { key } = slice
    return viewSlice(slice, () => this.slices.get(key) ?? Items.none, ({ apply }) => void (this.slices = new Map(this.slices).set(key, apply(this.slices.get(key) ?? Items.none))))
  }

  log<Item>(slice: Slice<Item>): SliceView<Item> {
    const read = (): Items<unknown> => this.#logs.get(slice.key) ?? Items.none
    return viewSlice(slice, read, ({ apply }) => void this.#logs.set(slice.key, apply(read())))
  }

  keep(): Promise<void> {
    return Promise.resolve()
  }

  transactional<View>(thing: Transactional<View>): Transactional<View> {
    return thing
  }

  toJSON(slices: SliceMap): StateJson {
    return writeState(this.id, [
      ...Array.from(slices, ([key, items]) => [key, 'state', items] as const),
      ...Array.from(this.#logs, ([key, items]) => [key, 'log', items] as const),
    ])
  }
}

/**
 * The state that calls share. A call works on a transaction (`transaction.ts`): it sees the state
 * as it was when the call began, and a call that fails leaves nothing behind.
 *
 * A state consists of slices (`slices.ts`: immutable lists by key), members (`members.ts`: objects
 * that are opened once) and files (`../files`).
 */

import type {
  Filesystem,
  Slice,
  SliceView,
  State,
  StateJson,
  Transactional,
} from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isObject } from '../../util/values.ts'
import { createLongId } from '../call.ts'
import type { StateBase } from './members.ts'
import { createNoFilesError, SharedMembers, stateBase } from './members.ts'
import { Mutex } from './mutex.ts'
import type { SliceChange, SliceHolder } from './slices.ts'
import { HeldSliceView, ItemList, parseSnapshot, SliceMap } from './slices.ts'

/** What a state begins with. */
export type StateOptions = {
  /** Tells it from others in events; default: that of `from`, else a new one. */
  readonly id?: string
  /**
   * What `toJSON` of an earlier state gave; throws CONFIG for anything else, and for another
   * version.
   */
  readonly from?: StateJson
  /** Files that roll back with the slices: `folderFiles(root)` or `memoryFiles()`. */
  readonly filesystem?: Transactional<Filesystem>
}

/**
 * A store in memory. Each call sees it as it was when the call began; one that fails leaves nothing
 * of itself behind, apart from log slices.
 */
export function createState({ id, from, filesystem }: StateOptions = {}): State {
  const root = new StateRoot(id, from, filesystem)
  let files: Filesystem | undefined
  const state: State & { readonly [stateBase]: StateRoot } = {
    [stateBase]: root,
    id: root.id,
    get: (slice) => root.view(slice),
    snapshot: () => ({ slices: root.slices }),
    restore: (snapshot) => root.absorb(parseSnapshot(snapshot)),
    toJSON: () => root.toJSON(root.slices),
    resources: root.singletons.resources(),
    get filesystem() {
      if (!filesystem) throw createNoFilesError()
      return (files ??= createAutoCommitFiles(filesystem))
    },
    close: () => root.singletons.close(),
  }
  return state
}

// Outside of a call each change stands for itself.
function createAutoCommitFiles(filesystem: Transactional<Filesystem>): Filesystem {
  return createFilesystem(async (use) => {
    const part = filesystem.begin({ readOnly: false })
    try {
      const answer = await use(part.view)
      await part.commit()
      await part.end?.()
      return answer
    } catch (error) {
      await part.rollback()
      throw error
    }
  })
}

const FILESYSTEM_METHODS: { readonly [Method in keyof Filesystem]: true } = {
  stat: true,
  readText: true,
  readBytes: true,
  readLines: true,
  write: true,
  append: true,
  remove: true,
  move: true,
  makeFolder: true,
  list: true,
  glob: true,
  grep: true,
}

/** Files whose every method runs through `perform`, which says on which files it is used. */
export function createFilesystem(
  perform: (use: (files: Filesystem) => Promise<unknown>) => Promise<unknown>,
): Filesystem {
  const delegate =
    (method: keyof Filesystem) =>
    (...args: never[]): Promise<unknown> =>
      perform((files) => (files[method] as (...args: never[]) => Promise<unknown>)(...args))
  const methods = Object.keys(FILESYSTEM_METHODS) as (keyof Filesystem)[]
  return Object.fromEntries(
    methods.map((method) => [method, delegate(method)]),
  ) as unknown as Filesystem
}

// How long calls wait for another one to commit before they give up.
const COMMIT_TIMEOUT_MS = 30_000

// They are written in their place, because nothing takes them back.
class LogSlices implements SliceHolder {
  readonly slices = new Map<string, ItemList<unknown>>()

  itemsOf(key: string): ItemList<unknown> {
    return this.slices.get(key) ?? ItemList.none
  }

  change(change: SliceChange): void {
    this.slices.set(change.key, change.apply(this.itemsOf(change.key)))
  }
}

/** What a whole state holds. */
class StateRoot implements StateBase, SliceHolder {
  readonly id: string
  readonly isOver = false
  readonly committing = new Mutex(COMMIT_TIMEOUT_MS)
  readonly inPlace = new Mutex()
  readonly singletons = new SharedMembers()
  readonly filesystem: Transactional<Filesystem> | undefined
  slices: SliceMap
  readonly logs = new LogSlices()
  readonly #kinds = new Map<string, 'state' | 'log'>()

  constructor(
    id: string | undefined,
    from: StateJson | undefined,
    filesystem: Transactional<Filesystem> | undefined,
  ) {
    const read = from === undefined ? undefined : parseState(from)
    this.id = id ?? read?.id ?? createLongId()
    this.filesystem = filesystem
    const slices = new Map<string, ItemList<unknown>>()
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
    return new HeldSliceView(slice, slice.kind === 'log' ? this.logs : this)
  }

  itemsOf(key: string): ItemList<unknown> {
    return this.slices.get(key) ?? ItemList.none
  }

  change(change: SliceChange): void {
    this.slices = this.slices.with(change.key, change.apply(this.itemsOf(change.key)))
  }

  keep(): Promise<void> {
    return Promise.resolve()
  }

  transactional<View>(thing: Transactional<View>): Transactional<View> {
    return thing
  }

  toJSON(slices: SliceMap): StateJson {
    return serializeState(this.id, [
      ...slices.keys().map((key) => [key, 'state', slices.get(key)!] as const),
      ...Array.from(this.logs.slices, ([key, items]) => [key, 'log', items] as const),
    ])
  }
}

const STATE_VERSION = 1

/**
 * A state in JSON; throws CONFIG, naming slice and item, for what JSON would not give back as it
 * is.
 */
function serializeState(
  id: string,
  slices: Iterable<readonly [string, 'state' | 'log', ItemList<unknown>]>,
): StateJson {
  const written: { [key: string]: { kind: 'state' | 'log'; items: unknown[] } } = Object.create(
    null,
  ) as never
  for (const [key, kind, items] of slices)
    written[key] = {
      kind,
      items: items.all.map((item, index) =>
        copyStrictJson(item, `item ${index + 1} of slice '${key}'`),
      ),
    }
  return { version: STATE_VERSION, id, slices: written }
}

/** Reads what `writeState` wrote; throws CONFIG for anything else, and for another version. */
function parseState(json: unknown): {
  readonly id: string
  readonly slices: ReadonlyMap<
    string,
    { readonly kind: 'state' | 'log'; readonly items: ItemList<unknown> }
  >
} {
  if (!isObject(json) || !isObject(json['slices']))
    throw new ToolError('CONFIG', 'this is no state: it needs { version, id, slices }')
  if (json['version'] !== STATE_VERSION)
    throw new ToolError(
      'CONFIG',
      `this state is of version ${JSON.stringify(json['version']) ?? 'none'}; only version ${STATE_VERSION} can be read`,
      { details: { version: json['version'] ?? null, supported: [STATE_VERSION] } },
    )
  if (typeof json['id'] !== 'string' || json['id'] === '')
    throw new ToolError('CONFIG', 'this is no state: its id must be a text')
  return {
    id: json['id'],
    slices: new Map(
      Object.entries(json['slices']).map(([key, slice]) => [key, parseSlice(key, slice)]),
    ),
  }
}

function parseSlice(
  key: string,
  slice: unknown,
): { readonly kind: 'state' | 'log'; readonly items: ItemList<unknown> } {
  const { kind, items } = isObject(slice) ? slice : {}
  if ((kind !== 'state' && kind !== 'log') || !Array.isArray(items))
    throw new ToolError(
      'CONFIG',
      `slice '${key}' of this state is none: it needs { kind: 'state' or 'log', items: [...] }`,
    )
  return {
    kind,
    items: ItemList.unchecked(items.map((item: unknown) => copyStrictJson(item, `slice '${key}'`))),
  }
}

// Values that JSON.stringify would silently drop or change are refused.
function copyStrictJson(value: unknown, place: string, above: readonly object[] = []): unknown {
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
    return value
  const refuse = (what: string): ToolError =>
    new ToolError('CONFIG', `${place} cannot be kept as JSON: it holds ${what}`)
  if (value === undefined || typeof value === 'number') throw refuse(String(value))
  if (typeof value !== 'object') throw refuse(`a ${typeof value}`)
  if (above.includes(value)) throw refuse('itself')
  if (above.length >= 200) throw refuse('more than 200 levels')
  const inside = [...above, value]
  if (Array.isArray(value))
    return Array.from(value, (inner) => copyStrictJson(inner, place, inside))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw refuse(`an object of the class ${value.constructor?.name || 'without a name'}`)
  // Readers treat an undefined field like an absent one.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === undefined ? [] : [[key, copyStrictJson(inner, place, inside)]],
    ),
  )
}

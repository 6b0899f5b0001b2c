/**
 * What calls share: typed state that rolls back when a call fails, shared resources, and
 * transactional files. Types only; `core/state/` implements them.
 */

/**
 * A typed place in the state. A `state` slice rolls back when a call fails; a `log` slice keeps
 * what was appended.
 */
export type Slice<Item> = {
  readonly key: string
  readonly kind: 'state' | 'log'
  /** What makes an item the same as another; `upsert` compares it. */
  by?(item: Item): unknown
  /** Checks an item that came from JSON; throws where it is none. */
  read?(value: unknown): Item
  readonly item?: Item
}

/**
 * Makes the next items of a slice out of those that are there and something that happened. It must
 * be pure: it may run again.
 */
export type Reducer<Item, Event> = (items: readonly Item[], event: Event) => readonly Item[]

/** The items of one slice. They are frozen: what changes is the list. */
export type SliceView<Item> = {
  latest(): Item | undefined
  all(): readonly Item[]
  where(predicate: (item: Item) => boolean): readonly Item[]
  append(...items: Item[]): void
  replace(items: readonly Item[]): void
  /**
   * Puts the item in the place of the one that is the same by the slice's `by`, else at the end.
   */
  upsert(item: Item): void
  /** Takes out all items, or those that the predicate names. */
  clear(predicate?: (item: Item) => boolean): void
  reduce<Event>(reducer: Reducer<Item, Event>, event: Event): void
}

/** What `snapshot` gives and `restore` takes; opaque to everybody else. */
export type StateSnapshot = { readonly slices: object }

/** A state as JSON. */
export type StateJson = {
  readonly version: 1
  readonly id: string
  readonly slices: {
    readonly [key: string]: { readonly kind: 'state' | 'log'; readonly items: readonly unknown[] }
  }
}

/** The typed store that rolls back when a call fails. */
export type State = {
  /** Tells it from others in events: the seed's session id. */
  readonly id: string
  get<Item>(slice: Slice<Item>): SliceView<Item>
  snapshot(): StateSnapshot
  restore(snapshot: StateSnapshot): void
  /**
   * All slices, to be kept and given to `createState({ from })`; throws CONFIG, naming the slice,
   * where an item is not JSON.
   */
  toJSON(): StateJson
  /** What calls share besides slices. */
  readonly resources: Resources
  /** Files that roll back with the slices; throws CONFIG where the state has none. */
  readonly filesystem: Filesystem
  /** Closes what was opened, the last first. */
  close(): Promise<void>
}

/**
 * Something that calls share: made at the first look at it, once for the state (`singleton`) or
 * once for each call.
 */
export type Member<Value> = {
  readonly key: string
  readonly scope: 'singleton' | 'call'
  /** May ask for other members; a circle is a CONFIG error. */
  open(resources: Resources): Value | Transactional<Value> | Promise<Value | Transactional<Value>>
  close?(value: Value): void | Promise<void>
}

/** Finds what calls share. */
export type Resources = { get<Value>(member: Member<Value>): Promise<Value> }

/**
 * Something that can be put back as it was: a member of this form rolls back when a call fails.
 * Calls that use such members wait for each other, unless they are read-only.
 */
export type Snapshotable<Snapshot = unknown> = {
  snapshot(): Snapshot | Promise<Snapshot>
  restore(snapshot: Snapshot): void | Promise<void>
}

/** Something whose changes of one call can be held apart until they are wanted. */
export type Transactional<View> = {
  /** Cheap and at once: what it needs to prepare, it does at the first use of the view. */
  begin(options: {
    /** Writing through the view is refused. */ readonly readOnly: boolean
  }): TransactionPart<View>
}

/** The changes of one call to one thing. */
export type TransactionPart<View> = {
  readonly view: View
  /**
   * Makes the changes those of everybody. Where it throws, nothing has changed: CONFLICT
   * (retryable) where another call changed meanwhile what this one read or wrote.
   */
  commit(): void | Promise<void>
  /** Forgets the changes; after `commit`, takes them back. */
  rollback(): void | Promise<void>
  /** The changes stay: what `rollback` would have needed may go. */
  end?(): void | Promise<void>
  /**
   * The changes of a call inside this one: its commit gives them to this part, its rollback forgets
   * them alone.
   */
  begin(options: { readonly readOnly: boolean }): TransactionPart<View>
}

/** A part of a longer list, and where the next part begins. */
export type Page<Item> = {
  readonly items: readonly Item[]
  readonly total: number
  readonly next?: number
}

/** Which part of a list is wanted; default: from 0, 1,000 items. */
export type PageOptions = { readonly offset?: number; readonly limit?: number }

/** A file or folder. Paths are relative to the root, with `/`. */
export type FileEntry = {
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** Bytes; 0 for a folder. */ readonly size: number
}

/** A line that a search found. */
export type FoundLine = {
  readonly path: string
  /** From 1. */ readonly line: number
  readonly text: string
}

/**
 * Files under one root, which no path and no link leaves. Missing is NOT_FOUND, outside is
 * INVALID_PATH, a folder where a file is wanted is CONFLICT, too much at once is OUTPUT_LIMIT.
 */
export type Filesystem = {
  /** Undefined where there is nothing. */
  stat(path: string): Promise<FileEntry | undefined>
  readText(path: string): Promise<string>
  readBytes(path: string): Promise<Uint8Array>
  /** Lines of a text, `offset` from 0. */
  readLines(path: string, page?: PageOptions): Promise<Page<string>>
  /** Writes a whole file and makes the folders on the way. */
  write(path: string, content: string | Uint8Array): Promise<void>
  append(path: string, content: string | Uint8Array): Promise<void>
  /** A folder only when it is empty, unless `recursive`. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Makes the folders on the way; CONFLICT where something is already. */
  move(from: string, to: string): Promise<void>
  makeFolder(path: string): Promise<void>
  /** What lies directly in a folder, by name. */
  list(path?: string, page?: PageOptions): Promise<Page<FileEntry>>
  /**
   * Files whose path fits a pattern of `*`, `?`, `**`, `{a,b}` and `[abc]`, by path. A name with a
   * leading dot fits only where the dot is written.
   */
  glob(pattern: string, page?: PageOptions): Promise<Page<FileEntry>>
  /**
   * Lines that hold the text or fit the expression, in text files that fit `glob`, by path and
   * line; an expression sees the first 10,000 characters of a line.
   */
  grep(
    pattern: string | RegExp,
    options?: PageOptions & { readonly glob?: string },
  ): Promise<Page<FoundLine>>
}

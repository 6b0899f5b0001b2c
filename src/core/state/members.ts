/**
 * What a call works on (`StateBase`: a whole state or the transaction around it) and the members
 * it holds: shared ones, opened once for the state, and those that live for one call.
 */

import type {
  Filesystem,
  Member,
  Resources,
  Slice,
  Snapshotable,
  State,
  StateJson,
  Transactional,
  TransactionPart,
} from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RunningCall } from '../lifecycle.ts'
import type { Mutex } from './mutex.ts'
import type { SliceChange, SliceHolder, SliceMap } from './slices.ts'
import { ItemList } from './slices.ts'

/** What a call works on: a whole state, or the transaction of the call that it is part of. */
export type StateBase = {
  readonly id: string
  /** Nothing can be given to a call that has ended. */
  readonly isOver: boolean
  /** Who commits: a commit may have to wait for disks and listeners. */
  readonly committing: Mutex
  /** Who changes what can only be changed in its place. */
  readonly inPlace: Mutex
  readonly slices: SliceMap
  /**
   * Takes the changes of a call that has succeeded; those of one that ran beside others are made
   * again on what they left.
   */
  absorb(next: SliceMap, changes: readonly SliceChange[]): void
  /** Log slices: written immediately, never rolled back. */
  readonly logs: SliceHolder
  /** Throws CONFIG where a key is that of a slice of the other kind. */
  checkKind(slice: Slice<unknown>): void
  toJSON(slices: SliceMap): StateJson
  readonly singletons: SharedMembers
  /**
   * Makes sure that the call of this base can put back something that has no views; nothing to do
   * for a whole state.
   */
  keep(thing: Snapshotable): Promise<void>
  /**
   * Where parts of this base begin: the thing itself, or the changes that the outer call holds of
   * it.
   */
  transactional<View>(thing: Transactional<View>): Pick<Transactional<View>, 'begin'>
  readonly filesystem: Transactional<Filesystem> | undefined
}

/**
 * Where a state that users see keeps what stands behind it. A property, because a map of weak keys
 * would cost a call more than its handler.
 */
export const stateBase: unique symbol = Symbol('toolable.state')

/** What stands behind a state; throws CONFIG for what is none of ours. */
export function getStateBase(state: State): StateBase {
  const base = (state as (State & { readonly [stateBase]?: StateBase }) | null)?.[stateBase]
  if (!base) throw new ToolError('CONFIG', 'state must be what createState() or ctx.state gives')
  return base
}

/**
 * The changed slices of a call, put on those that are there now; throws CONFLICT where that would
 * undo what another call did meanwhile.
 */
export function mergeSlices(
  before: SliceMap,
  now: SliceMap,
  next: SliceMap,
  changes: readonly SliceChange[],
): SliceMap {
  if (now === before) return next
  let merged = now
  for (const key of new Set(changes.map((change) => change.key))) {
    const items =
      now.get(key) === before.get(key)
        ? next.get(key)
        : replayChanges(
            key,
            now.get(key) ?? ItemList.none,
            changes.filter((change) => change.key === key),
          )
    merged = merged.with(key, items)
  }
  return merged
}

function replayChanges(
  key: string,
  items: ItemList<unknown>,
  changes: readonly SliceChange[],
): ItemList<unknown> {
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

type KeptSnapshot = { readonly thing: Snapshotable; readonly snapshot: unknown }

/**
 * What one call holds of the members of its state: views of its own where they can be had,
 * snapshots of the others, and those that live for this call only.
 */
export class CallMembers {
  readonly #base: StateBase
  readonly #readOnly: boolean
  readonly #call: RunningCall
  readonly #begun = new Map<object, TransactionPart<unknown>>()
  readonly #keeping = new Map<object, Promise<void>>()
  readonly #kept: KeptSnapshot[] = []
  readonly #own = new OpeningMembers<unknown>()
  readonly #closing: OpenedMember[] = []
  #holding: Promise<void> | undefined
  #pass: (() => void) | undefined
  #isCommitted = false
  #isOver = false

  constructor(base: StateBase, readOnly: boolean, call: RunningCall) {
    this.#base = base
    this.#readOnly = readOnly
    this.#call = call
  }

  readonly resources: Resources = this.#resources()

  // `asking` is the member that needs others to be opened itself.
  #resources(asking?: string): Resources {
    return { get: <Value>(member: Member<Value>) => this.#get(member, asking) as Promise<Value> }
  }

  get filesystem(): Filesystem {
    const files = this.#base.filesystem
    if (!files) throw createNoFilesError()
    return this.begin(files).view
  }

  /**
   * The changes that this call holds of a thing; for calls inside this one it is where theirs
   * begin.
   */
  begin<View>(thing: Transactional<View>): TransactionPart<View> {
    if (this.#isOver) throw createTransactionOverError()
    const known = this.#begun.get(thing) as TransactionPart<View> | undefined
    if (known) return known
    // It would never be committed.
    if (this.#isCommitted) throw createTransactionOverError()
    const part = this.#base.transactional(thing).begin({ readOnly: this.#readOnly })
    this.#begun.set(thing, part)
    return part
  }

  async #get(member: Member<unknown>, asking: string | undefined): Promise<unknown> {
    if (this.#isOver) throw createTransactionOverError()
    if (member.scope === 'call') return this.#own.get(member, asking, () => this.#openOwn(member))
    const { value } = await this.#base.singletons.get(member)
    if (this.#isOver) throw createTransactionOverError()
    if (isTransactional(value)) return this.begin(value).view
    if (isSnapshotable(value) && !this.#readOnly) await this.keep(value)
    return value
  }

  /**
   * Makes sure that something without views can be put back as it was before this call, and before
   * those around it.
   */
  keep(thing: Snapshotable): Promise<void> {
    let kept = this.#keeping.get(thing)
    if (!kept) this.#keeping.set(thing, (kept = this.#keep(thing)))
    return kept
  }

  async #keep(thing: Snapshotable): Promise<void> {
    await this.#base.keep(thing)
    await (this.#holding ??= this.#hold())
    const snapshot = await thing.snapshot()
    if (this.#isOver) throw createTransactionOverError()
    this.#kept.push({ thing, snapshot })
  }

  // One turn for all members without views prevents deadlocks.
  async #hold(): Promise<void> {
    const pass = await this.#base.inPlace.acquire(this.#call)
    if (this.#isOver) {
      pass()
      throw createTransactionOverError()
    }
    this.#pass = pass
  }

  async #openOwn(member: Member<unknown>): Promise<unknown> {
    const value = await member.open(this.#resources(member.key))
    if (this.#isOver) {
      // The call is over, so an error has no receiver.
      await closeMembers([{ member, value }]).catch(() => undefined)
      throw createTransactionOverError()
    }
    this.#closing.push({ member, value })
    return isTransactional(value) ? this.begin(value).view : value
  }

  /**
   * Makes the changes those of everybody, one thing after the other; where one cannot, it throws,
   * and `rollback` takes back the others.
   */
  async commit(): Promise<void> {
    this.#isCommitted = true
    for (const part of this.#begun.values()) await part.commit()
  }

  /**
   * Takes everything back, the last first, and closes what lived for this call; throws the first
   * error when all has been tried.
   */
  async rollback(): Promise<void> {
    this.#isOver = true
    await runAllSteps([
      ...[...this.#begun.values()].toReversed().map((part) => () => part.rollback()),
      ...this.#kept.toReversed().map(
        ({ thing, snapshot }) =>
          () =>
            thing.restore(snapshot),
      ),
      () => this.#close(),
    ])
  }

  /** The changes stay. */
  async end(): Promise<void> {
    this.#isOver = true
    await runAllSteps([
      ...[...this.#begun.values()].map((part) => () => part.end?.()),
      () => this.#close(),
    ])
  }

  #close(): Promise<void> {
    this.#pass?.()
    return closeMembers(this.#closing.splice(0))
  }
}

async function runAllSteps(steps: readonly (() => void | Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

/** The error of a state without files. */
export function createNoFilesError(): ToolError {
  return new ToolError('CONFIG', 'the state of this call has no files', {
    suggestion: "Give it some: createState({ filesystem: folderFiles('./data') })",
  })
}

/** A member that is open: as it is shared, before a call gets its own view of it. */
type OpenedMember = { readonly member: Member<unknown>; readonly value: unknown }

/** The members that a whole state shares: each is opened once, at the first look. */
export class SharedMembers {
  readonly #opening = new OpeningMembers<OpenedMember>()
  readonly #open: OpenedMember[] = []
  #isClosed = false
  #isGone = false

  /** `asking` is the member that needs it to be opened itself. */
  async get(member: Member<unknown>, asking?: string): Promise<OpenedMember> {
    if (this.#isClosed) throw createStateClosedError(member)
    return this.#opening.get(member, asking, () => {
      const opened = this.#openOne(member)
      // The next look tries again.
      opened.catch(() => this.#opening.forget(member))
      return opened
    })
  }

  async #openOne(member: Member<unknown>): Promise<OpenedMember> {
    const opened = { member, value: await member.open(this.resources(member.key)) }
    if (this.#isGone) {
      await closeMembers([opened])
      throw createStateClosedError(member)
    }
    this.#open.push(opened)
    return opened
  }

  /** What a member sees while it is opened, and code outside calls: shared members only. */
  resources(asking?: string): Resources {
    return {
      get: async <Value>(member: Member<Value>) => {
        if (member.scope === 'call')
          throw new ToolError(
            'CONFIG',
            asking === undefined
              ? `'${member.key}' lives for one call: ask ctx.resources for it`
              : `'${asking}' lives as long as the state and cannot hold '${member.key}', which lives for one call`,
          )
        const { value } = await this.get(member, asking)
        if (isTransactional(value))
          throw new ToolError(
            'CONFIG',
            `'${member.key}' holds the changes of each call apart: ask ctx.resources for it, in a call`,
          )
        return value as Value
      },
    }
  }

  /**
   * Closes all, the last opened first; throws the first error when all have been tried. What is
   * just being opened is waited for, or else closed as soon as it comes.
   */
  async close(waits = true): Promise<void> {
    this.#isClosed = true
    if (waits) await this.#opening.whenSettled()
    this.#isGone = true
    await closeMembers(this.#open.splice(0))
  }
}

/** Closes what was opened, the last first; throws the first error when all have been tried. */
function closeMembers(opened: readonly OpenedMember[]): Promise<void> {
  return runAllSteps(
    opened.toReversed().map(
      ({ member, value }) =>
        () =>
          member.close?.(value),
    ),
  )
}

function createStateClosedError({ key }: Member<unknown>): ToolError {
  return new ToolError('PRECONDITION', `the state is closed: '${key}' cannot be opened`)
}

/** Whether the changes of a call to it can be held apart. */
function isTransactional(value: unknown): value is Transactional<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Transactional<unknown>>).begin === 'function'
  )
}

/** Whether it can be put back as it was. */
function isSnapshotable(value: unknown): value is Snapshotable {
  const candidate = value as Partial<Snapshotable> | null
  return (
    typeof candidate === 'object' &&
    candidate !== null &&
    typeof candidate.snapshot === 'function' &&
    typeof candidate.restore === 'function'
  )
}

/** Members that are open or being opened, each once, and which of them wait for which. */
class OpeningMembers<Opened> {
  readonly #members = new Map<
    string,
    { readonly member: Member<unknown>; readonly opened: Promise<Opened> }
  >()
  readonly #needs = new Map<string, Set<string>>()

  /**
   * Opens a member at the first look. `asking` is the member that waits for it. Throws CONFIG for
   * a key that two members have, and where members wait for each other in a circle.
   */
  get(
    member: Member<unknown>,
    asking: string | undefined,
    open: () => Promise<Opened>,
  ): Promise<Opened> {
    const { key } = member
    const known = this.#members.get(key)
    if (known && known.member !== member)
      throw new ToolError('CONFIG', `two members are called '${key}': rename one`)
    if (asking !== undefined) this.#addNeed(asking, key)
    if (known) return known.opened
    const opened = open().finally(() => this.#needs.delete(key))
    this.#members.set(key, { member, opened })
    return opened
  }

  forget({ key }: Member<unknown>): void {
    this.#members.delete(key)
  }

  async whenSettled(): Promise<void> {
    await Promise.allSettled(Array.from(this.#members.values(), ({ opened }) => opened))
  }

  #addNeed(key: string, needed: string): void {
    const way = this.#findWay(needed, key)
    if (way)
      throw new ToolError(
        'CONFIG',
        `members need each other in a circle: ${[...way, needed].join(' → ')}`,
      )
    const needs = this.#needs.get(key) ?? new Set()
    this.#needs.set(key, needs.add(needed))
  }

  #findWay(from: string, to: string): readonly string[] | undefined {
    if (from === to) return [to]
    for (const next of this.#needs.get(from) ?? []) {
      const way = this.#findWay(next, to)
      if (way) return [from, ...way]
    }
    return undefined
  }
}

/** The error of what a call left running when it was over. */
export function createTransactionOverError(): ToolError {
  return new ToolError(
    'CANCELLED',
    'the call is over: its state, files and members are closed to what it left running',
  )
}

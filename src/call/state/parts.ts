import type { Filesystem } from '../../contract/filesystem.ts'
import type {
  Member,
  Resources,
  Snapshotable,
  Transactional,
  TransactionPart,
} from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunningCall } from '../running.ts'
import type { Base } from './base.ts'
import { Needs } from './needs.ts'
import { isOver } from './over.ts'
import { closeAll, isSnapshotable, isTransactional, twoMembers } from './singletons.ts'
import type { Opened } from './singletons.ts'

type Kept = { readonly thing: Snapshotable; readonly snapshot: unknown }

/** What one call holds of the members of its state: views of its own where they can be had, snapshots of the others, and those that live for this call only. */
export class Parts {
  readonly #base: Base
  readonly #readOnly: boolean
  readonly #call: RunningCall
  readonly #begun = new Map<object, TransactionPart<unknown>>()
  readonly #keeping = new Map<object, Promise<void>>()
  readonly #kept: Kept[] = []
  readonly #own = new Map<
    string,
    { readonly member: Member<unknown>; readonly opened: Promise<unknown> }
  >()
  readonly #closing: Opened[] = []
  readonly #needs = new Needs()
  #holding: Promise<void> | undefined
  #pass: (() => void) | undefined
  #isCommitted = false
  #isOver = false

  constructor(base: Base, readOnly: boolean, call: RunningCall) {
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
    if (!files) throw noFiles()
    return this.begin(files).view
  }

  /** The changes that this call holds of a thing; for calls inside this one it is where theirs begin. */
  begin<View>(thing: Transactional<View>): TransactionPart<View> {
    if (this.#isOver) throw isOver()
    const known = this.#begun.get(thing) as TransactionPart<View> | undefined
    if (known) return known
    // It would never be committed.
    if (this.#isCommitted) throw isOver()
    const part = this.#base.transactional(thing).begin({ readOnly: this.#readOnly })
    this.#begun.set(thing, part)
    return part
  }

  async #get(member: Member<unknown>, asking: string | undefined): Promise<unknown> {
    if (this.#isOver) throw isOver()
    if (member.scope === 'call') return this.#getOwn(member, asking)
    const { value } = await this.#base.singletons.get(member)
    if (this.#isOver) throw isOver()
    if (isTransactional(value)) return this.begin(value).view
    if (isSnapshotable(value) && !this.#readOnly) await this.keep(value)
    return value
  }

  /** Makes sure that something without views can be put back as it was before this call, and before those around it. */
  keep(thing: Snapshotable): Promise<void> {
    let kept = this.#keeping.get(thing)
    if (!kept) this.#keeping.set(thing, (kept = this.#keep(thing)))
    return kept
  }

  async #keep(thing: Snapshotable): Promise<void> {
    await this.#base.keep(thing)
    await (this.#holding ??= this.#hold())
    const snapshot = await thing.snapshot()
    if (this.#isOver) throw isOver()
    this.#kept.push({ thing, snapshot })
  }

  // There is one turn for all things without views, so that nobody waits in a circle.
  async #hold(): Promise<void> {
    const pass = await this.#base.inPlace.take(this.#call)
    if (this.#isOver) {
      pass()
      throw isOver()
    }
    this.#pass = pass
  }

  #getOwn(member: Member<unknown>, asking: string | undefined): Promise<unknown> {
    const known = this.#own.get(member.key)
    if (known && known.member !== member) throw twoMembers(member)
    if (asking !== undefined) this.#needs.add(asking, member.key)
    if (known) return known.opened
    const opened = this.#openOwn(member).finally(() => this.#needs.settle(member.key))
    this.#own.set(member.key, { member, opened })
    return opened
  }

  async #openOwn(member: Member<unknown>): Promise<unknown> {
    const value = await member.open(this.#resources(member.key))
    if (this.#isOver) {
      // Nobody waits for it any more, so nobody can be told either.
      await closeAll([{ member, value }]).catch(() => undefined)
      throw isOver()
    }
    this.#closing.push({ member, value })
    return isTransactional(value) ? this.begin(value).view : value
  }

  /** Makes the changes those of everybody, one thing after the other; where one cannot, it throws, and `rollback` takes back the others. */
  async commit(): Promise<void> {
    this.#isCommitted = true
    for (const part of this.#begun.values()) await part.commit()
  }

  /** Takes everything back, the last first, and closes what lived for this call; throws the first error when all has been tried. */
  async rollback(): Promise<void> {
    this.#isOver = true
    await inOrder([
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
    await inOrder([
      ...[...this.#begun.values()].map((part) => () => part.end?.()),
      () => this.#close(),
    ])
  }

  #close(): Promise<void> {
    this.#pass?.()
    return closeAll(this.#closing.splice(0))
  }
}

async function inOrder(steps: readonly (() => void | Promise<void>)[]): Promise<void> {
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
export function noFiles(): ToolError {
  return new ToolError('CONFIG', 'the state of this call has no files', {
    suggestion: "Give it some: createState({ filesystem: folderFiles('./data') })",
  })
}

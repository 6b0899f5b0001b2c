import type { Filesystem } from '../../contract/filesystem.ts'
import type { Member, Resources, Snapshotable, Transactional, TransactionPart } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunningCall } from '../running.ts'
import type { Base } from './base.ts'
import { circle, closeAll, isSnapshotable, isTransactional } from './singletons.ts'
import type { Opened } from './singletons.ts'

type Kept = { readonly thing: Snapshotable; readonly snapshot: unknown }

/** What one call holds of the members of its state: views of its own where they can be had, snapshots of the others, and those that live for this call only. */
export class Parts {
  readonly #base: Base
  readonly #readOnly: boolean
  readonly #call: RunningCall
  readonly #begun = new Map<object, TransactionPart<unknown>>()
  readonly #kept = new Map<object, Promise<Kept>>()
  readonly #own = new Map<string, { readonly member: Member<unknown>; readonly opened: Promise<unknown> }>()
  readonly #closing: Opened[] = []
  #holding: Promise<void> | undefined
  #pass: (() => void) | undefined
  #isOver = false

  constructor(base: Base, readOnly: boolean, call: RunningCall) {
    this.#base = base
    this.#readOnly = readOnly
    this.#call = call
  }

  readonly resources: Resources = this.#resources([])

  #resources(path: readonly string[]): Resources {
    return { get: <Value>(member: Member<Value>) => this.#get(member, path) as Promise<Value> }
  }

  get filesystem(): Filesystem {
    const files = this.#base.filesystem
    if (!files) throw noFiles()
    return this.begin(files).view
  }

  /** The changes that this call holds of a thing. */
  begin<View>(thing: Transactional<View>): TransactionPart<View> {
    if (this.#isOver) throw isOver()
    const known = this.#begun.get(thing) as TransactionPart<View> | undefined
    if (known) return known
    const part = this.#base.transactional(thing).begin({ readOnly: this.#readOnly })
    this.#begun.set(thing, part)
    return part
  }

  /** Waits until no other call works on things that have no views of their own. There is one turn for all of them, so that nobody waits in a circle. */
  holdInPlace(): Promise<void> {
    return (this.#holding ??= (async () => {
      await this.#base.holdInPlace()
      const pass = await this.#base.inPlace.take(this.#call)
      if (this.#isOver) {
        pass()
        throw isOver()
      }
      this.#pass = pass
    })())
  }

  async #get(member: Member<unknown>, path: readonly string[]): Promise<unknown> {
    if (this.#isOver) throw isOver()
    if (path.includes(member.key)) throw circle(path, member.key)
    if (member.scope === 'call') return this.#getOwn(member, path)
    const { value } = await this.#base.singletons.get(member, [])
    if (this.#isOver) throw isOver()
    if (isTransactional(value)) return this.begin(value).view
    if (isSnapshotable(value) && !this.#readOnly) await this.#keep(value)
    return value
  }

  #keep(thing: Snapshotable): Promise<Kept> {
    let kept = this.#kept.get(thing)
    if (!kept) {
      kept = (async () => {
        await this.holdInPlace()
        return { thing, snapshot: await thing.snapshot() }
      })()
      this.#kept.set(thing, kept)
    }
    return kept
  }

  #getOwn(member: Member<unknown>, path: readonly string[]): Promise<unknown> {
    const known = this.#own.get(member.key)
    if (known) {
      if (known.member !== member) throw new ToolError('CONFIG', `two members are called '${member.key}': rename one`)
      return known.opened
    }
    const opened = (async () => {
      const value = await member.open(this.#resources([...path, member.key]))
      this.#closing.push({ member, value })
      return isTransactional(value) ? this.begin(value).view : value
    })()
    this.#own.set(member.key, { member, opened })
    return opened
  }

  /** Makes the changes those of everybody; where one cannot be made, none is, and its error is thrown. */
  async commit(): Promise<void> {
    for (const part of this.#begun.values()) await part.commit()
  }

  /** Takes everything back, the last first, and closes what lived for this call; throws the first error when all has been tried. */
  async rollback(): Promise<void> {
    this.#isOver = true
    const kept = (await Promise.allSettled(this.#kept.values())).flatMap((settled) => (settled.status === 'fulfilled' ? [settled.value] : []))
    await inOrder([
      ...[...this.#begun.values()].toReversed().map((part) => () => part.rollback()),
      ...kept.toReversed().map(({ thing, snapshot }) => () => thing.restore(snapshot)),
      () => this.#close(),
    ])
  }

  /** The changes stay. */
  async end(): Promise<void> {
    this.#isOver = true
    await inOrder([...[...this.#begun.values()].map((part) => () => part.end?.()), () => this.#close()])
  }

  async #close(): Promise<void> {
    this.#pass?.()
    await Promise.allSettled([...this.#own.values()].map(({ opened }) => opened))
    await closeAll(this.#closing.splice(0))
  }

  /** For calls inside this one: they begin at our changes. */
  transactional<View>(thing: Transactional<View>): Pick<Transactional<View>, 'begin'> {
    return this.begin(thing)
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
  return new ToolError('CONFIG', 'the state of this call has no files', { suggestion: "Give it some: createState({ filesystem: folderFiles('./data') })" })
}

function isOver(): ToolError {
  return new ToolError('CANCELLED', 'the call is over')
}

import type { Member, Resources, Snapshotable, Transactional } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** A member that is open: as it is shared, before a call gets its own view of it. */
export type Opened = { readonly member: Member<unknown>; readonly value: unknown }

/** The members that a whole state shares: each is opened once, at the first look. */
export class Singletons {
  readonly #opening = new Map<string, { readonly member: Member<unknown>; readonly opened: Promise<Opened> }>()
  readonly #open: Opened[] = []
  #isClosed = false

  /** Those that are open now, in the order of their opening. */
  get open(): readonly Opened[] {
    return this.#open
  }

  async get(member: Member<unknown>, path: readonly string[]): Promise<Opened> {
    if (this.#isClosed) throw new ToolError('PRECONDITION', `the state is closed: '${member.key}' cannot be opened`)
    const known = this.#opening.get(member.key)
    if (known) {
      if (known.member !== member) throw new ToolError('CONFIG', `two members are called '${member.key}': rename one`)
      if (path.includes(member.key)) throw circle(path, member.key)
      return known.opened
    }
    const opened = this.#openOne(member, path)
    this.#opening.set(member.key, { member, opened })
    // The next look tries again.
    opened.catch(() => this.#opening.delete(member.key))
    return opened
  }

  async #openOne(member: Member<unknown>, path: readonly string[]): Promise<Opened> {
    const value = await member.open(this.resources([...path, member.key]))
    const opened = { member, value }
    this.#open.push(opened)
    return opened
  }

  /** What a member sees while it is opened: the shared ones only, as they are. */
  resources(path: readonly string[]): Resources {
    return {
      get: async <Value>(member: Member<Value>) => {
        if (member.scope === 'call') throw new ToolError('CONFIG', path.length > 0 ? `'${path.at(-1)}' lives as long as the state and cannot hold '${member.key}', which lives for one call` : `'${member.key}' lives for one call: ask ctx.resources for it`)
        return (await this.get(member, path)).value as Value
      },
    }
  }

  /** Closes all, the last opened first; throws the first error when all have been tried. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#opening.values()].map(({ opened }) => opened))
    await closeAll(this.#open.splice(0))
  }
}

/** Closes what was opened, the last first; throws the first error when all have been tried. */
export async function closeAll(opened: readonly Opened[]): Promise<void> {
  const errors: unknown[] = []
  for (const { member, value } of opened.toReversed()) {
    try {
      await member.close?.(value)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

/** The error of members that need each other. */
export function circle(path: readonly string[], key: string): ToolError {
  return new ToolError('CONFIG', `members need each other in a circle: ${[...path.slice(path.indexOf(key)), key].join(' → ')}`)
}

/** Whether the changes of a call to it can be held apart. */
export function isTransactional(value: unknown): value is Transactional<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Transactional<unknown>>).begin === 'function'
}

/** Whether it can be put back as it was. */
export function isSnapshotable(value: unknown): value is Snapshotable {
  const candidate = value as Partial<Snapshotable> | null
  return typeof candidate === 'object' && candidate !== null && typeof candidate.snapshot === 'function' && typeof candidate.restore === 'function'
}

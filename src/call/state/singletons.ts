import type { Member, Resources, Snapshotable, Transactional } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Needs } from './needs.ts'

/** A member that is open: as it is shared, before a call gets its own view of it. */
export type Opened = { readonly member: Member<unknown>; readonly value: unknown }

/** The members that a whole state shares: each is opened once, at the first look. */
export class Singletons {
  readonly #opening = new Map<
    string,
    { readonly member: Member<unknown>; readonly opened: Promise<Opened> }
  >()
  readonly #open: Opened[] = []
  readonly #needs = new Needs()
  #isClosed = false
  #isGone = false

  /** `asking` is the member that needs it to be opened itself. */
  async get(member: Member<unknown>, asking?: string): Promise<Opened> {
    if (this.#isClosed) throw isClosed(member)
    const known = this.#opening.get(member.key)
    if (known && known.member !== member) throw twoMembers(member)
    if (asking !== undefined) this.#needs.add(asking, member.key)
    if (known) return known.opened
    const opened = this.#openOne(member).finally(() => this.#needs.settle(member.key))
    this.#opening.set(member.key, { member, opened })
    // The next look tries again.
    opened.catch(() => this.#opening.delete(member.key))
    return opened
  }

  async #openOne(member: Member<unknown>): Promise<Opened> {
    const opened = { member, value: await member.open(this.resources(member.key)) }
    if (this.#isGone) {
      await closeAll([opened])
      throw isClosed(member)
    }
    this.#open.push(opened)
    return opened
  }

  /** What a member sees while it is opened, and whoever is in no call: the shared ones only. */
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

  /** Closes all, the last opened first; throws the first error when all have been tried. What is just being opened is waited for, or else closed as soon as it comes. */
  async close(waits = true): Promise<void> {
    this.#isClosed = true
    if (waits) await Promise.allSettled([...this.#opening.values()].map(({ opened }) => opened))
    this.#isGone = true
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

/** The error of a key that two members have. */
export function twoMembers({ key }: Member<unknown>): ToolError {
  return new ToolError('CONFIG', `two members are called '${key}': rename one`)
}

function isClosed({ key }: Member<unknown>): ToolError {
  return new ToolError('PRECONDITION', `the state is closed: '${key}' cannot be opened`)
}

/** Whether the changes of a call to it can be held apart. */
export function isTransactional(value: unknown): value is Transactional<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Transactional<unknown>>).begin === 'function'
  )
}

/** Whether it can be put back as it was. */
export function isSnapshotable(value: unknown): value is Snapshotable {
  const candidate = value as Partial<Snapshotable> | null
  return (
    typeof candidate === 'object' &&
    candidate !== null &&
    typeof candidate.snapshot === 'function' &&
    typeof candidate.restore === 'function'
  )
}

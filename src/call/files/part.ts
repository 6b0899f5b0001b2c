import type { Filesystem } from '../../contract/filesystem.ts'
import type { TransactionPart } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkLooked, merge } from './merge.ts'
import type { FilesOptions } from './options.ts'
import { openView } from './view.ts'
import { isOver } from './work.ts'
import type { Work } from './work.ts'

/** How the changes of a call become those of everybody, or of the call around it. */
export type Settling = {
  /** Gives what takes them back, and what lets go of it; undefined where there was nothing to do. */
  commit(): Settled | undefined | Promise<Settled | undefined>
  /** Throws away what nobody got to see. */
  discard(): void | Promise<void>
}

/** Changes that are made and may still be taken back. */
export type Settled = { undo(): void | Promise<void>; end(): void | Promise<void> }

/** The changes of one call. It is a class because one is made in each call, and most never look at their files. */
export class FilesPart implements TransactionPart<Filesystem> {
  private opened: Filesystem | undefined
  private settled: Settled | undefined

  constructor(
    private readonly work: Work,
    private readonly limits: Required<FilesOptions>,
    private readonly settling: Settling,
  ) {}

  get view(): Filesystem {
    return (this.opened ??= openView(this.work, this.limits))
  }

  begin({ readOnly }: { readonly readOnly: boolean }): FilesPart {
    const { work: outer } = this
    const inner: Work = {
      root: outer.root,
      base: outer.base,
      storage: outer.storage,
      readOnly: readOnly || outer.readOnly,
      looked: new Set(),
      isOver: false,
      outer,
    }
    return new FilesPart(inner, this.limits, settleInside(inner, outer))
  }

  async commit(): Promise<void> {
    this.work.isOver = true
    this.settled = await this.settling.commit()
  }

  async rollback(): Promise<void> {
    this.work.isOver = true
    const { settled } = this
    this.settled = undefined
    if (settled) await settled.undo()
    else await this.settling.discard()
  }

  async end(): Promise<void> {
    const { settled } = this
    this.settled = undefined
    await settled?.end()
  }
}

// The call around it may have gone on, and other calls inside it may have ended.
function settleInside(inner: Work, outer: Work): Settling {
  const before = inner.root
  return {
    commit() {
      if (isOver(outer))
        throw new ToolError('CANCELLED', 'the call that this one is part of is over')
      for (const path of inner.looked) outer.looked.add(path)
      if (inner.root === before) return undefined
      checkLooked(inner.looked, before, outer.root, inner.base)
      const last = outer.root
      const merged = (outer.root = merge(before, inner.root, last))
      return {
        undo() {
          outer.root = merge(merged, last, outer.root)
        },
        end: () => undefined,
      }
    },
    discard: () => undefined,
  }
}

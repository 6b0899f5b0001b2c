import type { Filesystem } from '../../contract/filesystem.ts'
import type { TransactionPart } from '../../contract/state.ts'
import type { FilesOptions } from './options.ts'
import { openView } from './view.ts'
import type { Work } from './work.ts'

/** How the changes of a call become those of everybody. */
export type Settling = {
  /** Gives what takes them back, and what lets go of it; undefined where there was nothing to do. */
  commit(work: Work): Promise<Settled | undefined>
  /** Throws the changes away that nobody got to see. */
  discard(work: Work): void | Promise<void>
}

/** Changes that are made and may still be taken back. */
export type Settled = { undo(): void | Promise<void>; end(): void | Promise<void> }

/** The changes of one call. It is a class because one is made in each call, and most never look at their files. */
export class FilesPart implements TransactionPart<Filesystem> {
  private opened: Filesystem | undefined
  private settled: Settled | undefined

  constructor(private readonly work: Work, private readonly limits: Required<FilesOptions>, private readonly settling: Settling) {}

  get view(): Filesystem {
    return (this.opened ??= openView(this.work, this.limits))
  }

  async commit(): Promise<void> {
    this.work.isOver = true
    if (this.opened) this.settled = await this.settling.commit(this.work)
  }

  async rollback(): Promise<void> {
    this.work.isOver = true
    const { settled } = this
    this.settled = undefined
    if (settled) await settled.undo()
    else if (this.opened) await this.settling.discard(this.work)
  }

  async end(): Promise<void> {
    const { settled } = this
    this.settled = undefined
    await settled?.end()
  }
}

/**
 * Files that roll back with the state: `folderFiles`, `memoryFiles`, and `fileTools` for a model
 * that works on them. Their code is loaded when a call first touches its files.
 *
 * A call works on an immutable tree (`tree.ts`) over a base that does not change; `view.ts` is the
 * `Filesystem` that handlers see. A folder on disk is changed at the commit, all or nothing:
 * contents are staged (`staging.ts`), the commit is written down as a plan first
 * (`commit-plan.ts`), and whoever finds an unfinished plan reverts it (`folder.ts`).
 */

import { resolve } from 'node:path'
import type { Filesystem, Transactional, TransactionPart } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { createFilesystem } from '../state/state.ts'
import type { MemoryFiles, MemoryFilesInput, MemoryFilesJson } from './memory.ts'
import type { FolderFilesOptions, MemoryFilesOptions } from './read.ts'

/**
 * The files of a folder, which roll back when a call fails: for `createState({ filesystem })`. The
 * folder has to be there. No path and no link leads out of it.
 */
export function folderFiles(
  root: string,
  options: FolderFilesOptions = {},
): Transactional<Filesystem> {
  // Where it lies is decided now, wherever the process goes later.
  const place = resolve(root)
  const late = createLazyFiles(async () => {
    const { openFolderFiles } = await import('./folder.ts')
    return openFolderFiles(place, options)
  })
  return { begin: late.begin }
}

/**
 * Files in memory that roll back when a call fails. A call that fails costs nothing, because trees
 * share all that is the same in them.
 */
export function memoryFiles(
  initial: MemoryFilesInput = {},
  options: MemoryFilesOptions = {},
): MemoryFiles {
  const late = createLazyFiles(async () => {
    const { openMemoryFiles } = await import('./memory.ts')
    return openMemoryFiles(initial, options)
  })
  return { begin: late.begin, toJSON: () => late.opened()?.toJSON() ?? toMemoryJson(initial) }
}

function toMemoryJson({ files = {}, folders = [] }: MemoryFilesInput): MemoryFilesJson {
  const texts = Object.entries(files).map(
    ([path, content]) =>
      [
        path,
        content instanceof Uint8Array
          ? { base64: Buffer.from(content).toString('base64') }
          : content,
      ] as const,
  )
  return { version: 1, files: Object.fromEntries(texts), folders }
}

/** Files whose code is loaded when a call first looks at them. */
function createLazyFiles<Opened extends Transactional<Filesystem>>(
  load: () => Promise<Opened>,
): {
  begin: Transactional<Filesystem>['begin']
  /** Undefined until then. */ opened(): Opened | undefined
} {
  let opened: Opened | undefined
  let opening: Promise<Opened> | undefined
  return {
    opened: () => opened,
    begin(options) {
      if (opened) return opened.begin(options)
      return beginLazily(async () => {
        try {
          opened = await (opening ??= load())
        } catch (error) {
          // The next call may find what was missing.
          opening = undefined
          throw error
        }
        return opened.begin(options)
      })
    },
  }
}

function beginLazily(
  begin: () => Promise<TransactionPart<Filesystem>>,
): TransactionPart<Filesystem> {
  let part: Promise<TransactionPart<Filesystem>> | undefined
  let isOver = false
  const view = createFilesystem(async (use) => {
    if (isOver && !part)
      throw new ToolError('CANCELLED', 'the call that files were wanted for is over', {
        suggestion: 'Wait for everything that a handler starts before it returns',
      })
    return use((await (part ??= begin())).view)
  })
  // What could not be opened changed nothing.
  const begun = async (): Promise<TransactionPart<Filesystem> | undefined> => {
    isOver = true
    return part?.catch(() => undefined)
  }
  return {
    view,
    commit: async () => (await begun())?.commit(),
    rollback: async () => (await begun())?.rollback(),
    end: async () => (await begun())?.end?.(),
    begin: (options) => beginLazily(async () => (await (part ??= begin())).begin(options)),
  }
}

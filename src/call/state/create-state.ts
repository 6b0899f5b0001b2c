import type { Filesystem } from '../../contract/filesystem.ts'
import type { State, StateJson, Transactional } from '../../contract/state.ts'
import { behind } from './base.ts'
import { noFiles } from './parts.ts'
import { Root } from './root.ts'
import { readSnapshot } from './slices.ts'

/** What a state begins with. */
export type StateOptions = {
  /** Tells it from others in events; default: that of `from`, else a new one. */
  readonly id?: string
  /** What `toJSON` of an earlier state gave; throws CONFIG for anything else, and for another version. */
  readonly from?: StateJson
  /** Files that roll back with the slices: `folderFiles(root)` or `memoryFiles()`. */
  readonly filesystem?: Transactional<Filesystem>
}

/** A store in memory. Each call sees it as it was when the call began; one that fails leaves nothing of itself behind, apart from log slices. */
export function createState({ id, from, filesystem }: StateOptions = {}): State {
  const root = new Root(id, from, filesystem)
  let files: Filesystem | undefined
  const state: State & { readonly [behind]: Root } = {
    [behind]: root,
    id: root.id,
    get: (slice) => root.view(slice),
    snapshot: () => ({ slices: root.slices }),
    restore: (snapshot) => root.absorb(readSnapshot(snapshot)),
    toJSON: () => root.toJSON(root.slices),
    resources: root.singletons.resources(),
    get filesystem() {
      if (!filesystem) throw noFiles()
      return (files ??= oneByOne(filesystem))
    },
    close: () => root.singletons.close(),
  }
  return state
}

// Outside of a call each change stands for itself.
function oneByOne(filesystem: Transactional<Filesystem>): Filesystem {
  const call =
    (method: keyof Filesystem) =>
    async (...given: unknown[]): Promise<unknown> => {
      const part = filesystem.begin({ readOnly: false })
      try {
        const answer = await (part.view[method] as (...given: unknown[]) => Promise<unknown>)(
          ...given,
        )
        await part.commit()
        await part.end?.()
        return answer
      } catch (error) {
        await part.rollback()
        throw error
      }
    }
  const methods: { readonly [Method in keyof Filesystem]: true } = {
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
  return Object.fromEntries(
    (Object.keys(methods) as (keyof Filesystem)[]).map((method) => [method, call(method)]),
  ) as unknown as Filesystem
}

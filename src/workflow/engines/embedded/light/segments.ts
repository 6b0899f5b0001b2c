import { statSync } from 'node:fs'
import { ToolError } from '../../../../contract/tool-error.ts'
import { sortOut } from './execution-records.ts'
import type { ExecutionRecords } from './execution-records.ts'
import { listSegments, newSegmentName, segmentPaths } from './light-paths.ts'
import type { LightPaths } from './light-paths.ts'
import { readFolder } from './read-folder.ts'
import { FULL_BYTES, openSegment } from './segment.ts'
import type { Segment } from './segment.ts'
import { conflict, ownerOf } from './segment-lock.ts'

/** The segments of one engine: the one that new executions go into, and those that still have some to finish. */
export type Segments = {
  /** The one for new executions; undefined where it has to be made first. */
  current(): Segment | undefined
  next(): Promise<Segment>
  /** Takes segments whose owners are gone, with the executions in them that are not over: all, or the one that has a certain execution. Each counts as live until whoever took it says otherwise. */
  takeOver(
    id: string | undefined,
    live: ReadonlyMap<string, unknown>,
  ): Promise<
    readonly { readonly segment: Segment; readonly executions: readonly ExecutionRecords[] }[]
  >
  writeIndex(): void
  close(): Promise<void>
}

const LOOK_AFTER_MS = 1000

/** Opens no file before one is needed. */
export function openSegments(paths: LightPaths, now: () => number): Segments {
  const open = new Set<Segment>()
  let newest: Segment | undefined
  let opening: Promise<Segment> | undefined

  // Those that are finished and take nothing new are given back.
  const tidy = (): void => {
    for (const segment of open) {
      if ((segment === newest && !segment.isFull) || segment.live > 0) continue
      open.delete(segment)
      void segment.close().catch(() => undefined)
    }
  }
  const timer = setInterval(tidy, LOOK_AFTER_MS).unref()

  const openNext = async (): Promise<Segment> => {
    const free = await takeFree(paths)
    newest = free ?? (await openSegment(paths, newSegmentName(now())))
    open.add(newest)
    return newest
  }
  return {
    current: () => (newest && !newest.isFull ? newest : undefined),
    next: () =>
      (opening ??= openNext().finally(() => {
        opening = undefined
      })),
    async takeOver(id, live) {
      const listed = [...(await readFolder(paths)).values()].filter(
        (one) => one.s === undefined && !live.has(one.w),
      )
      const wanted = id === undefined ? listed : listed.filter(({ w }) => w === id)
      const names = new Set(wanted.map(({ j }) => j))
      if (id !== undefined && names.size === 0) await refuse(paths, id)
      const taken = []
      for (const name of names) {
        const files = segmentPaths(paths, name)
        const isMine = [...open].some((segment) => segment.name === name)
        const owner = ownerOf(files)
        if (isMine || owner) {
          if (id !== undefined && !isMine) throw conflict(files, id, owner)
          continue
        }
        const segment = await openSegment(paths, name, { read: true }).catch((error: unknown) => {
          // Somebody else was faster, and goes on with them.
          if (id === undefined && ToolError.is(error) && error.code === 'CONFLICT') return undefined
          throw error
        })
        if (!segment) continue
        // Held until they go on.
        segment.live += 1
        open.add(segment)
        const executions = [...sortOut(segment.records, files.journal).values()].filter(
          (one) => !one.end && !one.records.some(({ t }) => t === 'moved'),
        )
        taken.push({ segment, executions })
      }
      return taken
    },
    writeIndex() {
      for (const segment of open) segment.writeIndex()
    },
    async close() {
      clearInterval(timer)
      await opening?.catch(() => undefined)
      const results = await Promise.allSettled([...open].map((segment) => segment.close()))
      open.clear()
      newest = undefined
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  }
}

// A process that does little leaves a file that the next can go on with, so that there are not as many files as processes.
async function takeFree(paths: LightPaths): Promise<Segment | undefined> {
  const unfinished = new Set(
    [...(await readFolder(paths)).values()].flatMap((one) => (one.s === undefined ? [one.j] : [])),
  )
  for (const name of listSegments(paths).reverse()) {
    const files = segmentPaths(paths, name)
    if (
      unfinished.has(name) ||
      ownerOf(files) ||
      (statSync(files.journal, { throwIfNoEntry: false })?.size ?? FULL_BYTES) >= FULL_BYTES / 2
    )
      continue
    const taken = await openSegment(paths, name).catch(() => undefined)
    if (taken) return taken
  }
  return undefined
}

/** Says why an execution cannot be taken. */
export async function refuse(paths: LightPaths, id: string): Promise<never> {
  const one = (await readFolder(paths)).get(id)
  if (!one)
    throw new ToolError('NOT_FOUND', `there is no workflow '${id}' in ${paths.root}`, {
      suggestion: 'toolable workflow list',
    })
  if (one.s === 'moved')
    throw new ToolError('CONFLICT', `${id} is a run of its own now`, {
      suggestion: `toolable resume ${id}`,
    })
  if (one.s === undefined) throw conflict(segmentPaths(paths, one.j), id)
  throw new ToolError(
    'CONFLICT',
    `${id} is over: it has ${one.s === 'cancelled' ? 'been cancelled' : one.s}`,
    { suggestion: 'toolable workflow list' },
  )
}

import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Reins } from '../../hold.ts'
import { sendSignal } from '../../host.ts'
import type { KnownProcess } from '../../process-table.ts'
import { isLeaving, isStillThere, listChildrenOf, readProcess } from '../../process-table.ts'

/** How long the end of a namespace may take before its owner is killed too, and before nobody waits for it any more. */
const PATIENCE = 500
const LONGEST = 3000
/** It takes about a millisecond, which a clock would make two. */
const SOON = 1

/** What bubblewrap tells about a sandbox, in JSON objects. */
export type Status = {
  /** The first process of the namespace; all others die with it. */
  first(): KnownProcess | undefined
  /** Whether the command inside came to an end of its own. To be asked when bubblewrap is over: waits until all that it told is read. */
  hasEnded(): Promise<boolean>
  /** Resolves with the first process, or undefined where there never was one. */
  readonly known: Promise<KnownProcess | undefined>
}

/** Reads what bubblewrap tells. */
export function readStatus(stream: Readable): Status {
  let text = ''
  let first: KnownProcess | undefined
  let resolve: (first: KnownProcess | undefined) => void
  const known = new Promise<KnownProcess | undefined>((settle) => {
    resolve = settle
  })
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const pid = first ? undefined : /"child-pid": (\d+)\b\D/.exec(text)?.[1]
    if (pid === undefined) return
    first = { pid: Number(pid), start: readProcess(Number(pid))?.start ?? '' }
    resolve(first)
  })
  const told = new Promise<void>((settle) =>
    stream
      .on('error', () => {})
      .on('close', () => {
        resolve(first)
        settle()
      }),
  )
  const isTold = (): boolean => text.includes('"exit-code"')
  const handle = stream as Readable & { unref?(): void }
  handle.unref?.()
  return {
    first: () => first,
    known,
    async hasEnded() {
      // Its last words may still be in the pipe when its end is known.
      if (!isTold()) await within(PATIENCE, told)
      return isTold()
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

async function within(milliseconds: number, wanted: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    wanted,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds)
    }),
  ])
  clearTimeout(timer)
}

/** Reins of a child that lives in a process namespace. `depth` is how far below the first process the tool stands. */
export function leadNamespace(
  child: ChildProcess,
  pid: number,
  status: Status,
  depth: number,
): Reins {
  let last: NodeJS.Timeout | undefined
  const killFirst = (): boolean => {
    const first = status.first()
    return first !== undefined && isStillThere(first) && sendSignal(first.pid, 'SIGKILL')
  }
  const kill = (): void => {
    // Its owner waits until everything inside is dead, so that he is left alone.
    if (!killFirst()) sendSignal(-pid, 'SIGKILL')
    else
      last ??= setTimeout(
        () => child.exitCode === null && child.signalCode === null && sendSignal(-pid, 'SIGKILL'),
        PATIENCE,
      ).unref()
  }
  return {
    root: () => status.first()?.pid,
    // It may have said something before we heard who it is.
    warn: () =>
      void status.known.then((first) => {
        const tool = findTool(first?.pid, depth)
        if (tool === undefined || !sendSignal(tool, 'SIGTERM')) kill()
      }),
    kill,
    clear: async () => {
      clearTimeout(last)
      sendSignal(-pid, 'SIGKILL')
      await Promise.race([
        status.known,
        new Promise((resolve) => setTimeout(resolve, PATIENCE).unref()),
      ])
      const began = performance.now()
      for (
        let waited = 0;
        waited < LONGEST && killFirst() && !isLeaving(status.first()!.pid);
        waited = performance.now() - began
      )
        await (waited < SOON ? nextTurn() : sleep(1))
    },
  }
}

function findTool(pid: number | undefined, depth: number): number | undefined {
  const row = pid === undefined ? undefined : readProcess(pid)
  if (depth === 0 || !row) return row?.pid
  return findTool(listChildrenOf(row)[0], depth - 1)
}

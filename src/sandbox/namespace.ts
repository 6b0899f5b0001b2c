/**
 * Controls a child that lives in a PID namespace, through the status messages of bubblewrap.
 */

import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { ProcessController } from '../process/child.ts'
import { sendSignal } from '../process/host.ts'
import type { ProcessIdentity } from '../process/process-table.ts'
import { isAlive, isExiting, listAllChildren, readProcess } from '../process/process-table.ts'
import { delay, waitAtMost } from '../util/async.ts'

/** How long the end of a namespace may take before its owner is killed too, and before we give up. */
const NAMESPACE_EXIT_MS = 500
const MAX_CLEANUP_MS = 3000
/** The end takes about a millisecond, and a timer would take two. */
const SPIN_MS = 1

/** What bubblewrap reports about a sandbox, in JSON objects. */
export type SandboxStatus = {
  /** The first process of the namespace; all others die with it. */
  getFirstProcess(): ProcessIdentity | undefined
  /** Whether the command inside has exited. Call it after bubblewrap has ended. */
  hasEnded(): Promise<boolean>
  /** Resolves to the first process, or to undefined if there was none. */
  readonly started: Promise<ProcessIdentity | undefined>
}

/** Reads the status messages of bubblewrap. */
export function readSandboxStatus(stream: Readable): SandboxStatus {
  let text = ''
  let first: ProcessIdentity | undefined
  let resolve: (first: ProcessIdentity | undefined) => void
  const started = new Promise<ProcessIdentity | undefined>((settle) => {
    resolve = settle
  })
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const pid = first ? undefined : /"child-pid": (\d+)\b\D/.exec(text)?.[1]
    if (pid === undefined) return
    first = { pid: Number(pid), start: readProcess(Number(pid))?.start ?? '' }
    resolve(first)
  })
  const closed = new Promise<void>((settle) =>
    stream
      .on('error', () => {})
      .on('close', () => {
        resolve(first)
        settle()
      }),
  )
  const hasExitCode = (): boolean => text.includes('"exit-code"')
  const handle = stream as Readable & { unref?(): void }
  handle.unref?.()
  return {
    getFirstProcess: () => first,
    started,
    async hasEnded() {
      // The last message may still be in the pipe.
      if (!hasExitCode()) await waitAtMost(NAMESPACE_EXIT_MS, closed)
      return hasExitCode()
    },
  }
}

/**
 * Creates the controller of a child in a PID namespace. `depth` is how far below the first process
 * the tool is.
 */
export function createNamespaceController(
  child: ChildProcess,
  pid: number,
  status: SandboxStatus,
  depth: number,
): ProcessController {
  let last: NodeJS.Timeout | undefined
  const killFirst = (): boolean => {
    const first = status.getFirstProcess()
    return first !== undefined && isAlive(first) && sendSignal(first.pid, 'SIGKILL')
  }
  const kill = (): void => {
    // Bubblewrap waits until everything inside is dead, so it is not killed yet.
    if (!killFirst()) sendSignal(-pid, 'SIGKILL')
    else
      last ??= setTimeout(
        () => child.exitCode === null && child.signalCode === null && sendSignal(-pid, 'SIGKILL'),
        NAMESPACE_EXIT_MS,
      ).unref()
  }
  return {
    getRootPid: () => status.getFirstProcess()?.pid,
    // The tool may produce output before its process is known.
    terminate: () =>
      void status.started.then((first) => {
        const tool = findToolPid(first?.pid, depth)
        if (tool === undefined || !sendSignal(tool, 'SIGTERM')) kill()
      }),
    kill,
    cleanUp: async () => {
      clearTimeout(last)
      sendSignal(-pid, 'SIGKILL')
      await waitAtMost(NAMESPACE_EXIT_MS, status.started)
      const began = performance.now()
      for (
        let waited = 0;
        waited < MAX_CLEANUP_MS && killFirst() && !isExiting(status.getFirstProcess()!.pid);
        waited = performance.now() - began
      )
        await (waited < SPIN_MS ? setImmediate() : delay(1))
    },
  }
}

function findToolPid(pid: number | undefined, depth: number): number | undefined {
  const row = pid === undefined ? undefined : readProcess(pid)
  if (depth === 0 || !row) return row?.pid
  return findToolPid(listAllChildren(row)[0], depth - 1)
}

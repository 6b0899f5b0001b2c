/**
 * The descriptors a child gets: real pipes instead of Node's sockets, files in memory for its input, and nothing that this process inherited itself.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process'
import {
  closeSync,
  constants,
  fchmodSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { readTextFile } from '../util/files.ts'
import { once } from '../util/values.ts'
import { isLinux } from './host.ts'

/** The stdin of a child: a pipe of ours, a descriptor, or nothing. */
export type ChildInput = 'pipe' | 'ignore' | number

/** The streams of a child, from our side. */
export type ChildChannels = {
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** The names of the child's ends in /proc; empty when they are unknown. */
  readonly pipeNames: readonly string[]
  /** Call it when the child has ended and everything is read. */
  release(): void
}

/** Streams for a child that is about to start. */
export type PendingChannels = {
  readonly stdio: StdioOptions
  connect(child: ChildProcess): ChildChannels
  /** Call it when the child did not start. */
  discard(): void
}

/** Opens the output streams of a child: real pipes if possible, otherwise the sockets of Node. */
export async function openChannels(stdin: ChildInput): Promise<PendingChannels> {
  const pipes = await takePipes(2)
  const ends = pipes && openPipeEnds(pipes)
  if (!pipes || !ends)
    return { stdio: [stdin, 'pipe', 'pipe'], connect: connectSockets, discard: () => {} }
  const { Socket } = await import('node:net')
  const listen = (reader: number): Readable =>
    new Socket({ fd: reader, readable: true, writable: false })
  const closeWriters = (): void => ends.forEach(({ writer }) => closeSync(writer))
  return {
    stdio: [stdin, ...ends.map(({ writer }) => writer)],
    connect(child) {
      closeWriters()
      const [stdout, stderr] = ends.map(({ reader }) => listen(reader)) as [Readable, Readable]
      const release = (): void =>
        [stdout, stderr].forEach((stream, index) => pipes[index]!.release(stream.readableEnded))
      return {
        stdin: child.stdin,
        stdout,
        stderr,
        pipeNames: pipes.map(({ name }) => name),
        release,
      }
    },
    discard() {
      closeWriters()
      for (const { reader } of ends) closeSync(reader)
      for (const pipe of pipes) pipe.release(true)
    },
  }
}

// Without free descriptors, starting the child fails too and reports the reason.
function openPipeEnds(
  pipes: readonly NamedPipe[],
): readonly ReturnType<NamedPipe['open']>[] | undefined {
  const ends: ReturnType<NamedPipe['open']>[] = []
  try {
    for (const pipe of pipes) ends.push(pipe.open())
    return ends
  } catch {
    for (const end of ends) Object.values(end).forEach((descriptor) => closeSync(descriptor))
    for (const pipe of pipes) pipe.release(true)
    return undefined
  }
}

function connectSockets({ stdin, stdout, stderr }: ChildProcess): ChildChannels {
  return { stdin, stdout: stdout!, stderr: stderr!, pipeNames: [], release: () => {} }
}

/** One run of mkfifo creates this many. */
const PIPE_BATCH_SIZE = 6

/**
 * A real pipe. Node's pipes are sockets, which a child cannot open by name (`echo > /dev/stderr`
 * fails) and whose other end cannot be found in /proc.
 */
type NamedPipe = {
  /** The name in /proc, in every process that has an end open. */
  readonly name: string
  /** The writer is for the child, and blocks. */
  open(): { readonly reader: number; readonly writer: number }
  /** Only a pipe that was read to its end, without writers, is used for another child. */
  release(isEmpty: boolean): void
}

const sparePipes: NamedPipe[] = []

/** Returns undefined when the system has no pipes with names. */
async function takePipes(count: number): Promise<readonly NamedPipe[] | undefined> {
  if (!isLinux) return undefined
  if (sparePipes.length < count) sparePipes.push(...(await makePipes()))
  return sparePipes.length < count ? undefined : sparePipes.splice(0, count)
}

async function makePipes(): Promise<NamedPipe[]> {
  const { spawn } = await import('node:child_process')
  const folder = makePipeFolder()
  if (folder === undefined) return []
  try {
    const paths = Array.from({ length: PIPE_BATCH_SIZE }, (_, index) => join(folder, String(index)))
    // The folder is private. A child of another user opens its streams by name too.
    const status = await new Promise((resolve) => {
      const child = spawn('mkfifo', ['-m', '666', ...paths], {
        stdio: 'ignore',
        env: { PATH: '/usr/bin:/bin' },
      })
      child.once('error', resolve).once('exit', resolve)
    })
    return status === 0
      ? paths
          .map((path) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
          .map(createNamedPipe)
      : []
  } catch {
    return []
  } finally {
    // The open descriptors keep the pipes alive.
    rmSync(folder, { recursive: true, force: true })
  }
}

function makePipeFolder(): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), 'toolable-pipes-'))
  } catch {
    return undefined
  }
}

// A descriptor that is never read keeps the pipe alive, so that /proc can open its ends repeatedly.
function createNamedPipe(keeper: number): NamedPipe {
  const path = `/proc/self/fd/${keeper}`
  const pipe: NamedPipe = {
    get name() {
      return readlinkSync(path)
    },
    open() {
      const writer = openSync(path, constants.O_WRONLY)
      try {
        return { writer, reader: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
      } catch (error) {
        closeSync(writer)
        throw error
      }
    },
    release: (isEmpty) => {
      if (isEmpty) sparePipes.push(pipe)
      else closeSync(keeper)
    },
  }
  return pipe
}

const O_CLOEXEC = 0o2000000

/**
 * Descriptors above 2 that our parent process left open and that every program we start would
 * inherit. Node closes them in its children only up to the first gap in their numbers.
 */
const listInheritedDescriptors = once((): readonly number[] => {
  if (!isLinux) return []
  const max = readMaxDescriptors()
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && descriptor < max && survivesExec(descriptor))
})

// A descriptor beyond the limit of the process cannot be replaced.
function readMaxDescriptors(): number {
  const limits = readTextFile('/proc/self/limits') ?? ''
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity)
}

/** Replaces those descriptors by an empty file in the `stdio` of a child. Call the result after the start. */
export function maskInheritedDescriptors(stdio: unknown[]): () => void {
  const leaking = listInheritedDescriptors().filter((descriptor) => descriptor >= stdio.length)
  if (leaking.length === 0) return () => {}
  const empty = openSync('/dev/null', 'r')
  for (const descriptor of leaking) stdio[descriptor] = empty
  for (let at = 0; at < stdio.length; at += 1) stdio[at] ??= 'ignore'
  return () => closeSync(empty)
}

function survivesExec(descriptor: number): boolean {
  const info = readTextFile(`/proc/self/fdinfo/${descriptor}`) ?? ''
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
}

/** A folder in memory, so that secrets never reach a disk. */
const MEMORY_FOLDER = '/dev/shm'

let memoryFileCount = 0

/**
 * Opens a nameless file in memory with these bytes, for reading. Returns undefined when the system
 * does not support it.
 */
export function openMemoryFile(bytes: Uint8Array): number | undefined {
  if (!isLinux) return undefined
  let file: number | undefined
  try {
    const path = `${MEMORY_FOLDER}/toolable-${performance.timeOrigin}-${(memoryFileCount += 1)}-${Math.random().toString(36).slice(2)}`
    file = openSync(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    )
    unlinkSync(path)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    // A child of another user opens its stdin by name too.
    fchmodSync(file, 0o444)
    return reopenMemoryFile(file)
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Opens another descriptor of the same file, which reads from its beginning. */
export function reopenMemoryFile(file: number): number {
  return openSync(`/proc/self/fd/${file}`, constants.O_RDONLY)
}

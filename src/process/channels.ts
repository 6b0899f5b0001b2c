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
  readFileSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { isLinux } from './host.ts'

/** What a child reads: a pipe of ours, a descriptor, or nothing. */
export type ChildInput = 'pipe' | 'ignore' | number

/** The streams of a child, from our side. */
export type ChildChannels = {
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** What /proc calls the ends of the child; empty where nobody knows. */
  readonly pipeNames: readonly string[]
  /** When the child is over and everything is read. */
  release(): void
}

/** Streams for a child that is about to start. */
export type PendingChannels = {
  readonly stdio: StdioOptions
  connect(child: ChildProcess): ChildChannels
  /** Where the child did not start. */
  discard(): void
}

/** Opens what a child writes to: real pipes where there are any, otherwise the sockets of Node. */
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

// Where no descriptor is left the start of the child fails too, and says so.
function openPipeEnds(
  pipes: readonly NamedPipe[],
): readonly ReturnType<NamedPipe['open']>[] | undefined {
  const ends: ReturnType<NamedPipe['open']>[] = []
  try {
    for (const pipe of pipes) ends.push(pipe.open())
    return ends
  } catch {
    for (const { reader, writer } of ends)
      [reader, writer].forEach((descriptor) => closeSync(descriptor))
    for (const pipe of pipes) pipe.release(true)
    return undefined
  }
}

function connectSockets({ stdin, stdout, stderr }: ChildProcess): ChildChannels {
  return { stdin, stdout: stdout!, stderr: stderr!, pipeNames: [], release: () => {} }
}

/** How many are made at once: one program brings them all. */
const PIPE_BATCH_SIZE = 6

/**
 * A real pipe. The pipes that Node makes are sockets, which a child cannot open by name (`echo >
 * /dev/stderr` fails), and whose other end nobody can find.
 */
type NamedPipe = {
  /** As /proc names it in every process that holds an end. */
  readonly name: string
  /** Two descriptors: the writer is for the child, and blocks. */
  open(): { readonly reader: number; readonly writer: number }
  /**
   * Gives it back. Only a pipe that was read to its end, and that nobody can write to any more, may
   * serve another child.
   */
  release(isEmpty: boolean): void
}

const sparePipes: NamedPipe[] = []

/** So many pipes, or undefined where the system has none; then the sockets of Node have to do. */
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
    // Nobody else gets into the folder; a child of another user opens its streams by name too.
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
    // The open descriptors keep the pipes; nothing of them stays on the disk.
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

// A descriptor that is never read keeps the pipe, and /proc opens its ends again and again.
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

let inheritedDescriptors: readonly number[] | undefined

/**
 * Descriptors above 2 that would reach every program that we start: those that our own process was
 * given by whoever started it. Node closes them in its children
 * only up to the first gap in their numbers.
 */
function listInheritedDescriptors(): readonly number[] {
  inheritedDescriptors ??= isLinux
    ? readdirSync('/proc/self/fd')
        .map(Number)
        .filter(
          (descriptor) =>
            descriptor > 2 && descriptor < readMaxDescriptors() && survivesExec(descriptor),
        )
    : []
  return inheritedDescriptors
}

// Nothing can be put in the place of a descriptor beyond the limit of the process.
function readMaxDescriptors(): number {
  try {
    return Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity,
    )
  } catch {
    return Infinity
  }
}

/**
 * Puts an empty file in the place of each of those, in the list of what a child gets; gives a
 * function to call when the child has started.
 */
export function maskInheritedDescriptors(stdio: unknown[]): () => void {
  const leaking = listInheritedDescriptors().filter((descriptor) => descriptor >= stdio.length)
  if (leaking.length === 0) return () => {}
  const empty = openSync('/dev/null', 'r')
  for (const descriptor of leaking) stdio[descriptor] = empty
  for (let at = 0; at < stdio.length; at += 1) stdio[at] ??= 'ignore'
  return () => closeSync(empty)
}

function survivesExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(
      readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'),
    )?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch {
    return false
  }
}

/** A folder in memory, so that what is secret never gets on a disk. */
const MEMORY_FOLDER = '/dev/shm'

let memoryFileCount = 0

/**
 * A descriptor from which these bytes can be read, then their end: a nameless file in memory that
 * everybody who gets it may read and nobody else can find. Undefined where the system has no such
 * place.
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

/** Another descriptor of the same nameless file, which is read from its beginning. */
export function reopenMemoryFile(file: number): number {
  return openSync(`/proc/self/fd/${file}`, constants.O_RDONLY)
}

/**
 * The real stdin, stdout and stderr of the process as `Io`.
 */

import fs from 'node:fs'
import type { ByteSource, Io, Screen, TextSink } from '../protocol/io.ts'

// Kept from before anybody redirects stray writes: these reach the real stdout.
const { writeSync, write: writeAsync, fstatSync } = fs
// This much fits into an empty pipe; more could block until the reader reads.
const PIPE_CAPACITY_BYTES = 65_536
const EAGAIN_RETRY_MS = 5
const MEMORY_DEVICE_MAJOR = 1

/**
 * The real process as Io. Calls `onClosed` when the reader of stdout is gone, and says whether that
 * is because the terminal closed.
 */
export function createProcessIo(onClosed: (hungUp: boolean) => void): Io {
  const stderr = createFileSink(2, () => undefined)
  return {
    stdin: createStdinSource(),
    stdout: createFileSink(1, onClosed),
    stderr,
    get screen() {
      return stderr.isTTY && process.env['TERM'] !== 'dumb' ? openScreen : undefined
    },
    env: process.env,
    cwd: process.cwd(),
    now: Date.now,
  }
}

// Hardly any program draws.
async function openScreen(): Promise<Screen> {
  const { createProcessScreen } = await import('./process-screen.ts')
  return createProcessScreen()
}

// process.stdout is never touched: it makes the pipe non-blocking, cuts output at exit, and costs
// milliseconds to load.
function createFileSink(fd: number, onClosed: (hungUp: boolean) => void): TextSink {
  let queue: Promise<void> = Promise.resolve()
  let waiting = 0
  let closed = false
  let failure: Error | undefined
  let terminal: boolean | undefined

  const close = (error: NodeJS.ErrnoException): void => {
    if (closed) return
    closed = true
    if (!['EPIPE', 'ECONNRESET', 'EBADF', 'EIO'].includes(error.code ?? '')) failure = error
    onClosed(error.code === 'EIO')
  }
  const enqueue = (bytes: Buffer): Promise<void> => {
    waiting++
    queue = queue
      .then(() => (closed ? undefined : writeAll(fd, bytes)))
      .catch(close)
      .finally(() => waiting--)
    return queue
  }
  const takeFailure = (): void => {
    const taken = failure
    failure = undefined
    if (taken) throw taken
  }
  const isTerminal = (): boolean => (terminal ??= process.getBuiltinModule('node:tty').isatty(fd))
  return {
    write(text) {
      if (closed || text === '') return
      const bytes = Buffer.from(text)
      if (waiting > 0 || bytes.length > PIPE_CAPACITY_BYTES) return void enqueue(bytes)
      let sent = 0
      try {
        while (sent < bytes.length) sent += writeSync(fd, bytes, sent)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') void enqueue(bytes.subarray(sent))
        else close(error as NodeJS.ErrnoException)
      }
    },
    send: (text) => (closed ? Promise.resolve() : enqueue(Buffer.from(text))),
    flush: () => queue.then(takeFailure),
    unblock: () => makeNonBlocking(fd),
    get closed() {
      return closed
    },
    get isTTY() {
      return isCharacterDevice(fd) && isTerminal()
    },
    get isPipe() {
      return isOpenDescriptor(fd) && isPipe(fstatSync(fd))
    },
    get columns() {
      return getTerminalWidth()
    },
    identity() {
      const stats = fstatSync(fd)
      return `${stats.dev}:${stats.ino}`
    },
  }
}

function isPipe(stats: fs.Stats): boolean {
  return stats.isFIFO() || stats.isSocket()
}

// Opening a pipe as a socket of node makes the descriptor non-blocking; the socket itself is never
// used, and never closed.
function makeNonBlocking(fd: number): void {
  if (!isPipe(fstatSync(fd))) return
  const { Socket } = process.getBuiltinModule('node:net')
  new Socket({ fd, readable: false, writable: true }).unref()
}

async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  let sent = 0
  while (sent < bytes.length) {
    sent += await new Promise<number>((resolve, reject) => {
      writeAsync(fd, bytes, sent, bytes.length - sent, null, (error, count) => {
        if (!error) resolve(count)
        else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), EAGAIN_RETRY_MS)
        else reject(error)
      })
    })
  }
}

function getTerminalWidth(): number {
  const declared = Number(process.env['COLUMNS'])
  if (Number.isInteger(declared) && declared > 0) return declared
  return process.stderr.columns || measureStdout() || 80
}

// Measured with a temporary stream: the process's own would stay and change the descriptor's mode.
function measureStdout(): number | undefined {
  const { isatty, WriteStream } = process.getBuiltinModule('node:tty')
  if (!isatty(1)) return undefined
  const stream = new WriteStream(1)
  const { columns } = stream
  stream.destroy()
  return columns
}

function createStdinSource(): ByteSource {
  let opened = false
  return {
    get isTTY() {
      return isCharacterDevice(0) && process.getBuiltinModule('node:tty').isatty(0)
    },
    get taken() {
      return opened
    },
    bytes() {
      if (opened) throw new Error('stdin has two readers')
      opened = true
      return readStdin()
    },
    each(take) {
      if (opened) throw new Error('stdin has two readers')
      opened = true
      return isOpenDescriptor(0) ? pumpStdin(take) : Promise.resolve()
    },
    close() {
      if (opened) process.stdin.destroy()
    },
  }
}

// A closed stdin reads as an empty one.
async function* readStdin(): AsyncGenerator<Uint8Array> {
  if (!isOpenDescriptor(0)) return
  try {
    for await (const chunk of process.stdin) yield chunk as Uint8Array
  } catch (error) {
    if (!isHarmlessError(error)) throw error
  }
}

function pumpStdin(take: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    stdin.on('data', (chunk: Uint8Array) => {
      try {
        const held = take(chunk)
        if (held) stdin.pause()
        held?.then(() => stdin.resume(), reject)
      } catch (error) {
        reject(error)
      }
    })
    stdin
      .once('end', resolve)
      .once('close', resolve)
      .once('error', (error) => (isHarmlessError(error) ? resolve() : reject(error)))
  })
}

// What a reader that went away, or a terminal that was taken, leaves behind.
function isHarmlessError(error: unknown): boolean {
  return ['ERR_STREAM_PREMATURE_CLOSE', 'EAGAIN', 'EIO', 'ECONNRESET'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  )
}

// /dev/null and the like are recognized by their device number, because asking whether something is
// a terminal loads the network stack.
function isCharacterDevice(fd: number): boolean {
  if (!isOpenDescriptor(fd)) return false
  const stats = fstatSync(fd)
  return (
    stats.isCharacterDevice() &&
    !(process.platform === 'linux' && stats.rdev >> 8 === MEMORY_DEVICE_MAJOR)
  )
}

function isOpenDescriptor(fd: number): boolean {
  try {
    fstatSync(fd)
    return true
  } catch {
    return false
  }
}

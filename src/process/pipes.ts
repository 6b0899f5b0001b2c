import { closeSync, constants, mkdtempSync, openSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLinux } from './host.ts'

/** How many are made at once: one program brings them all. */
const BATCH = 6

/**
 * A real pipe. The pipes that Node makes are sockets, which a child cannot open by name (`echo > /dev/stderr` fails), and whose other end nobody can find.
 */
export type NamedPipe = {
  /** As /proc names it in every process that holds an end. */
  readonly name: string
  /** Two descriptors: the writer is for the child, and blocks. */
  open(): { readonly reader: number; readonly writer: number }
  /** Gives it back. Only a pipe that was read to its end, and that nobody can write to any more, may serve another child. */
  release(isEmpty: boolean): void
}

const spare: NamedPipe[] = []

/** So many pipes, or undefined where the system has none; then the sockets of Node have to do. */
export async function takePipes(count: number): Promise<readonly NamedPipe[] | undefined> {
  if (!isLinux) return undefined
  if (spare.length < count) spare.push(...(await makePipes()))
  return spare.length < count ? undefined : spare.splice(0, count)
}

async function makePipes(): Promise<NamedPipe[]> {
  const { spawn } = await import('node:child_process')
  const folder = makeFolder()
  if (folder === undefined) return []
  try {
    const paths = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)))
    // Nobody else gets into the folder; a child of another user opens its streams by name too.
    const status = await new Promise((resolve) => {
      const child = spawn('mkfifo', ['-m', '666', ...paths], {
        stdio: 'ignore',
        env: { PATH: '/usr/bin:/bin' },
      })
      child.once('error', resolve).once('exit', resolve)
    })
    return status === 0
      ? paths.map((path) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)).map(keep)
      : []
  } catch {
    return []
  } finally {
    // The open descriptors keep the pipes; nothing of them stays on the disk.
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeFolder(): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), 'toolable-pipes-'))
  } catch {
    return undefined
  }
}

// A descriptor that is never read keeps the pipe, and /proc opens its ends again and again.
function keep(keeper: number): NamedPipe {
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
      if (isEmpty) spare.push(pipe)
      else closeSync(keeper)
    },
  }
  return pipe
}

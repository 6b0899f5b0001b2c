import type { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { getBuiltProgramMark } from '../protocol/built-program.ts'

/**
 * The process that calls run in, where a caller does not say otherwise. Besides the guard of
 * `process.exit`, the only place in `call/` that looks at it.
 */
export const host = {
  cwd: (): string => process.cwd(),
  env: (): { readonly [name: string]: string | undefined } => process.env,
  /**
   * Milliseconds on the monotonic clock. `performance.now` says the same and costs a millisecond to
   * load.
   */
  clock(): number {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
  /** Loaded late, because programs that only print help never call. */
  localStorage<Store>(): AsyncLocalStorage<Store> {
    const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks')
    return new AsyncLocalStorage<Store>()
  },
  pid: process.pid,
  platform: process.platform,
  arch: process.arch,
  /** The version of node, `v20.19.0`. */
  version: process.version,
  /** The number of our user; undefined where users have none. */
  uid: process.getuid?.(),
  /** The node that runs us; the one in PATH where ours is inside of the program. */
  node: getBuiltProgramMark()?.single ? 'node' : process.execPath,
  /** Whether node itself runs TypeScript whose types can be taken out. */
  stripsTypes: Boolean((process.features as { readonly typescript?: unknown }).typescript),
  /** Lets stack traces name the lines of the sources. */
  mapStackTraces: (): void => process.setSourceMapsEnabled(true),
  /**
   * Whether a process of this machine still runs; one of another user counts. `started` tells it
   * from a later process of the same number.
   */
  isAlive(pid: number, started?: string): boolean {
    try {
      process.kill(pid, 0)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
    }
    return started === undefined || (host.startOf(pid) ?? started) === started
  },
  /** When a process began, as the system counts; undefined where it does not tell. */
  startOf(pid: number): string | undefined {
    try {
      // The name in brackets may hold anything; the 20th field behind it is the start.
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
    } catch {
      return undefined
    }
  },
} as const

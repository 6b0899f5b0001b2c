/** The process that calls run in, where a caller does not say otherwise. Besides the guard of `process.exit`, the only place in `call/` that looks at it. */
export const host = {
  cwd: (): string => process.cwd(),
  env: (): { readonly [name: string]: string | undefined } => process.env,
  /** Milliseconds on the monotonic clock. `performance.now` says the same and costs a millisecond to load. */
  clock(): number {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
  pid: process.pid,
  platform: process.platform,
  /** Whether a process of this machine still runs; one of another user counts. */
  isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPERM'
    }
  },
} as const

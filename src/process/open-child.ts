import { begin } from './begin.ts'
import type { ChildEnd, ChildOptions } from './child-type.ts'

/** A child that is talked to in lines, as long as both want. What it says goes to `onLine` and `onErrorLine` of its options. */
export type OpenChild = {
  /** Undefined where it could not be started; then `end` says why. */
  readonly pid: number | undefined
  /** Sends a line. Resolves with true when the child can take more, with false when it takes nothing any more. */
  write(line: string): Promise<boolean>
  /** Tells the child that nothing more will come. */
  closeInput(): void
  /** Whether it keeps our own process alive; true in the beginning. */
  hold(alive: boolean): void
  /** Ends the whole tree, after `grace` or the milliseconds that are given; the reason is 'cancelled'. Harmless when it is over already. */
  kill(patience?: number): void
  readonly end: Promise<ChildEnd>
}

const GOES_ON = Promise.resolve(true)
const IS_OVER = Promise.resolve(false)

/** Starts a child that stays. Never throws; `timeout` is the longest life, `maxStdout` has no limit unless one is given, and `input` is written first. */
export async function openChild(options: ChildOptions): Promise<OpenChild> {
  const { pid, stdin, handles, end, stop } = await begin(
    { maxStdout: Infinity, ...options },
    'pipe',
  )
  stdin?.on('error', () => {})
  if (options.input !== undefined) stdin?.write(options.input)
  return {
    pid,
    end,
    kill: stop,
    write: (line) => {
      if (!stdin?.writable) return IS_OVER
      return stdin.write(`${line}\n`)
        ? GOES_ON
        : new Promise((resolve) => {
            const settle = (): void => {
              stdin.off('drain', settle).off('close', settle)
              resolve(stdin.writable)
            }
            stdin.on('drain', settle).on('close', settle)
          })
    },
    closeInput: () => void stdin?.end(),
    hold: (alive) => {
      for (const handle of handles as readonly (Holdable | null)[])
        handle?.[alive ? 'ref' : 'unref']?.()
    },
  }
}

// The pipes of a child are sockets, whatever their type says.
type Holdable = { ref?(): unknown; unref?(): unknown }

import { createContext, Script } from 'node:vm'

// Twice this is what a caller waits for at most. A machine may stand still for that long once, hardly two times in a row.
const LIMIT_MS = 40
const TRIES = 2

const context = createContext({})
const script = new Script('run()')

/** Runs something that may never end, such as a regular expression from outside; undefined when it did not end in time. It has to be synchronous, and is interrupted anywhere. */
export function limitTime<T extends object>(
  run: () => T,
  {
    limit = LIMIT_MS,
    tries = TRIES,
  }: { /** Milliseconds of one try. */ readonly limit?: number; readonly tries?: number } = {},
): T | undefined {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      context['run'] = run
      return script.runInContext(context, { timeout: limit }) as T
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    } finally {
      context['run'] = undefined
    }
  }
  return undefined
}

import { createContext, Script } from 'node:vm'

// Twice this is what a caller waits for at most. A machine may stand still for that long once,
// hardly two times in a row.
const DEFAULT_LIMIT_MS = 40
const DEFAULT_TRIES = 2

const vmContext = createContext({})
const vmScript = new Script('run()')

/**
 * Runs something that may never end, such as a regular expression from outside; undefined when it
 * did not end in time. It has to be synchronous, and is interrupted anywhere.
 */
export function runWithTimeLimit<T extends object>(
  run: () => T,
  {
    limit = DEFAULT_LIMIT_MS,
    tries = DEFAULT_TRIES,
  }: { /** Milliseconds of one try. */ readonly limit?: number; readonly tries?: number } = {},
): T | undefined {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      vmContext['run'] = run
      return vmScript.runInContext(vmContext, { timeout: limit }) as T
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    } finally {
      vmContext['run'] = undefined
    }
  }
  return undefined
}

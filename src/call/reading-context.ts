import type { ReadingContext } from '../contract/context.ts'
import { createAsking } from './asking.ts'
import { host } from './host.ts'
import type { CallOptions } from './options.ts'
import type { RunningCall } from './running.ts'
import { tell } from './tell.ts'

/** Builds what a resource or a prompt gets besides its parameters; `asker` names it in messages. */
export function createReadingContext(
  asker: string,
  options: CallOptions,
  call: RunningCall,
): ReadingContext {
  const cwd = options.cwd ?? host.cwd()
  return {
    get signal() {
      return call.signal
    },
    cwd,
    env: options.env ?? host.env(),
    caller: options.caller,
    ...createAsking(asker, cwd, options, call),
    log: (message, level = 'info') =>
      void tell({ type: 'log', level, message: String(message) }, options, call),
  }
}

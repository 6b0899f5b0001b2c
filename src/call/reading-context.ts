import type { ReadingContext } from '../contract/context.ts'
import { createAsk, createSample } from './ask.ts'
import { host } from './host.ts'
import type { CallOptions } from './options.ts'
import { createRoots } from './roots.ts'
import type { RunningCall } from './running.ts'
import { tell } from './tell.ts'

/** Builds what a resource or a prompt gets besides its parameters; `asker` names it in messages. */
export function createReadingContext(asker: string, options: CallOptions, call: RunningCall): ReadingContext {
  const cwd = options.cwd ?? host.cwd()
  const asking = { asker, answer: options.answer, sample: options.sample, signal: call.asking, wait: call.wait }
  return {
    get signal() { return call.signal() },
    cwd,
    env: options.env ?? host.env(),
    caller: options.caller,
    ask: createAsk(asking),
    sample: createSample(asking),
    roots: createRoots({ roots: options.roots, cwd, signal: call.asking, wait: call.wait }),
    log: (message, level = 'info') => void tell({ type: 'log', level, message: String(message) }, options, call),
  }
}

import type { Context } from '../contract/context.ts'
import { createAsk, createSample } from './ask.ts'
import type { AskHost } from './ask-host.ts'
import type { CallOptions } from './options.ts'
import { createRoots } from './roots.ts'
import type { RunningCall } from './running.ts'

/** Builds everything by which a handler turns to its caller; `asker` names it in messages. */
export function createAsking(asker: string, cwd: string, { answer, sample, roots }: CallOptions, call: RunningCall): Pick<Context, 'ask' | 'sample' | 'roots'> {
  const host: AskHost = { asker, answer, sample, roots, cwd, signal: call.asking, wait: call.wait, inOrder: createOrder() }
  return { sample: createSample(host), ask: createAsk(host), roots: createRoots(host) }
}

function createOrder(): AskHost['inOrder'] {
  let last: Promise<unknown> = Promise.resolve()
  return (prepare) => {
    const mine = last.then(prepare)
    last = mine.catch(() => undefined)
    return mine
  }
}

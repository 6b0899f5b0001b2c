import type { Context } from '../contract/context.ts'
import { createAsk, createSample } from './ask.ts'
import type { AskHost } from './ask-host.ts'
import type { CallOptions } from './options.ts'
import { createRoots } from './roots.ts'
import type { RunningCall } from './running.ts'

export type Asking = Pick<Context, 'ask' | 'sample' | 'roots'>

/** Builds everything by which a handler turns to its caller; `asker` names it in messages. Most handlers never do, so that what it takes is made by the first question. */
export function createAsking(
  asker: string,
  cwd: string,
  options: CallOptions,
  call: RunningCall,
): Asking {
  let made: Asking | undefined
  const asking = (): Asking => (made ??= makeAsking(asker, cwd, options, call))
  return {
    sample: (prompt, sampling) => asking().sample(prompt, sampling),
    ask: ((question: never) => asking().ask(question)) as Context['ask'],
    roots: (wanted) => asking().roots(wanted),
  }
}

function makeAsking(
  asker: string,
  cwd: string,
  { answer, sample, roots }: CallOptions,
  call: RunningCall,
): Asking {
  const host: AskHost = {
    asker,
    answer,
    sample,
    roots,
    cwd,
    signal: () => call.asking,
    wait: (work) => call.wait(work),
    inOrder: createOrder(),
  }
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

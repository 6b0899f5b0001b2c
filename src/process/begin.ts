import type { ChildInput } from './channels.ts'
import type { ChildOptions } from './child-type.ts'
import type { Supervised } from './supervise.ts'
import { neverStarted, supervise } from './supervise.ts'

/** Starts a child, inside its sandbox where it has one, and watches it until it is over. */
export async function begin(options: ChildOptions, stdin: ChildInput): Promise<Supervised> {
  if (options.sandbox === undefined) return supervise(options, stdin)
  const { enterSandbox, leaveSandbox } = await import('./sandbox/enter.ts')
  const inside = await enterSandbox(options, options.sandbox)
  if (inside instanceof Error) return neverStarted(performance.now(), 'not-started', inside)
  const supervised = await supervise(inside, stdin)
  return { ...supervised, end: supervised.end.then((end) => leaveSandbox(end, options)) }
}

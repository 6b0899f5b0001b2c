import type { ForeignFacts } from '../found.ts'
import type { ChildCall } from './child-call.ts'

/** What an executable says about itself: it can be kept alive with `--serve`; it takes its input on stdin too, as `<tool> -`. */
export type Abilities = { readonly serves: boolean; readonly readsStdin: boolean }

/** How a tool of a toolable executable is called. One that can serve is ours; others are of the specification, and take less. */
export function toolableCall(
  command: ChildCall['command'],
  { name, facts }: { readonly name: string; readonly facts: ForeignFacts },
  { serves, readsStdin }: Abilities,
): ChildCall {
  const call = { form: 'toolable', command, tool: name } as const
  if (!serves)
    return { ...call, ...(readsStdin ? { stdin: true } : facts.streaming && { streaming: true }) }
  return {
    ...call,
    warm: true,
    stdin: true,
    ...(facts.annotations?.destructive && { destructive: true }),
  }
}

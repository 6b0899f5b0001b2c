import type { ForeignFacts } from '../found.ts'
import type { ChildCall } from './child-call.ts'

/** How a tool of a toolable executable is called. One that can serve is ours; others are of the specification, and take less. */
export function toolableCall(command: ChildCall['command'], { name, facts }: { readonly name: string; readonly facts: ForeignFacts }, serves: boolean): ChildCall {
  const call = { form: 'toolable', command, tool: name } as const
  if (!serves) return { ...call, ...(facts.streaming && { streaming: true }) }
  return { ...call, warm: true, stdin: true, ...(facts.annotations?.destructive && { destructive: true }) }
}

import type { Context } from '../../../contract/context.ts'
import type { JsonObject } from '../../../contract/json.ts'
import type { LookedAt } from '../../cache/stamp.ts'
import type { ChildCall } from '../child-call.ts'
import type { HeldOptions } from '../held/held-call.ts'
import type { ChildServices } from '../services.ts'

/** One call of a tool in another process. */
export type ChildRequest = {
  readonly call: ChildCall
  readonly input: JsonObject
  readonly ctx: Context
  readonly services: ChildServices
  readonly looked: LookedAt | undefined
  /** What stands around the child of a tool that its manifest holds; absent: it has the rights of its caller. */
  readonly held?: HeldOptions
}

/** A way to call a tool in another process: gives its result, `ok(...)` or `partial(...)`, or throws a ToolError. */
export type Form = (request: ChildRequest) => Promise<unknown>

/** What goes into a child: arguments behind the fixed ones, and what it reads on stdin. `streams`: events come as lines on stdout before the answer. */
export type Feed = {
  readonly args: readonly string[]
  readonly input?: string
  readonly streams?: true
}

import type { Ask, Context } from '../../contract/context.ts'
import type { GuardedCall } from '../../contract/guard.ts'
import type { Annotations } from '../../contract/manifest.ts'
import type { State } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'
import { showInput } from '../redact.ts'

/** A call as its guards see it. A class, because the hidden class of a literal with getters is made anew for each call. */
export class Guarded implements GuardedCall {
  readonly tool: string
  readonly input: unknown
  readonly #definition: ToolDefinition
  readonly #context: Context
  readonly #hasState: boolean

  constructor(definition: ToolDefinition, input: unknown, context: Context, hasState: boolean) {
    this.tool = definition.name
    this.input = input
    this.#definition = definition
    this.#context = context
    this.#hasState = hasState
  }

  get shown(): unknown {
    return showInput(this.#definition, this.input)
  }

  get annotations(): Annotations {
    return this.#definition.annotations
  }

  get caller(): string | undefined {
    return this.#context.caller
  }

  get dryRun(): boolean {
    return this.#context.dryRun
  }

  get state(): State {
    if (!this.#hasState)
      throw new ToolError(
        'CONFIG',
        `a guard of '${this.tool}' has to remember things, and the call has no state`,
        {
          suggestion: 'Give the calls a state: call(tool, input, { guards, state: createState() })',
        },
      )
    return this.#context.state
  }

  get ask(): Ask {
    return this.#context.ask
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }
}

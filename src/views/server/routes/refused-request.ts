import type { ToolError } from '../../../contract/tool-error.ts'

/** A refusal whose status, or headers, the code of its error does not tell. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  constructor(
    readonly status: number,
    readonly error: ToolError,
    readonly headers: { readonly [name: string]: string } = {},
  ) {
    super(error.message)
  }
}

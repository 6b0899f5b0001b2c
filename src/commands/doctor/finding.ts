import { ToolError } from '../../contract/tool-error.ts'

/** What the doctor found out about one thing. `missing`: runs go on without it, less well held. `broken`: runs fail. */
export type Finding = {
  readonly id: string
  readonly part: 'sandbox' | 'machine' | 'project'
  readonly status: 'ok' | 'missing' | 'broken'
  readonly found: string
  /** What to do about it, to be pasted where that is possible. */
  readonly fix?: string
}

/** Where the doctor looks. */
export type Where = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
}

/** The fix that an error carries, in words; nothing where it has none. */
export function fixOf(error: unknown, otherwise?: string): { readonly fix?: string } {
  const given = ToolError.is(error) ? error.suggestion?.fix : undefined
  const fix = given ?? otherwise
  return fix === undefined ? {} : { fix }
}

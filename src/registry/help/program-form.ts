/** How one input field of an ordinary program becomes arguments. */
export type ProgramField = {
  readonly field: string
  /** The flag as it is written, dashes included; absent for positional arguments. */
  readonly flag?: string
  readonly takesValue: boolean
  /** The value follows as an argument of its own; otherwise `--flag=value`. */
  readonly separate?: true
  readonly repeatable?: true
}

/** How the input of an ordinary program becomes arguments, so that no value can become a flag. */
export type ProgramForm = { readonly fields: readonly ProgramField[] }

/** How one input field of an ordinary program becomes arguments. */
export type ProgramField = {
  readonly field: string
  /** The flag as it is written, dashes included; absent for positional arguments. */
  readonly flag?: string
  /** The flag that says false: `--no-color`. */
  readonly negative?: string
  readonly takesValue: boolean
  /** The value may be left out, and is attached where it is given; `true` is the bare flag. */
  readonly valueOptional?: true
  /** The value follows as an argument of its own; otherwise `--flag=value`. */
  readonly separate?: true
  /** The flag, or the positional argument, may come several times. */
  readonly repeatable?: true
  /** All values follow one flag: `--files a b c`. */
  readonly together?: true
}

/** How the input of an ordinary program becomes arguments, so that no value can become a flag. */
export type ProgramForm = {
  readonly fields: readonly ProgramField[]
  /** The program has flags like `-name`: such programs seldom know `--`, so that a positional argument with a dash is refused. */
  readonly noEndOfFlags?: true
  /** There is one order of positional arguments: one that is left out cannot be followed by another. */
  readonly ordered?: true
}

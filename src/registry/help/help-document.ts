/** A flag of a program, as its help tells it. */
export type HelpOption = {
  /** Names of more than one letter, dashes included: `--x`, and `-name` for programs that write it so. */
  readonly long: readonly string[]
  readonly short: readonly string[]
  /** A value has to follow. */
  readonly takesValue: boolean
  /** A value may be given, as in `--color[=WHEN]`; then `takesValue` is false, and `valueName` names it. */
  readonly valueOptional?: true
  readonly valueName: string | null
  /** Empty where the help does not say what is allowed. */
  readonly choices: readonly string[]
  readonly default: string | null
  readonly repeatable: boolean
  readonly required: boolean
  readonly description: string
}

/** An argument that has a place instead of a name. */
export type HelpPositional = {
  readonly name: string
  readonly required: boolean
  readonly repeatable: boolean
  readonly choices: readonly string[]
  readonly description: string
}

export type HelpCommand = {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly description: string
}

/** What a help text says, style aside. */
export type HelpDocument = {
  readonly usage: string
  readonly description: string
  readonly options: readonly HelpOption[]
  readonly positionals: readonly HelpPositional[]
  readonly commands: readonly HelpCommand[]
}

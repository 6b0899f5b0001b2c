import type { ProgramForm } from '../help/program-form.ts'

/** How input goes to a program and how its answer comes back. */
export type CallForm =
  /** The input as one JSON argument (by stdin where it is too large for one). */
  | 'json'
  /** Each field a flag: `_` becomes `-`, true is the bare flag, false is left out. */
  | 'flags'
  /** The input as one JSON document on stdin. */
  | 'stdin'
  /** Flags in, the JSON lines of the run protocol out. */
  | 'protocol'
  /** A toolable executable: warm where it can be. */
  | 'toolable'
  /** An ordinary program, by what its help says. */
  | 'program'

/** How a tool of another process is called. Plain data: the cache keeps it. */
export type ChildCall = {
  readonly form: CallForm
  /** Program and fixed arguments: interpreter, script, the name of the tool. */
  readonly command: readonly [program: string, ...args: string[]]
  /** Where it runs; default: the caller's directory. */
  readonly cwd?: string
  /** Variables besides the base allow-list. `${NAME}` was replaced already. */
  readonly env?: { readonly [name: string]: string }
  /** Variables of the caller's environment that have to be there. */
  readonly requireEnv?: readonly string[]
  /** What exit statuses mean, by the manifest: `{ok: 0, retryable_error: 20, fatal_error: 30}`. */
  readonly exitCodes?: { readonly [meaning: string]: number }
  /** It takes its input as one JSON document on stdin too: `json` without an argument, `toolable` by `-` (our own executables do, those of the specification do not). */
  readonly stdin?: true
  /** The input holds secrets, so that it never stands on a command line, where every user of the machine can read it. */
  readonly secret?: true
  /** For `toolable`: the name of the tool inside the executable, and whether it can be kept warm. */
  readonly tool?: string
  readonly warm?: boolean
  /** For `toolable`: the tool asks for consent, which the caller has given when it comes to a call. */
  readonly destructive?: true
  /** For `toolable` executables of the specification: a tool that streams has to be asked for its stream. */
  readonly streaming?: true
  /** For `program`. */
  readonly program?: ProgramForm
}

import { DIALECT_NAMES } from '../../contract/dialects/dialect.ts'
import type { DialectName } from '../../contract/dialects/dialect.ts'
import type { Io } from '../../contract/io.ts'
import { OUTPUT_MODES } from '../../define/flags/injected.ts'
import type { OutputMode } from '../../define/flags/injected.ts'
import type { OutputDefault } from '../../call/servable.ts'
import type { Globals } from './argv/globals.ts'
import type { Caller } from './caller.ts'
import { wantsColor } from './output/color.ts'

/** How this call is printed. */
export type Presentation = {
  readonly mode: OutputMode
  readonly dialect: DialectName
  /** Indent JSON, because a person looks at it. */
  readonly pretty: boolean
  readonly color: boolean
  readonly stderrColor: boolean
  /** Undefined when stdout is not a terminal. */
  readonly columns: number | undefined
}

/** Decides mode, dialect and colours: flag, then environment, then settings, then caller, then terminal. */
export function choosePresentation(
  globals: Globals,
  io: Io,
  caller: Caller | undefined,
  settings: { readonly output?: string } = {},
  defaultOutput: OutputDefault = 'auto',
): Presentation {
  const explicit = readMode(globals.output)
  const wished =
    explicit ??
    readMode(io.env['TOOLABLE_OUTPUT']) ??
    readMode(io.env['TYPER_AGENT_OUTPUT']) ??
    readMode(settings.output) ??
    readMode(defaultOutput)
  const byItself: OutputMode = caller || !io.stdout.isTTY ? 'json' : 'text'
  const noColorFlag = globals.noColor === true
  return {
    mode: wished ?? byItself,
    dialect:
      DIALECT_NAMES.find((name) => name === globals.dialect) ??
      (explicit === undefined && isSupervised(io) ? 'acor' : 'native'),
    pretty: io.stdout.isTTY && !caller,
    color: wantsColor({ env: io.env, isTTY: io.stdout.isTTY, noColorFlag }),
    stderrColor: wantsColor({ env: io.env, isTTY: io.stderr.isTTY, noColorFlag }),
    columns: io.stdout.isTTY ? io.stdout.columns : undefined,
  }
}

function readMode(wished: string | undefined): OutputMode | undefined {
  return OUTPUT_MODES.find((mode) => mode === wished)
}

// A runner's environment is inherited by grandchildren too; its stdout is not.
function isSupervised({ env, stdout }: Io): boolean {
  if (!env['RUN_ID'] || !env['AI_PROTOCOL_VERSION']) return false
  const runnerStdout = env['RUN_STDOUT']
  return runnerStdout === undefined || runnerStdout === stdout.identity?.()
}

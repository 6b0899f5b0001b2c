import type { Io } from '../contract/io.ts'
import type { ToolError } from '../contract/tool-error.ts'
import { INJECTED_FLAGS } from '../define/flags/injected.ts'
import { flagSpecs } from '../define/flags/specs.ts'
import type { Command } from '../surfaces/cli/argv/command.ts'
import { flagTable } from '../define/argv/flag-table.ts'
import { readGlobals } from '../surfaces/cli/argv/globals.ts'
import { inputFromFlags } from '../define/argv/input.ts'
import { scan } from '../define/argv/scan.ts'

/** The command line of a command behind whose flags a tool is named, with what is for the tool. */
export type OwnFlags<Flags> = {
  readonly flags: Flags
  readonly name: string | undefined
  readonly rest: readonly string[]
  readonly problem: ToolError | undefined
}

/** Reads the flags of such a command up to the name of the tool; what follows is not ours, unless flags may stand `everywhere`. */
export function readOwnFlags<Flags extends object>(
  { entry, tokens, globals }: Command & { kind: 'tool' },
  { env }: Io,
  { everywhere = false } = {},
): OwnFlags<Flags> {
  const specs = flagSpecs(entry.definition.sketch()!)
  const scanned = scan(
    tokens,
    flagTable(
      specs.filter(({ positional }) => !positional),
      INJECTED_FLAGS,
    ),
    everywhere ? {} : { stopAtWord: true },
  )
  const problem = readGlobals(globals, scanned.flags) ?? scanned.problem
  const {
    arguments: _arguments,
    tool: _tool,
    ...flags
  } = inputFromFlags(
    specs,
    scanned.flags.filter(({ flag }) => flag.spec),
    [],
    env,
  ) as { readonly arguments?: unknown; readonly tool?: unknown } & Flags
  const [name, ...rest] = everywhere
    ? scanned.words.map(({ text }) => text)
    : tokens.slice(scanned.end + (tokens[scanned.end] === '--' ? 1 : 0))
  return { flags: flags as unknown as Flags, name, rest, problem }
}

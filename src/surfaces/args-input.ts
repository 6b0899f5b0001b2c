import type { ToolManifest } from '../contract/manifest.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS } from '../define/flags/injected.ts'
import { flagSpecs } from '../define/flags/specs.ts'
import { feedReserved } from './cli/argv/feed-reserved.ts'
import { flagTable } from '../define/argv/flag-table.ts'
import { emptyGlobals, readGlobals } from './cli/argv/globals.ts'
import { inputFromFlags } from '../define/argv/input.ts'
import { scan } from '../define/argv/scan.ts'
import { wholeInput } from '../define/argv/whole-input.ts'
import { parseJsonInput } from '../define/argv/json-input.ts'

/** The input that the arguments of an example give; `alone`: they say nothing besides. */
export type ArgsInput = { readonly input: unknown; readonly alone: boolean }

/** Reads arguments as the tool's own command line would. Undefined where they ask about the tool or take the input from elsewhere; throws a ToolError where they cannot be read. */
export function readArgs(
  manifest: Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>,
  args: readonly string[],
): ArgsInput | undefined {
  const specs = flagSpecs(manifest)
  const scanned = scan(args, flagTable(specs, INJECTED_FLAGS, CONTROL_FLAGS), {
    booleanValues: manifest.positional.length === 0,
  })
  const globals = emptyGlobals()
  const problem = readGlobals(globals, scanned.flags) ?? scanned.problem
  if (problem) throw problem
  // Files and stdin are not there yet, and questions about the tool have no input.
  const whole = wholeInput(scanned.words[0], manifest.positional.length > 0)
  if (globals.asked || globals.help || whole === 'file' || whole === 'stdin') return undefined
  const own = scanned.flags.filter(({ flag }) => flag.spec)
  const given =
    whole === 'json'
      ? parseJsonInput(scanned.words[0]!.text, 'the argument')
      : inputFromFlags(specs, own, scanned.words, {})
  return { input: feedReserved(specs, given, globals), alone: own.length === scanned.flags.length }
}

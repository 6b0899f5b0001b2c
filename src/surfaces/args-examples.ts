import type { ToolManifest } from '../contract/manifest.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS } from '../define/flags/injected.ts'
import { flagSpecs } from '../define/flags/specs.ts'
import { describeIssues } from '../define/schema/issues.ts'
import type { Schema } from '../define/schema/schema.ts'
import type { CompiledTool } from '../define/tool-type.ts'
import { notACommandLine } from './args-early.ts'
import { feedReserved } from './cli/argv/feed-reserved.ts'
import { flagTable } from './cli/argv/flag-table.ts'
import { emptyGlobals, readGlobals } from './cli/argv/globals.ts'
import { inputFromFlags } from './cli/argv/input.ts'
import { scan } from './cli/argv/scan.ts'
import { wholeInput } from './cli/argv/whole-input.ts'
import { parseJsonInput } from './cli/json-input.ts'

/** Refuses examples whose arguments the tool's own command line would not take. */
export async function checkArgsExamples({ manifest, input }: CompiledTool): Promise<void> {
  for (const [index, { args }] of manifest.examples.entries()) {
    const problem = args && (await findProblem(manifest, input, args))
    if (problem === undefined) continue
    throw notACommandLine(manifest.name, index, args, problem)
  }
}

async function findProblem(manifest: ToolManifest, schema: Schema, args: readonly string[]): Promise<string | undefined> {
  try {
    const specs = flagSpecs(manifest)
    const scanned = scan(args, flagTable(specs, INJECTED_FLAGS, CONTROL_FLAGS), { booleanValues: manifest.positional.length === 0 })
    const globals = emptyGlobals()
    const problem = readGlobals(globals, scanned.flags) ?? scanned.problem
    if (problem) return problem.message
    // Files and stdin are not there yet, and questions about the tool have no input.
    const whole = wholeInput(scanned.words[0], manifest.positional.length > 0)
    if (globals.asked || globals.help || whole === 'file' || whole === 'stdin') return undefined
    const own = scanned.flags.filter(({ flag }) => flag.spec)
    const given = whole === 'json' ? parseJsonInput(scanned.words[0]!.text, 'the argument') : inputFromFlags(specs, own, scanned.words, {})
    const checked = await schema.check(feedReserved(specs, given, globals))
    if (checked.ok) return undefined
    const byEnvironment = new Set(specs.filter(({ env }) => env !== undefined).map(({ field }) => field))
    const issues = checked.issues.filter(({ kind, path }) => !(kind === 'missing' && byEnvironment.has(String(path[0]))))
    return issues.length === 0 ? undefined : describeIssues(issues)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.message
  }
}

import type { ToolManifest } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { describeIssues } from '../define/schema/issues.ts'
import type { Schema } from '../define/schema/schema.ts'
import type { CompiledTool } from '../define/tool-type.ts'
import { flagTable } from './cli/argv/flag-table.ts'
import { emptyGlobals, readGlobals } from './cli/argv/globals.ts'
import { feedReserved } from './cli/argv/feed-reserved.ts'
import { inputFromFlags } from './cli/argv/input.ts'
import { scan } from './cli/argv/scan.ts'
import type { Word } from './cli/argv/scan.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS } from '../define/flags/injected.ts'
import { flagSpecs } from '../define/flags/specs.ts'

/** Refuses examples whose arguments the tool's own command line would not take. */
export async function checkArgsExamples({ manifest, input }: CompiledTool): Promise<void> {
  for (const [index, { args }] of manifest.examples.entries()) {
    const problem = args && (await findProblem(manifest, input, args))
    if (problem === undefined) continue
    throw new ToolError('CONFIG', `example ${index + 1} of tool '${manifest.name}' (${JSON.stringify(args)}) is not a command line of the tool: ${problem}`)
  }
}

async function findProblem(manifest: ToolManifest, schema: Schema, args: readonly string[]): Promise<string | undefined> {
  if (!Array.isArray(args) || args.some((word) => typeof word !== 'string')) return "'args' must be a list of texts"
  try {
    const specs = flagSpecs(manifest)
    const scanned = scan(args, flagTable(specs, INJECTED_FLAGS, CONTROL_FLAGS), { booleanValues: manifest.positional.length === 0 })
    const globals = emptyGlobals()
    const problem = readGlobals(globals, scanned.flags) ?? scanned.problem
    if (problem) return problem.message
    // Files and stdin are not there yet, and questions about the tool have no input.
    if (globals.asked || globals.help || isElsewhere(scanned.words[0])) return undefined
    const own = scanned.flags.filter(({ flag }) => flag.spec)
    const given = readJson(scanned.words[0]) ?? inputFromFlags(specs, own, scanned.words, {})
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

function isElsewhere(word: Word | undefined): boolean {
  return word !== undefined && !word.literal && (word.text === '-' || /^@.+\.json$/.test(word.text))
}

function readJson(word: Word | undefined): unknown {
  return word && !word.literal && word.text.trimStart().startsWith('{') ? (JSON.parse(word.text) as unknown) : undefined
}

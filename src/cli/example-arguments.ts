/**
 * Parses the arguments of examples the way the command line of the tool would, and checks them once
 * the schema is compiled.
 */

import { buildInputFromFlags } from '../define/flag-input.ts'
import { toFlagSpecs } from '../define/flag-specs.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import { applyReservedFlags } from '../define/global-flags.ts'
import { describeIssues } from '../define/schema/issues.ts'
import type { CompiledSchema } from '../define/schema/source.ts'
import { sortArguments } from '../define/tool-arguments.ts'
import type { CompiledTool } from '../define/tool-types.ts'
import type { ToolManifest } from '../protocol/manifest.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { exampleArgsError } from './check-examples.ts'

/** Refuses examples whose arguments the tool's own command line would not take. */
export async function checkExampleArgs({ manifest, input }: CompiledTool): Promise<void> {
  for (const [index, { args }] of manifest.examples.entries()) {
    const problem = args && (await findExampleProblem(manifest, input, args))
    if (problem === undefined) continue
    throw exampleArgsError(manifest.name, index, args, problem)
  }
}

async function findExampleProblem(
  manifest: ToolManifest,
  schema: CompiledSchema,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const read = parseExampleArgs(manifest, args)
    if (!read) return undefined
    const checked = await schema.check(read.input)
    if (checked.ok) return undefined
    const byEnvironment = new Set(
      toFlagSpecs(manifest)
        .filter(({ env }) => env !== undefined)
        .map(({ field }) => field),
    )
    const issues = checked.issues.filter(
      ({ kind, path }) => !(kind === 'missing' && byEnvironment.has(String(path[0]))),
    )
    return issues.length === 0 ? undefined : describeIssues(issues)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.message
  }
}

/** The input that the arguments of an example give, and whether they contain nothing else. */
type ExampleInput = { readonly input: unknown; readonly isInputOnly: boolean }

/**
 * Reads arguments as the tool's own command line would. Undefined where they ask about the tool or
 * take the input from elsewhere; throws a ToolError where they cannot be read.
 */
export function parseExampleArgs(
  manifest: Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>,
  args: readonly string[],
): ExampleInput | undefined {
  const globals: GlobalFlags = {}
  const { specs, flags, words, whole, isInputOnly, problem } = sortArguments(
    manifest,
    args,
    globals,
  )
  if (problem) throw problem
  // Files and stdin are not there yet, and questions about the tool have no input.
  if (globals.asked || globals.help || whole === 'file' || whole === 'stdin') return undefined
  const given =
    whole === 'json'
      ? parseJsonInput(words[0]!.text, 'the argument')
      : buildInputFromFlags(specs, flags, words, {})
  return { input: applyReservedFlags(specs, given, globals), isInputOnly }
}

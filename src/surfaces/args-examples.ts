import type { ToolManifest } from '../contract/manifest.ts'
import { flagSpecs } from '../define/flags/specs.ts'
import { describeIssues } from '../define/schema/issues.ts'
import type { Schema } from '../define/schema/schema.ts'
import type { CompiledTool } from '../define/tool-type.ts'
import { notACommandLine } from './args-early.ts'
import { readArgs } from './args-input.ts'

/** Refuses examples whose arguments the tool's own command line would not take. */
export async function checkArgsExamples({ manifest, input }: CompiledTool): Promise<void> {
  for (const [index, { args }] of manifest.examples.entries()) {
    const problem = args && (await findProblem(manifest, input, args))
    if (problem === undefined) continue
    throw notACommandLine(manifest.name, index, args, problem)
  }
}

async function findProblem(
  manifest: ToolManifest,
  schema: Schema,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const read = readArgs(manifest, args)
    if (!read) return undefined
    const checked = await schema.check(read.input)
    if (checked.ok) return undefined
    const byEnvironment = new Set(
      flagSpecs(manifest)
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

import { isDeepStrictEqual } from 'node:util'
import type { Io } from '../../contract/io.ts'
import type { Example } from '../../contract/manifest.ts'
import type { ToolEntry } from '../../call/collect.ts'
import { toToolError } from '../../call/failure.ts'
import type { CallOptions } from '../../call/options.ts'
import { invoke } from '../../call/pipeline.ts'
import type { Servable } from '../../call/servable.ts'
import { emptyGlobals } from './argv/globals.ts'
import { readInput, scanTool } from './request.ts'

/** An example that does not hold. */
export type BrokenExample = {
  readonly tool: string
  readonly example: number
  readonly code: string
  readonly message: string
}

/** What `--selftest` prints. */
export type SelftestDocument =
  | { readonly selftest: 'ok' }
  | { readonly selftest: 'failed'; readonly problems: readonly BrokenExample[] }

/** Runs the examples of every tool: those of read-only tools for true, all others as dry runs, because a test must change nothing. */
export async function selftest(
  set: Servable,
  io: Io,
  options: CallOptions,
): Promise<SelftestDocument> {
  await set.manifest()
  const problems: BrokenExample[] = []
  for (const entry of set.entries) {
    const { manifest } = await entry.definition.compiled()
    for (const [index, example] of manifest.examples.entries()) {
      const problem = await tryExample(entry, example, io, options)
      if (problem) problems.push({ tool: entry.name, example: index + 1, ...problem })
    }
  }
  return problems.length === 0 ? { selftest: 'ok' } : { selftest: 'failed', problems }
}

type Problem = Pick<BrokenExample, 'code' | 'message'>

async function tryExample(
  entry: ToolEntry,
  example: Example,
  io: Io,
  options: CallOptions,
): Promise<Problem | undefined> {
  try {
    const { annotations, session } = (await entry.definition.compiled()).manifest
    const forTrue = annotations.readOnly === true && !session
    const { outcome } = await invoke(entry.definition, await inputOf(entry, example, io), {
      ...options,
      dryRun: !forTrue,
    })
    if (!outcome.ok) return { code: outcome.error.code, message: outcome.error.message }
    if (
      !forTrue ||
      example.output === undefined ||
      isDeepStrictEqual(outcome.result, example.output)
    )
      return undefined
    return {
      code: 'INTERNAL',
      message: `the result is not the output of the example: ${JSON.stringify(outcome.result).slice(0, 200)}`,
    }
  } catch (error) {
    const { code, message } = toToolError(error)
    return { code, message }
  }
}

async function inputOf(entry: ToolEntry, { input, args = [] }: Example, io: Io): Promise<unknown> {
  if (input !== undefined) return input
  const globals = emptyGlobals()
  const scanned = await scanTool(entry, args, globals, true)
  if (scanned.problem) throw scanned.problem
  return (await readInput(scanned, globals, io, { stdinTaken: true })).input
}

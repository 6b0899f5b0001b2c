/**
 * `--selftest`: runs the examples of every tool.
 */

import { isDeepStrictEqual } from 'node:util'
import type { CallOptions } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import { invoke } from '../core/invoke.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import { parseToolArguments } from '../define/tool-arguments.ts'
import type { Io } from '../protocol/io.ts'
import type { Example } from '../protocol/manifest.ts'
import { readInput } from './input.ts'

/** An example that does not hold. */
export type ExampleFailure = {
  readonly tool: string
  readonly example: number
  readonly code: string
  readonly message: string
}

/** What `--selftest` prints. */
export type SelftestDocument =
  | { readonly selftest: 'ok' }
  | { readonly selftest: 'failed'; readonly problems: readonly ExampleFailure[] }

/**
 * Runs the examples of every tool: those of read-only tools for true, all others as dry runs,
 * because a test must change nothing.
 */
export async function runSelftest(
  set: Servable,
  io: Io,
  options: CallOptions,
): Promise<SelftestDocument> {
  await set.manifest()
  const problems: ExampleFailure[] = []
  for (const entry of set.entries) {
    const { manifest } = await entry.definition.compiled()
    for (const [index, example] of manifest.examples.entries()) {
      const problem = await tryExample(entry, example, io, options)
      if (problem) problems.push({ tool: entry.name, example: index + 1, ...problem })
    }
  }
  return problems.length === 0 ? { selftest: 'ok' } : { selftest: 'failed', problems }
}

type ExampleProblem = Pick<ExampleFailure, 'code' | 'message'>

async function tryExample(
  entry: ToolEntry,
  example: Example,
  io: Io,
  options: CallOptions,
): Promise<ExampleProblem | undefined> {
  try {
    const { annotations, session } = (await entry.definition.compiled()).manifest
    const forTrue = annotations.readOnly === true && !session
    const { outcome } = await invoke(entry.definition, await getExampleInput(entry, example, io), {
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

async function getExampleInput(
  entry: ToolEntry,
  { input, args = [] }: Example,
  io: Io,
): Promise<unknown> {
  if (input !== undefined) return input
  const globals: GlobalFlags = {}
  const parsed = await parseToolArguments(entry.definition, args, globals, true)
  if (parsed.problem) throw parsed.problem
  return (await readInput(parsed, globals, io, { stdinTaken: true })).input
}

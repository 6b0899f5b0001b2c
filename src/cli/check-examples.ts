/**
 * Checks example arguments as soon as a toolset is built, without compiling schemas.
 * `example-arguments.ts` checks their values later.
 */

import { createFlagTable, detectWholeInput, scanArgv } from '../define/argv.ts'
import { listEarlyFlags } from '../define/early-checks.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS } from '../define/global-flags.ts'
import type { FlagSpec } from '../define/global-flags.ts'
import { isDeferredSchema } from '../define/schema/source.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import { ToolError } from '../protocol/tool-error.ts'

/**
 * Refuses examples whose arguments cannot be read as flags of the tool, as soon as a toolset is
 * built. Their values are checked when the schema is compiled.
 */
export function checkExampleFlags({
  name,
  metadata: facts,
  source,
  previewManifest: sketch,
}: ToolDefinition): void {
  // What is late is not looked at for the sake of an example.
  const schema = isDeferredSchema(source.input) ? undefined : sketch()?.inputSchema
  const specs =
    schema &&
    listEarlyFlags(schema, facts).map((flag): FlagSpec => ({
      ...flag,
      schema: {},
      valueName: 'value',
    }))
  facts.examples.forEach(({ args }, index) => {
    const problem = args && (findShapeProblem(args) ?? (specs && findFlagProblem(args, specs)))
    if (problem !== undefined) throw exampleArgsError(name, index, args, problem)
  })
}

/** The error about an example whose arguments the tool would not take. */
export function exampleArgsError(
  tool: string,
  index: number,
  args: unknown,
  problem: string,
): ToolError {
  return new ToolError(
    'CONFIG',
    `example ${index + 1} of tool '${tool}' (${JSON.stringify(args)}) is not a command line of the tool: ${problem}`,
  )
}

function findFlagProblem(args: readonly string[], specs: readonly FlagSpec[]): string | undefined {
  const { flags, words, problem } = scanArgv(
    args,
    createFlagTable(specs, GLOBAL_FLAGS, CONTROL_FLAGS),
  )
  if (problem) return problem.message
  const hasFields =
    detectWholeInput(
      words[0],
      specs.some(({ positional }) => positional),
    ) === undefined && !flags.some(({ flag }) => flag.globalFlag && INFO_FLAG_NAMES.has(flag.long))
  if (!hasFields) return undefined
  const byFlag = new Set(flags.flatMap(({ flag }) => flag.spec?.field ?? []))
  const places = specs.filter(({ positional, field }) => positional && !byFlag.has(field))
  const byWord = new Set(places.slice(0, words.length).map(({ field }) => field))
  const missing = specs.find(
    ({ field, required, env }) =>
      required && env === undefined && !byFlag.has(field) && !byWord.has(field),
  )
  if (missing) return `${missing.field} is required`
  return words.length > places.length && places.at(-1)?.kind !== 'list'
    ? `unexpected argument '${words[places.length]?.text}'`
    : undefined
}

const INFO_FLAG_NAMES: ReadonlySet<string> = new Set([
  'help',
  ...CONTROL_FLAGS.map(({ long }) => long),
])

function findShapeProblem(args: unknown): string | undefined {
  return Array.isArray(args) && args.every((word) => typeof word === 'string')
    ? undefined
    : "'args' must be a list of texts"
}

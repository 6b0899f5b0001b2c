/**
 * From the words of a command line to the input of a tool, in two steps: `parseToolArguments` sorts
 * the words into global flags, flags of the tool and values; `buildInput` makes an input of them.
 * Between the two a caller can read the whole input from a file or from stdin instead.
 */

import type { ToolManifest } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { ArgvWord, ParsedFlag, WholeInputKind } from './argv.ts'
import { createFlagTable, detectWholeInput, readGlobalFlags, scanArgv } from './argv.ts'
import { toFlagSpecs } from './flag-specs.ts'
import type { FlagSpec, GlobalFlags } from './global-flags.ts'
import { applyReservedFlags, CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from './global-flags.ts'
import type { ToolDefinition } from './tool-types.ts'

/** The arguments of one tool, sorted but not yet converted to an input. */
export type ToolArguments = {
  readonly specs: readonly FlagSpec[]
  /** The flags that are fields of the tool. */
  readonly flags: readonly ParsedFlag[]
  readonly words: readonly ArgvWord[]
  /** How the first word is the whole input; undefined when it is a value like any other. */
  readonly whole: WholeInputKind | undefined
  /** True where there are no other flags than those of the input. */
  readonly isInputOnly: boolean
  readonly problem: ToolError | undefined
}

/**
 * Sorts the arguments of a tool, and reads the global flags among them into `globals`. `isAlone`:
 * the name of the tool was left out, so flags of the program may follow.
 */
export async function parseToolArguments(
  definition: ToolDefinition,
  tokens: readonly string[],
  globals: GlobalFlags,
  isAlone: boolean,
): Promise<ToolArguments> {
  const manifest = definition.previewManifest() ?? (await definition.compiled()).manifest
  return sortArguments(manifest, tokens, globals, isAlone)
}

/** The same for a manifest; without `globals` only the flags of the tool itself are known. */
export function sortArguments(
  manifest: Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>,
  tokens: readonly string[],
  globals?: GlobalFlags,
  isAlone = true,
): ToolArguments {
  const specs = toFlagSpecs(manifest)
  const table = createFlagTable(specs, ...(globals ? [GLOBAL_FLAGS, CONTROL_FLAGS] : []))
  const takesWords = manifest.positional.length > 0
  const scanned = scanArgv(tokens, table, {
    booleanValues: !takesWords,
    explainUnknown: (written) =>
      !isAlone && PROGRAM_FLAGS.some(({ long }) => `--${long}` === written)
        ? 'it goes before the tool name'
        : undefined,
  })
  const problem = (globals && readGlobalFlags(globals, scanned.flags)) ?? scanned.problem
  const flags = scanned.flags.filter(({ flag }) => flag.spec)
  return {
    specs,
    flags,
    words: scanned.words,
    whole: detectWholeInput(scanned.words[0], takesWords),
    isInputOnly: flags.length === scanned.flags.length,
    problem,
  }
}

/** Throws USAGE for arguments besides a word that is the whole input. */
export function checkStandsAlone({ whole, words, flags }: ToolArguments): void {
  if (words.length === 1 && flags.length === 0) return
  const what = whole === 'json' ? 'a JSON object' : words[0]!.text
  throw new ToolError('USAGE', `${what} is the whole input and stands alone`, {
    suggestion: 'Give either one JSON object or flags; write -- before a value that begins with {',
  })
}

/**
 * Builds the input from flags, words, the environment, defaults and the global flags that feed
 * reserved fields. Throws USAGE or INVALID_INPUT.
 */
export async function buildInput(
  { specs, flags, words }: ToolArguments,
  globals: GlobalFlags,
  env: { readonly [name: string]: string | undefined },
  defaults: { readonly [field: string]: unknown } = {},
): Promise<{ readonly input: unknown; readonly warnings: readonly string[] }> {
  // Converting texts by schemas has to be loaded; without a text there is nothing to convert.
  const isEmpty =
    flags.length === 0 && words.length === 0 && specs.every((spec) => spec.env === undefined)
  const fields = isEmpty
    ? (Object.create(null) as Record<string, unknown>)
    : (await import('./flag-input.ts')).buildInputFromFlags(specs, flags, words, env)
  for (const [field, value] of Object.entries(defaults))
    if (!Object.hasOwn(fields, field)) fields[field] = value
  return { input: applyReservedFlags(specs, fields, globals), warnings: findSwallowedFlags(flags) }
}

// `--query --json` is a query for the text --json; the caller may have meant something else.
function findSwallowedFlags(flags: readonly ParsedFlag[]): string[] {
  const known = new Set(GLOBAL_FLAGS.map(({ long }) => `--${long}`))
  return flags.flatMap(({ values: [value], written }) =>
    value !== undefined && known.has(value) ? [`${written} took '${value}' as its value`] : [],
  )
}

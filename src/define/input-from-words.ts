import type { ToolManifest } from '../protocol/manifest.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonObject } from '../util/values.ts'
import { buildInputFromFlags } from './flag-input.ts'
import { checkStandsAlone, sortArguments } from './tool-arguments.ts'

/**
 * The input that words mean for a tool, read by its own flags only: for callers without stdin and
 * terminal. Throws USAGE or INVALID_INPUT.
 */
export function parseInputWords(
  manifest: Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>,
  words: readonly string[],
  env: { readonly [name: string]: string | undefined },
): JsonObject {
  const args = sortArguments(manifest, words)
  if (args.problem) throw args.problem
  if (args.whole === undefined) return buildInputFromFlags(args.specs, args.flags, args.words, env)
  const { text } = args.words[0]!
  if (args.whole !== 'json')
    throw new ToolError(
      'USAGE',
      `'${text.slice(0, 60)}' takes the input from ${args.whole === 'stdin' ? 'stdin' : 'a file'}, which is not there`,
      { suggestion: 'Give the input as one JSON object, or by flags' },
    )
  checkStandsAlone(args)
  return parseJsonInput(text, 'the argument')
}

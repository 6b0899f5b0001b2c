import type { ToolManifest } from '../protocol/manifest.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonObject } from '../util/values.ts'
import { createFlagTable, detectWholeInput, scanArgv } from './argv.ts'
import { buildInputFromFlags } from './flag-input.ts'
import { toFlagSpecs } from './flag-specs.ts'

/**
 * The input that words mean for a tool, read by its own flags and nobody else's: for callers that
 * have no stdin and no terminal. Throws USAGE or INVALID_INPUT.
 */
export function parseInputWords(
  manifest: Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>,
  words: readonly string[],
  env: { readonly [name: string]: string | undefined },
): JsonObject {
  const specs = toFlagSpecs(manifest)
  const scanned = scanArgv(words, createFlagTable(specs), {
    booleanValues: manifest.positional.length === 0,
  })
  if (scanned.problem) throw scanned.problem
  const whole = detectWholeInput(scanned.words[0], manifest.positional.length > 0)
  if (whole === undefined) return buildInputFromFlags(specs, scanned.flags, scanned.words, env)
  const { text } = scanned.words[0]!
  if (whole !== 'json')
    throw new ToolError(
      'USAGE',
      `'${text.slice(0, 60)}' takes the input from ${whole === 'stdin' ? 'stdin' : 'a file'}, which is not there`,
      { suggestion: 'Give the input as one JSON object, or by flags' },
    )
  if (scanned.words.length > 1 || scanned.flags.length > 0)
    throw new ToolError('USAGE', 'a JSON object is the whole input and stands alone', {
      suggestion:
        'Give either one JSON object or flags; write -- before a value that begins with {',
    })
  return parseJsonInput(text, 'the argument')
}

/**
 * The flags that every command accepts, and how each of them is read.
 */

import type { ParsedFlag } from '../define/argv.ts'
import { ToolError } from '../protocol/tool-error.ts'

/** The injected flags of one command line, read. */
export type GlobalFlags = {
  output?: string
  dialect?: string
  quiet?: true
  verbose: number
  dryRun?: true
  yes?: true
  noColor?: true
  timeout?: string
  idempotencyKey?: string
  fields?: readonly string[]
  filter: string[]
  limit?: number
  cursor?: string
  maxTokens?: number
  secretFiles: string[]
  stream?: true
  session?: true
  sampleVia?: string
  help?: true
  /** A flag that asks for a document instead of a call: `discover`, `manifest`, `validate` … */
  asked?: { readonly what: string; readonly values: readonly string[] }
}

type FlagReader = (globals: GlobalFlags, values: readonly string[], written: string) => void

const FLAG_READERS: { readonly [long: string]: FlagReader } = {
  output: (globals, [mode]) => {
    globals.output = mode!
  },
  json: (globals) => {
    globals.output = 'json'
  },
  jsonl: (globals) => {
    globals.output = 'jsonl'
  },
  dialect: (globals, [name]) => {
    globals.dialect = name!
  },
  quiet: (globals) => {
    globals.quiet = true
  },
  verbose: (globals) => {
    globals.verbose++
  },
  'dry-run': (globals) => {
    globals.dryRun = true
  },
  yes: (globals) => {
    globals.yes = true
  },
  'no-color': (globals) => {
    globals.noColor = true
  },
  timeout: (globals, [duration]) => {
    globals.timeout = duration!
  },
  'idempotency-key': (globals, [key]) => {
    globals.idempotencyKey = key!
  },
  fields: (globals, [names]) => {
    globals.fields = [
      ...(globals.fields ?? []),
      ...names!
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ]
  },
  filter: (globals, [expression]) => {
    globals.filter.push(expression!)
  },
  limit: (globals, [count], written) => {
    globals.limit = parsePositiveInteger(count!, written)
  },
  cursor: (globals, [cursor]) => {
    globals.cursor = cursor!
  },
  'max-tokens': (globals, [count], written) => {
    globals.maxTokens = parsePositiveInteger(count!, written)
  },
  'secret-file': (globals, [pair]) => {
    globals.secretFiles.push(pair!)
  },
  stream: (globals) => {
    globals.stream = true
  },
  session: (globals) => {
    globals.session = true
  },
  'sample-via': (globals, [via]) => {
    globals.sampleVia = via!
  },
  help: (globals) => {
    globals.help = true
  },
}

/** No flags at all. */
export function createGlobalFlags(): GlobalFlags {
  return { verbose: 0, filter: [], secretFiles: [] }
}

/**
 * Reads injected flags into `globals`; gives the first problem. A flag without reader asks for a
 * document.
 */
export function readGlobalFlags(
  globals: GlobalFlags,
  flags: readonly ParsedFlag[],
): ToolError | undefined {
  let problem: ToolError | undefined
  for (const { flag, values, written } of flags) {
    if (!flag.globalFlag) continue
    try {
      const choices = flag.globalFlag.choices
      if (choices && values[0] !== undefined && !choices.includes(values[0]))
        throw new ToolError(
          'USAGE',
          `${written} must be one of ${choices.join(', ')}; got '${values[0]}'`,
          { field: flag.long },
        )
      if (
        flag.valueCount === 0 &&
        values[0] !== undefined &&
        !['true', 'false'].includes(values[0])
      )
        throw new ToolError('USAGE', `${written} takes no value`, { field: flag.long })
      if (values[0] === 'false' && flag.valueCount === 0) continue
      const read = Object.hasOwn(FLAG_READERS, flag.long) ? FLAG_READERS[flag.long] : undefined
      if (read) read(globals, values, written)
      else globals.asked ??= { what: flag.long, values }
    } catch (error) {
      if (!ToolError.is(error)) throw error
      problem ??= error
    }
  }
  return problem
}

function parsePositiveInteger(text: string, written: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= 1) return number
  throw new ToolError('USAGE', `${written} needs a whole number above 0; got '${text}'`, {
    field: written.replace(/^-+/, ''),
  })
}

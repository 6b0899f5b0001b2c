/**
 * Answers flags that ask about the program or a tool instead of calling it (`--discover`,
 * `--schema`, `--validate` …), and prints documents and help.
 */

import type { CallOptions } from '../core/call.ts'
import type { Servable, ToolEntry } from '../core/tool.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Io } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { SERVE_PROTOCOL_VERSION } from '../protocol/output-protocols.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { ParsedCommand } from './command.ts'
import {
  buildDiscoverDocument,
  buildPromptsDocument,
  buildResourcesDocument,
  buildToolsDocument,
} from './discovery.ts'
import { toJsonText } from './formats/json-text.ts'
import type { GlobalFlags } from './global-flags.ts'
import type { CommandHost } from './host.ts'

/** A bare document to print, or a failure to print as an envelope. */
type DocumentAnswer =
  | { readonly document: unknown; readonly exit?: number }
  | { readonly failure: ToolError; readonly origin?: InputOrigin }

type DocumentBuilder = (
  set: Servable,
  values: readonly string[],
  options: CallOptions,
) => DocumentAnswer | Promise<DocumentAnswer>

const PROGRAM_DOCUMENTS: { readonly [what: string]: DocumentBuilder } = {
  discover: async (set) => ({
    document: {
      ...buildDiscoverDocument(await set.outline()),
      ...compact({ serve: supportsServe(set) ? SERVE_PROTOCOL_VERSION : undefined }),
    },
  }),
  tools: async (set) => ({ document: buildToolsDocument(await set.outline()) }),
  resources: async (set) => ({ document: buildResourcesDocument(await set.outline()) }),
  prompts: async (set) => ({ document: buildPromptsDocument(await set.outline()) }),
  manifest: async (set) => ({
    document: (await import('./tool-documents.ts')).buildToolsetManifestDocument(
      await set.manifest(),
    ),
  }),
  schema: async (set) => ({
    document: (await import('./tool-documents.ts')).buildToolsetSchemaDocument(
      await set.manifest(),
    ),
  }),
  describe: async (set) => ({
    document: (await import('./tool-documents.ts')).buildToolsetDescribeDocument(
      await set.manifest(),
    ),
  }),
  'fractalic-dump-schema': dumpSimpleSchema,
  'fractalic-dump-multi-schema': async (set) => ({
    document: (await import('./tool-documents.ts')).buildSimpleSchemasDocument(
      await set.manifest(),
    ),
  }),
  resource: async (set, [uri], options) => toDocumentAnswer(await set.readResource(uri!, options)),
  prompt: async (set, [name, json], options) => ({
    ...toDocumentAnswer(
      await set.renderPrompt(name!, parseJsonInput(json!, 'the arguments of the prompt'), options),
    ),
    origin: 'json',
  }),
}

/** Answers a program flag that asks for a document. */
export async function answerProgramFlag(
  what: string,
  values: readonly string[],
  set: Servable,
  options: CallOptions,
): Promise<DocumentAnswer> {
  return PROGRAM_DOCUMENTS[what]!(set, values, options)
}

/** Answers a flag behind a tool name that asks about the tool. */
export async function answerToolFlag(
  what: string,
  values: readonly string[],
  set: Servable,
  entry: ToolEntry,
  options: CallOptions,
): Promise<DocumentAnswer> {
  const { manifest } = await entry.definition.compiled()
  if (what === 'manifest')
    return { document: (await import('./tool-documents.ts')).buildManifestDocument(manifest) }
  if (what === 'schema')
    return { document: (await import('./tool-documents.ts')).buildSchemaDocument(manifest) }
  if (what === 'describe')
    return {
      document: (await import('./tool-documents.ts')).buildDescribeDocument(
        manifest,
        await set.outline(),
      ),
    }
  const problem = await validateJsonText(values[0]!, entry, options)
  if (!problem) return { document: { valid: true } }
  const issues = problem.details?.['issues']
  return {
    document: {
      valid: false,
      errors: Array.isArray(issues)
        ? issues
        : [compact({ code: problem.code, message: problem.message, field: problem.field })],
    },
    exit: 65,
  }
}

async function validateJsonText(
  text: string,
  entry: ToolEntry,
  options: CallOptions,
): Promise<ToolError | undefined> {
  try {
    const { validateInput } = await import('../core/validate.ts')
    return await validateInput(entry.definition, parseJsonInput(text, 'the input'), options)
  } catch (error) {
    if (ToolError.is(error)) return error
    throw error
  }
}

async function dumpSimpleSchema(set: Servable): Promise<DocumentAnswer> {
  const { buildSimpleSchemaDocument } = await import('./tool-documents.ts')
  const [only, ...more] = set.entries
  if (only && more.length === 0)
    return { document: buildSimpleSchemaDocument((await only.definition.compiled()).manifest) }
  return {
    failure: new ToolError(
      'USAGE',
      'this program has several tools: ask with --fractalic-dump-multi-schema',
      { suggestion: 'Use --fractalic-dump-multi-schema' },
    ),
  }
}

// The only tool's own field `serve` would get the flag.
function supportsServe({ entries }: Servable): boolean {
  return entries.length !== 1 || !entries[0]!.definition.flagNames().has('serve')
}

function toDocumentAnswer(outcome: Outcome): DocumentAnswer {
  return outcome.ok
    ? { document: outcome.result }
    : { failure: new ToolError(outcome.error.code, outcome.error.message, outcome.error) }
}

/** Prints the help that fits a command; gives the exit status. */
export async function printHelp(set: Servable, command: ParsedCommand, io: Io): Promise<number> {
  const { renderHelp } = await import('./help.ts')
  const sketch = await set.sketch()
  return printText(
    io,
    renderHelp(set.command === undefined ? sketch : { ...sketch, name: set.command }, command, io),
  )
}

/** Prints a bare JSON document; gives the exit status. */
export async function printDocument(io: Io, document: unknown, exit = 0): Promise<number> {
  await printText(io, `${toJsonText(document, 2)}\n`)
  return exit
}

/** Prints text as it is. */
export async function printText(io: Io, text: string): Promise<number> {
  io.stdout.write(text)
  await io.stdout.flush()
  return 0
}

/** How something is asked for a document. */
export function createDocumentOptions(
  { timeout }: GlobalFlags,
  io: Io,
  { signal }: CommandHost,
): CallOptions {
  return compact({ cwd: io.cwd, env: io.env, signal, timeout })
}

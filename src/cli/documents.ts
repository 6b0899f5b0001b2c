/**
 * Answers flags that ask about the program or a tool instead of calling it (`--discover`,
 * `--schema`, `--validate` …), and prints documents and help.
 */

import type { CallOptions } from '../core/call.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Io } from '../protocol/io.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
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
import type { CommandHost } from './types.ts'

/** A bare document to print, or a failure to print as an envelope. */
type DocumentAnswer =
  | { readonly document: unknown; readonly exit?: number }
  | { readonly failure: ToolError; readonly origin?: InputOrigin }

type AskedDocument = NonNullable<GlobalFlags['asked']>

type ProgramDocument = (
  set: Servable,
  values: readonly string[],
  options: CallOptions,
  io: Io,
) => Promise<DocumentAnswer>

type ToolDocuments = typeof import('./tool-documents.ts')

const PROGRAM_DOCUMENTS: { readonly [what: string]: ProgramDocument } = {
  discover: async (set) => {
    const document = buildDiscoverDocument(await set.outline())
    return {
      document: supportsServe(set) ? { ...document, serve: SERVE_PROTOCOL_VERSION } : document,
    }
  },
  tools: async (set) => ({ document: buildToolsDocument(await set.outline()) }),
  resources: async (set) => ({ document: buildResourcesDocument(await set.outline()) }),
  prompts: async (set) => ({ document: buildPromptsDocument(await set.outline()) }),
  manifest: describeSet((documents) => documents.buildToolsetManifestDocument),
  schema: describeSet((documents) => documents.buildToolsetSchemaDocument),
  describe: describeSet((documents) => documents.buildToolsetDescribeDocument),
  'fractalic-dump-schema': dumpSimpleSchema,
  'fractalic-dump-multi-schema': describeSet((documents) => documents.buildSimpleSchemasDocument),
  resource: async (set, [uri], options) => toDocumentAnswer(await set.readResource(uri!, options)),
  prompt: async (set, [name, json], options) => {
    const given = parseJsonInput(json!, 'the arguments of the prompt')
    return { ...toDocumentAnswer(await set.renderPrompt(name!, given, options)), origin: 'json' }
  },
  selftest: async (set, _values, options, io) => {
    const { runSelftest } = await import('./selftest.ts')
    const document = await runSelftest(set, io, options)
    return { document, exit: document.selftest === 'ok' ? 0 : 1 }
  },
}

/** True for documents that code of the author makes. */
export function runsTools(what: string): boolean {
  return what === 'resource' || what === 'prompt' || what === 'selftest'
}

/** Answers a program flag that asks for a document. */
export function answerProgramFlag(
  { what, values }: AskedDocument,
  set: Servable,
  options: CallOptions,
  io: Io,
): Promise<DocumentAnswer> {
  return PROGRAM_DOCUMENTS[what]!(set, values, options, io)
}

function describeSet(
  choose: (documents: ToolDocuments) => (manifest: ToolsetManifest) => unknown,
): ProgramDocument {
  return async (set) => {
    const build = choose(await import('./tool-documents.ts'))
    return { document: build(await set.manifest()) }
  }
}

/** Answers a flag after a tool name that asks about the tool. */
export async function answerToolFlag(
  { what, values }: AskedDocument,
  set: Servable,
  entry: ToolEntry,
  options: CallOptions,
): Promise<DocumentAnswer> {
  const { manifest } = await entry.definition.compiled()
  if (what === 'validate') return answerValidate(values[0]!, entry, options)
  const documents = await import('./tool-documents.ts')
  if (what === 'manifest') return { document: documents.buildManifestDocument(manifest) }
  if (what === 'schema') return { document: documents.buildSchemaDocument(manifest) }
  return { document: documents.buildDescribeDocument(manifest, await set.outline()) }
}

async function answerValidate(
  text: string,
  entry: ToolEntry,
  options: CallOptions,
): Promise<DocumentAnswer> {
  const problem = await validateJsonText(text, entry, options)
  if (!problem) return { document: { valid: true } }
  const { code, message, field, details } = problem
  const issues = details?.['issues']
  const errors = Array.isArray(issues) ? issues : [compact({ code, message, field })]
  return { document: { valid: false, errors }, exit: 65 }
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

/** Prints a document, or the failure to make it; returns the exit status. */
export async function printAnswer(
  answer: DocumentAnswer,
  set: Servable,
  command: ParsedCommand,
  io: Io,
  host: CommandHost,
): Promise<number> {
  if (!('failure' in answer)) return printDocument(io, answer.document, answer.exit)
  const { printFailure } = await import('./failure.ts')
  return printFailure(set, answer.failure, command, io, host, answer.origin)
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

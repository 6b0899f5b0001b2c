import type { InputOrigin } from '../../contract/errors.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { SERVE_VERSION } from '../../contract/serve-protocol.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Servable } from '../../call/servable.ts'
import {
  discoverDocument,
  promptsDocument,
  resourcesDocument,
  toolsDocument,
} from '../json/discover.ts'
import { parseJsonInput } from '../../define/argv/json-input.ts'

/** A bare document to print, or a failure to print as an envelope. */
export type Answered =
  | { readonly document: unknown; readonly exit?: number }
  | { readonly failure: ToolError; readonly origin?: InputOrigin }

type ProgramQuestion = (
  set: Servable,
  values: readonly string[],
  options: CallOptions,
) => Answered | Promise<Answered>

const PROGRAM_QUESTIONS: { readonly [what: string]: ProgramQuestion } = {
  discover: async (set) => ({
    document: {
      ...discoverDocument(await set.outline()),
      ...(canServe(set) && { serve: SERVE_VERSION }),
    },
  }),
  tools: async (set) => ({ document: toolsDocument(await set.outline()) }),
  resources: async (set) => ({ document: resourcesDocument(await set.outline()) }),
  prompts: async (set) => ({ document: promptsDocument(await set.outline()) }),
  manifest: async (set) => ({
    document: (await import('../json/manifest.ts')).toolsetManifestDocument(await set.manifest()),
  }),
  schema: async (set) => ({
    document: (await import('../json/schema.ts')).toolsetSchemaDocument(await set.manifest()),
  }),
  describe: async (set) => ({
    document: (await import('../json/describe.ts')).toolsetDescribeDocument(await set.manifest()),
  }),
  'fractalic-dump-schema': dumpSchema,
  'fractalic-dump-multi-schema': async (set) => ({
    document: (await import('../json/simple.ts')).simpleSchemasDocument(await set.manifest()),
  }),
  resource: async (set, [uri], options) => fromOutcome(await set.readResource(uri!, options)),
  prompt: async (set, [name, json], options) => ({
    ...fromOutcome(
      await set.renderPrompt(name!, parseJsonInput(json!, 'the arguments of the prompt'), options),
    ),
    origin: 'json',
  }),
}

/** Answers a program flag that asks for a document. */
export async function answerProgram(
  what: string,
  values: readonly string[],
  set: Servable,
  options: CallOptions,
): Promise<Answered> {
  return PROGRAM_QUESTIONS[what]!(set, values, options)
}

/** Answers a flag behind a tool name that asks about the tool. */
export async function answerTool(
  what: string,
  values: readonly string[],
  set: Servable,
  entry: ToolEntry,
  options: CallOptions,
): Promise<Answered> {
  const { manifest } = await entry.definition.compiled()
  if (what === 'manifest')
    return { document: (await import('../json/manifest.ts')).manifestDocument(manifest) }
  if (what === 'schema')
    return { document: (await import('../json/schema.ts')).schemaDocument(manifest) }
  if (what === 'describe')
    return {
      document: (await import('../json/describe.ts')).describeDocument(
        manifest,
        await set.outline(),
      ),
    }
  const problem = await validateText(values[0]!, entry, options)
  if (!problem) return { document: { valid: true } }
  const issues = problem.details?.['issues']
  return {
    document: {
      valid: false,
      errors: Array.isArray(issues)
        ? issues
        : [
            {
              code: problem.code,
              message: problem.message,
              ...(problem.field !== undefined && { field: problem.field }),
            },
          ],
    },
    exit: 65,
  }
}

async function validateText(
  text: string,
  entry: ToolEntry,
  options: CallOptions,
): Promise<ToolError | undefined> {
  try {
    const { validateInput } = await import('../../call/validate.ts')
    return await validateInput(entry.definition, parseJsonInput(text, 'the input'), options)
  } catch (error) {
    if (ToolError.is(error)) return error
    throw error
  }
}

async function dumpSchema(set: Servable): Promise<Answered> {
  const { simpleSchemaDocument } = await import('../json/simple.ts')
  const [only, ...more] = set.entries
  if (only && more.length === 0)
    return { document: simpleSchemaDocument((await only.definition.compiled()).manifest) }
  return {
    failure: new ToolError(
      'USAGE',
      'this program has several tools: ask with --fractalic-dump-multi-schema',
      { suggestion: 'Use --fractalic-dump-multi-schema' },
    ),
  }
}

// The only tool's own field `serve` would get the flag.
function canServe({ entries }: Servable): boolean {
  return entries.length !== 1 || !entries[0]!.definition.flagNames().has('serve')
}

function fromOutcome(outcome: Outcome): Answered {
  return outcome.ok
    ? { document: outcome.result }
    : { failure: new ToolError(outcome.error.code, outcome.error.message, outcome.error) }
}

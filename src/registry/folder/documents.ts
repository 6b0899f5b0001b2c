/**
 * Resources and prompts of executables, read and rendered by running them.
 */

import type { Prompt, PromptText } from '../../define/prompt.ts'
import { prompt } from '../../define/prompt.ts'
import type { Resource, ResourceContent } from '../../define/resource.ts'
import { compileUriPattern, resource } from '../../define/resource.ts'
import type { ReadingContext } from '../../protocol/context.ts'
import type { PromptManifest, ResourceManifest } from '../../protocol/manifest.ts'
import { reviveToolError } from '../../protocol/tool-error.ts'
import { MINUTE_MS } from '../../util/units.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { ChildCall } from '../child/child-call.ts'
import { toSummary, toValidName } from '../names.ts'
import { checkToolFile } from './freshness.ts'
import type { CandidateProblem, FolderContext } from './outline.ts'
import { parseProgramBody } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

/** Runs the program with these arguments, and returns the document that it prints. */
type RequestDocument = (args: readonly string[], ctx: ReadingContext) => Promise<unknown>

/**
 * Resources and prompts of executables: `--resource <uri>`, `--prompt <name> <json>`. Those that
 * cannot be used are reported.
 */
export function readProgramDocuments(
  home: FolderContext,
  documented: readonly KnownCandidate[],
  report: (known: KnownCandidate, problem: CandidateProblem, severity: 'warning') => void,
): { readonly resources: readonly Resource[]; readonly prompts: readonly Prompt[] } {
  const made: { resources: Resource[]; prompts: Prompt[] } = { resources: [], prompts: [] }
  for (const known of documented) {
    const { command, resources = [], prompts = [] } = parseProgramBody(known.record.body)
    const request: RequestDocument = (args, ctx) =>
      requestDocument(home, known, command!, args, ctx)
    const attempt = (what: string, add: () => void): void => {
      try {
        add()
      } catch (error) {
        const message = `${known.candidate.key}: ${what} cannot be used: ${(error as Error).message}`
        const fix = 'Mend what the program says about it'
        report(known, { reason: 'unusable', message, fix }, 'warning')
      }
    }
    for (const manifest of resources)
      attempt(`resource '${manifest.uri}'`, () =>
        made.resources.push(makeResource(manifest, request)),
      )
    for (const manifest of prompts)
      attempt(`prompt '${manifest.name}'`, () => made.prompts.push(makePrompt(manifest, request)))
  }
  return made
}

function makeResource(
  { uri, summary, ...rest }: ResourceManifest,
  request: RequestDocument,
): Resource {
  const pattern = compileUriPattern(uri)
  return resource<string>({
    ...rest,
    uri,
    summary: toSummary(uri, { summary }),
    read: async (params, ctx) =>
      (await request(['--resource', pattern.expand(params)], ctx)) as ResourceContent,
  })
}

function makePrompt(
  { name, summary, title, arguments: fields, tags }: PromptManifest,
  request: RequestDocument,
): Prompt {
  const properties: { [field: string]: JsonSchema } = {}
  for (const { name: field, description } of fields)
    properties[field] = compact({ type: 'string', description })
  return prompt<JsonSchema>({
    name: toValidName(name),
    summary: toSummary(name, { summary }),
    ...compact({ title }),
    tags,
    arguments: {
      type: 'object',
      properties,
      required: fields.filter(({ required }) => required).map(({ name: field }) => field),
      additionalProperties: false,
    },
    render: async (args, ctx) =>
      toPromptText(await request(['--prompt', name, JSON.stringify(args)], ctx)),
  })
}

// Some print the text itself, some `{"prompt": text}` or `{"messages": [...]}`.
function toPromptText(answer: unknown): PromptText {
  const { prompt: text, messages } = isObject(answer) ? answer : {}
  return (messages ?? text ?? answer) as PromptText
}

async function requestDocument(
  home: FolderContext,
  known: KnownCandidate,
  command: ChildCall['command'],
  args: readonly string[],
  ctx: ReadingContext,
): Promise<unknown> {
  await checkToolFile(home, known)
  const [{ runChild }, { buildCallEnv }, child, { readAnswer }, { checkArguments }] =
    await Promise.all([
      import('../../process/run.ts'),
      import('../../process/environment.ts'),
      import('../child/runner.ts'),
      import('../child/answer.ts'),
      import('../child/arguments.ts'),
    ])
  checkArguments(args, 'Send less')
  const end = await child.trackChild(
    home.services.running,
    runChild({
      command: [...command, ...args],
      cwd: ctx.cwd,
      env: { ...buildCallEnv(ctx.env), PYTHONIOENCODING: 'utf-8', ...home.variables },
      timeout: MINUTE_MS,
      signal: ctx.signal,
    }),
  )
  const stderr = end.stderr.toString()
  child.throwEndError(end, ctx, stderr)
  const { outcome } = readAnswer({ ...end, stderr }, { expects: 'json', mustAnswer: true })
  if (!outcome.ok) throw reviveToolError(outcome.error)
  return outcome.result
}

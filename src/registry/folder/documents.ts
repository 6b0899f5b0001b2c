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
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { ChildCall, ChildServices } from '../child/child-call.ts'
import { toSummary, toValidName } from '../names.ts'
import { checkToolFile } from './freshness.ts'
import type { CandidateProblem, FolderContext } from './outline.ts'
import { parseProgramBody } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

/** Resources and prompts of executables that have some. */
export function readProgramDocuments(
  home: FolderContext,
  documented: readonly KnownCandidate[],
  report: (known: KnownCandidate, trouble: CandidateProblem, severity: 'warning') => void,
): { readonly resources: readonly Resource[]; readonly prompts: readonly Prompt[] } {
  const all = documented.map((known) => {
    const { command, resources = [], prompts = [] } = parseProgramBody(known.record.body)
    const { key } = known.candidate
    return createDocuments(
      {
        command: command!,
        resources,
        prompts,
        services: home.services,
        env: () => home.variables,
        check: () => checkToolFile(home, known),
      },
      (what, { message }) =>
        report(
          known,
          {
            reason: 'unusable',
            message: `${key}: ${what} cannot be used: ${message}`,
            fix: 'Mend what the program says about it',
          },
          'warning',
        ),
    )
  })
  return {
    resources: all.flatMap(({ resources }) => resources),
    prompts: all.flatMap(({ prompts }) => prompts),
  }
}

/** An executable that has resources or prompts, as `--discover` told. */
type DocumentedProgram = {
  readonly command: ChildCall['command']
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  readonly services: ChildServices
  /** Variables besides the base allow-list. */
  env(): { readonly [name: string]: string }
  /** Throws where the program may not be run now. */
  check(): Promise<unknown>
}

const DOCUMENT_TIMEOUT_MS = 60_000

/**
 * Resources and prompts of an executable, read and rendered by it: `--resource <uri>`, `--prompt
 * <name> <json>`. What cannot be used is told.
 */
function createDocuments(
  program: DocumentedProgram,
  onProblem: (what: string, error: Error) => void,
): { readonly resources: readonly Resource[]; readonly prompts: readonly Prompt[] } {
  const usable = <Given, Made>(
    given: readonly Given[],
    what: (one: Given) => string,
    make: (one: Given) => Made,
  ): readonly Made[] =>
    given.flatMap((one) => {
      try {
        return [make(one)]
      } catch (error) {
        onProblem(what(one), error as Error)
        return []
      }
    })
  return {
    resources: usable(
      program.resources,
      ({ uri }) => `resource '${uri}'`,
      (given) => makeResource(given, program),
    ),
    prompts: usable(
      program.prompts,
      ({ name }) => `prompt '${name}'`,
      (given) => makePrompt(given, program),
    ),
  }
}

function makeResource(
  { uri, summary, ...rest }: ResourceManifest,
  program: DocumentedProgram,
): Resource {
  const pattern = compileUriPattern(uri)
  return resource<string>({
    ...rest,
    uri,
    summary: toSummary(uri, { summary }),
    read: async (params, ctx) =>
      (await requestDocument(
        program,
        ['--resource', pattern.expand(params)],
        ctx,
      )) as ResourceContent,
  })
}

function makePrompt(
  { name, summary, title, arguments: given, tags }: PromptManifest,
  program: DocumentedProgram,
): Prompt {
  return prompt<JsonSchema>({
    name: toValidName(name),
    summary: toSummary(name, { summary }),
    ...compact({ title }),
    tags,
    arguments: {
      type: 'object',
      properties: Object.fromEntries(
        given.map(({ name: argument, description }) => [
          argument,
          compact({ type: 'string', description }),
        ]),
      ),
      required: given.filter(({ required }) => required).map(({ name: argument }) => argument),
      additionalProperties: false,
    },
    render: async (args, ctx) =>
      toPromptText(await requestDocument(program, ['--prompt', name, JSON.stringify(args)], ctx)),
  })
}

// Some print the text itself, some `{"prompt": text}` or `{"messages": [...]}`.
function toPromptText(answer: unknown): PromptText {
  const { prompt: text, messages } = (
    typeof answer === 'object' && answer !== null ? answer : {}
  ) as { readonly prompt?: unknown; readonly messages?: unknown }
  return (messages ?? text ?? answer) as PromptText
}

async function requestDocument(
  { command: [file, ...fixed], services, env, check }: DocumentedProgram,
  args: readonly string[],
  ctx: ReadingContext,
): Promise<unknown> {
  await check()
  const [
    { runChild },
    { buildCallEnv },
    { readAnswer },
    { throwEndError, trackChild },
    { checkArguments },
  ] = await Promise.all([
    import('../../process/run.ts'),
    import('../../process/environment.ts'),
    import('../child/answer.ts'),
    import('../child/runner.ts'),
    import('../child/arguments.ts'),
  ])
  checkArguments(args, 'Send less')
  const end = await trackChild(
    services.running,
    runChild({
      command: [file, ...fixed, ...args],
      cwd: ctx.cwd,
      env: { ...buildCallEnv(ctx.env), PYTHONIOENCODING: 'utf-8', ...env() },
      timeout: DOCUMENT_TIMEOUT_MS,
      signal: ctx.signal,
    }),
  )
  const stderr = end.stderr.toString()
  throwEndError(end, ctx, stderr)
  const { outcome } = readAnswer(
    { stdout: end.stdout, stderr, status: end.status, signal: end.signal },
    { expects: 'json', mustAnswer: true },
  )
  if (!outcome.ok) throw reviveToolError(outcome.error)
  return outcome.result
}

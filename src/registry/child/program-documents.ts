import type { ReadingContext } from '../../contract/context.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { PromptManifest, ResourceManifest } from '../../contract/manifest.ts'
import { toolErrorFrom } from '../../contract/tool-error.ts'
import { prompt } from '../../define/prompt.ts'
import type { Prompt, PromptText } from '../../define/prompt.ts'
import { resource } from '../../define/resource.ts'
import type { Resource, ResourceContent } from '../../define/resource.ts'
import { compileUriPattern } from '../../define/uri-pattern.ts'
import { summaryOf } from '../foreign/summary.ts'
import { validName } from '../names.ts'
import type { ChildCall } from './child-call.ts'
import type { ChildServices } from './services.ts'

/** An executable that has resources or prompts, as `--discover` told. */
export type DocumentedProgram = {
  readonly command: ChildCall['command']
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  readonly services: ChildServices
  /** Variables besides the base allow-list. */
  env(): { readonly [name: string]: string }
  /** Throws where the program may not be run now. */
  check(): Promise<unknown>
}

const LONGEST_MS = 60_000

/** Resources and prompts of an executable, read and rendered by it: `--resource <uri>`, `--prompt <name> <json>`. What cannot be used is told. */
export function documentsOf(
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
    summary: summaryOf(uri, { summary }),
    read: async (params, ctx) =>
      (await ask(program, ['--resource', pattern.expand(params)], ctx)) as ResourceContent,
  })
}

function makePrompt(
  { name, summary, title, arguments: given, tags }: PromptManifest,
  program: DocumentedProgram,
): Prompt {
  return prompt<JsonSchema>({
    name: validName(name),
    summary: summaryOf(name, { summary }),
    ...(title !== undefined && { title }),
    tags,
    arguments: {
      type: 'object',
      properties: Object.fromEntries(
        given.map(({ name: argument, description }) => [
          argument,
          { type: 'string', ...(description !== undefined && { description }) },
        ]),
      ),
      required: given.filter(({ required }) => required).map(({ name: argument }) => argument),
      additionalProperties: false,
    },
    render: async (args, ctx) =>
      textOf(await ask(program, ['--prompt', name, JSON.stringify(args)], ctx)),
  })
}

// Some print the text itself, some `{"prompt": text}` or `{"messages": [...]}`.
function textOf(answer: unknown): PromptText {
  const { prompt: text, messages } = (
    typeof answer === 'object' && answer !== null ? answer : {}
  ) as { readonly prompt?: unknown; readonly messages?: unknown }
  return (messages ?? text ?? answer) as PromptText
}

async function ask(
  { command: [file, ...fixed], services, env, check }: DocumentedProgram,
  args: readonly string[],
  ctx: ReadingContext,
): Promise<unknown> {
  await check()
  const [
    { runChild },
    { baseEnvironment },
    { readAnswer },
    { failureOfEnd },
    { tracked },
    { checkArguments },
  ] = await Promise.all([
    import('../../process/run-child.ts'),
    import('../../process/base-environment.ts'),
    import('./read-answer.ts'),
    import('./end-failure.ts'),
    import('./run-once.ts'),
    import('./argv/check-arguments.ts'),
  ])
  checkArguments(args, 'Send less')
  const end = await tracked(
    services.running,
    runChild({
      command: [file, ...fixed, ...args],
      cwd: ctx.cwd,
      env: { ...baseEnvironment(ctx.env), PYTHONIOENCODING: 'utf-8', ...env() },
      timeout: LONGEST_MS,
      signal: ctx.signal,
    }),
  )
  const stderr = end.stderr.toString()
  const problem = failureOfEnd(end, ctx, stderr)
  if (problem) throw problem
  const { outcome } = readAnswer(
    { stdout: end.stdout, stderr, status: end.status, signal: end.signal },
    { expects: 'json', mustAnswer: true },
  )
  if (!outcome.ok) throw toolErrorFrom(outcome.error)
  return outcome.result
}

import type { ReadingContext } from '../protocol/context.ts'
import type { PromptArgument, PromptManifest } from '../protocol/manifest.ts'
import type { ContentBlock } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { Completers } from './checks.ts'
import {
  checkCompleters,
  checkName,
  checkOptions,
  checkSummary,
  checkTitle,
  runCompleter,
} from './checks.ts'
import type { CompiledSchema, LazySchema } from './schema/source.ts'
import { classifySchema, resolveSchema } from './schema/source.ts'
import type { OutputOf } from './tool-types.ts'

/** One message; content that is no text is made with `content`. */
export type PromptMessage = {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | ContentBlock | readonly ContentBlock[]
}
export type PromptText = string | readonly PromptMessage[]

/** What `render` gets besides the arguments. */
export type PromptContext = ReadingContext

/** Arguments as a record of name → description (all required, all text), or as a schema. */
export type PromptArguments = { readonly [name: string]: string } | LazySchema

type PromptArgumentValues<A> = PromptArguments extends A
  ? Record<string, never>
  : A extends { readonly [name: string]: string }
    ? { readonly [Name in keyof A]: string }
    : OutputOf<A>

export type PromptOptions<Arguments extends PromptArguments = PromptArguments> = {
  readonly name: string
  readonly summary: string
  /** The name as people read it. */
  readonly title?: string
  readonly arguments?: Arguments
  readonly tags?: readonly string[]
  /**
   * Completes what a user typed for an argument; default: the values that the schema names.
   */
  readonly complete?: Completers<Extract<keyof PromptArgumentValues<Arguments>, string>>
  readonly render: (
    args: PromptArgumentValues<Arguments>,
    ctx: PromptContext,
  ) => PromptText | Promise<PromptText>
}

const PROMPT_OPTION_NAMES = [
  'name',
  'summary',
  'title',
  'arguments',
  'tags',
  'complete',
  'render',
] as const satisfies readonly (keyof PromptOptions)[]

const PROMPT_BRAND = Symbol.for('toolable.prompt')

/** A text template for a model. */
export type Prompt = {
  readonly [PROMPT_BRAND]: true
  readonly name: string
  manifest(): Promise<PromptManifest>
  arguments(): Promise<CompiledSchema>
  render(args: unknown, ctx: PromptContext): PromptText | Promise<PromptText>
  /** Values for an argument that begin with what was typed; none for an unknown argument. */
  complete(
    argument: string,
    value: string,
    others?: { readonly [argument: string]: string },
  ): Promise<readonly string[]>
}

/** Defines a prompt; throws CONFIG when name or summary are unusable. */
export function prompt<const Arguments extends PromptArguments>(
  options: PromptOptions<Arguments>,
): Prompt {
  checkName('prompt', options.name)
  const what = `prompt '${options.name}'`
  checkSummary(what, options.summary)
  checkOptions(what, options, PROMPT_OPTION_NAMES)
  if (typeof options.render !== 'function')
    throw new ToolError('CONFIG', `${what} needs a 'render' function`)
  checkTitle(what, options.title)
  let schema: Promise<CompiledSchema> | undefined
  const compiled = (): Promise<CompiledSchema> => (schema ??= compileArguments(what, options))
  const given: PromptArguments = options.arguments ?? {}
  const early = typeof given === 'object' ? classifySchema(toArgumentsSchema(given)) : undefined
  if (options.complete !== undefined)
    checkCompleters(
      what,
      options.complete,
      early && 'plain' in early ? listArgumentNames(early.plain) : undefined,
    )
  return {
    [PROMPT_BRAND]: true,
    name: options.name,
    arguments: compiled,
    manifest: async () =>
      compact({
        name: options.name,
        title: options.title,
        summary: options.summary,
        arguments: listArguments(await compiled()),
        tags: options.tags ?? [],
      }),
    render: (args, ctx) => options.render(args as PromptArgumentValues<Arguments>, ctx),
    async complete(argument, value, others = {}) {
      const found = await runCompleter(what, options.complete, argument, value, others)
      return (
        found ??
        (await import('./complete-from-schema.ts')).completeFromSchema(
          (await compiled()).json,
          argument,
          value,
        )
      )
    },
  }
}

/** True for what `prompt` gives. */
export function isPrompt(value: unknown): value is Prompt {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { [PROMPT_BRAND]?: unknown })[PROMPT_BRAND] === true
  )
}

async function compileArguments(
  what: string,
  options: { readonly arguments?: PromptArguments; readonly complete?: Completers },
): Promise<CompiledSchema> {
  const { compileSchema } = await import('./schema/compile.ts')
  const schema = compileSchema(resolveSchema(toArgumentsSchema(options.arguments ?? {})), 'input')
  if (options.complete) checkCompleters(what, options.complete, listArgumentNames(schema.json))
  return schema
}

// Undefined where the arguments are in parts that only compiling puts together.
function listArgumentNames(schema: JsonSchema): readonly string[] | undefined {
  const composed = ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) =>
    Object.hasOwn(schema, keyword),
  )
  return composed
    ? undefined
    : Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
}

function toArgumentsSchema(given: PromptArguments): LazySchema {
  const isRecord =
    isObject(given) &&
    !('~standard' in given) &&
    Object.values(given).every((value) => typeof value === 'string') &&
    given['type'] !== 'object'
  if (!isRecord) return given
  const names = Object.keys(given)
  return {
    type: 'object',
    properties: Object.fromEntries(
      names.map((name) => [name, { type: 'string', description: given[name] }]),
    ),
    required: names,
    additionalProperties: false,
  }
}

function listArguments({ json }: CompiledSchema): PromptArgument[] {
  const required = Array.isArray(json['required']) ? (json['required'] as unknown[]) : []
  return Object.entries(isObject(json['properties']) ? json['properties'] : {}).map(
    ([name, property]) =>
      compact({
        name,
        description:
          isObject(property) && typeof property['description'] === 'string'
            ? property['description']
            : undefined,
        required: required.includes(name),
      }),
  )
}

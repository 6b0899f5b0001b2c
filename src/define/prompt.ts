import type { ContentBlock } from '../contract/content.ts'
import type { ReadingContext } from '../contract/context.ts'
import { isObject } from '../contract/json.ts'
import type { JsonSchema } from '../contract/json.ts'
import type { PromptArgument, PromptManifest } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { askCompleter, checkCompleters } from './complete.ts'
import type { Completers } from './complete.ts'
import { checkName, checkOptions, checkSummary, checkTitle } from './names.ts'
import type { LazySchema, Schema } from './schema/schema.ts'
import { readSource, resolveSchema } from './schema/source.ts'
import type { OutputOf } from './types.ts'

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

type ArgumentsOf<A> = PromptArguments extends A
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
  /** Values that may follow what somebody types for an argument; where there is none, the values that the schema itself names. */
  readonly complete?: Completers<Extract<keyof ArgumentsOf<Arguments>, string>>
  readonly render: (
    args: ArgumentsOf<Arguments>,
    ctx: PromptContext,
  ) => PromptText | Promise<PromptText>
}

const OPTIONS = [
  'name',
  'summary',
  'title',
  'arguments',
  'tags',
  'complete',
  'render',
] as const satisfies readonly (keyof PromptOptions)[]

const brand = Symbol.for('toolable.prompt')

/** A text template for a model. */
export type Prompt = {
  readonly [brand]: true
  readonly name: string
  manifest(): Promise<PromptManifest>
  arguments(): Promise<Schema>
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
  checkOptions(what, options, OPTIONS)
  if (typeof options.render !== 'function')
    throw new ToolError('CONFIG', `${what} needs a 'render' function`)
  checkTitle(what, options.title)
  let schema: Promise<Schema> | undefined
  const compiled = (): Promise<Schema> => (schema ??= compile(what, options))
  const given: PromptArguments = options.arguments ?? {}
  const early = typeof given === 'object' ? readSource(toSchema(given)) : undefined
  if (options.complete !== undefined)
    checkCompleters(
      what,
      options.complete,
      early && 'plain' in early ? argumentNames(early.plain) : undefined,
    )
  return {
    [brand]: true,
    name: options.name,
    arguments: compiled,
    manifest: async () => ({
      name: options.name,
      ...(options.title !== undefined && { title: options.title }),
      summary: options.summary,
      arguments: listArguments(await compiled()),
      tags: options.tags ?? [],
    }),
    render: (args, ctx) => options.render(args as ArgumentsOf<Arguments>, ctx),
    async complete(argument, value, others = {}) {
      const found = await askCompleter(what, options.complete, argument, value, others)
      return (
        found ??
        (await import('./complete-from-schema.ts')).completeField(
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
    typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
  )
}

async function compile(
  what: string,
  options: { readonly arguments?: PromptArguments; readonly complete?: Completers },
): Promise<Schema> {
  const { compileSchema } = await import('./schema/compile.ts')
  const schema = compileSchema(resolveSchema(toSchema(options.arguments ?? {})), 'input')
  if (options.complete) checkCompleters(what, options.complete, argumentNames(schema.json))
  return schema
}

// Undefined where the arguments stand in parts that only compiling puts together.
function argumentNames(schema: JsonSchema): readonly string[] | undefined {
  const composed = ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) =>
    Object.hasOwn(schema, keyword),
  )
  return composed
    ? undefined
    : Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
}

function toSchema(given: PromptArguments): LazySchema {
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

function listArguments({ json }: Schema): PromptArgument[] {
  const required = Array.isArray(json['required']) ? (json['required'] as unknown[]) : []
  return Object.entries(isObject(json['properties']) ? json['properties'] : {}).map(
    ([name, property]) => ({
      name,
      ...(isObject(property) &&
        typeof property['description'] === 'string' && { description: property['description'] }),
      required: required.includes(name),
    }),
  )
}

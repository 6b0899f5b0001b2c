import { isObject } from '../contract/json.ts'
import type { PromptArgument, PromptManifest } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { checkName, checkSummary } from './names.ts'
import type { LazySchema, Schema } from './schema/schema.ts'
import { readSource, resolveSchema } from './schema/source.ts'
import type { OutputOf } from './types.ts'

export type PromptMessage = { readonly role: 'user' | 'assistant' | 'system'; readonly content: string }
export type PromptText = string | readonly PromptMessage[]

/** Arguments as a record of name → description (all required, all text), or as a schema. */
export type PromptArguments = { readonly [name: string]: string } | LazySchema

type ArgumentsOf<A> = PromptArguments extends A ? Record<string, never> : A extends { readonly [name: string]: string } ? { readonly [Name in keyof A]: string } : OutputOf<A>

export type PromptOptions<Arguments extends PromptArguments = PromptArguments> = {
  readonly name: string
  readonly summary: string
  readonly arguments?: Arguments
  readonly tags?: readonly string[]
  readonly render: (args: ArgumentsOf<Arguments>) => PromptText | Promise<PromptText>
}

const brand = Symbol.for('toolable.prompt')

/** A text template for a model. */
export type Prompt = {
  readonly [brand]: true
  readonly name: string
  manifest(): Promise<PromptManifest>
  arguments(): Promise<Schema>
  render(args: unknown): PromptText | Promise<PromptText>
}

/** Defines a prompt; throws CONFIG when name or summary are unusable. */
export function prompt<const Arguments extends PromptArguments>(options: PromptOptions<Arguments>): Prompt {
  checkName('prompt', options.name)
  checkSummary(`prompt '${options.name}'`, options.summary)
  if (typeof options.render !== 'function') throw new ToolError('CONFIG', `prompt '${options.name}' needs a 'render' function`)
  let schema: Promise<Schema> | undefined
  const compiled = (): Promise<Schema> => (schema ??= import('./schema/compile.ts').then(({ compileSchema }) => compileSchema(resolveSchema(toSchema(options.arguments ?? {})), 'input')))
  if (typeof options.arguments === 'object') readSource(toSchema(options.arguments))
  return {
    [brand]: true,
    name: options.name,
    arguments: compiled,
    manifest: async () => ({ name: options.name, summary: options.summary, arguments: listArguments(await compiled()), tags: options.tags ?? [] }),
    render: (args) => options.render(args as ArgumentsOf<Arguments>),
  }
}

/** True for what `prompt` gives. */
export function isPrompt(value: unknown): value is Prompt {
  return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
}

function toSchema(given: PromptArguments): LazySchema {
  const isRecord = isObject(given) && !('~standard' in given) && Object.values(given).every((value) => typeof value === 'string') && given['type'] !== 'object'
  if (!isRecord) return given
  const names = Object.keys(given)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: given[name] }])),
    required: names,
    additionalProperties: false,
  }
}

function listArguments({ json }: Schema): PromptArgument[] {
  const required = Array.isArray(json['required']) ? (json['required'] as unknown[]) : []
  return Object.entries(isObject(json['properties']) ? json['properties'] : {}).map(([name, property]) => ({
    name,
    ...(isObject(property) && typeof property['description'] === 'string' && { description: property['description'] }),
    required: required.includes(name),
  }))
}

import type { ReadingContext } from '../contract/context.ts'
import type { ResourceManifest } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { askCompleter, checkCompleters } from './complete.ts'
import type { Completers } from './complete.ts'
import { checkOptions, checkSummary, checkTitle } from './names.ts'
import { compileUriPattern } from './uri-pattern.ts'

/** What `read` may give: text, bytes, JSON, or one of the first two with its MIME type. */
export type ResourceContent =
  | string
  | Uint8Array
  | { readonly mimeType: string; readonly text: string }
  | { readonly mimeType: string; readonly blob: Uint8Array | string }
  | object
  | number
  | boolean
  | null

/** What `read` and `list` get besides the parameters. */
export type ResourceContext = ReadingContext

type ParamsOf<Uri extends string> = string extends Uri
  ? Record<string, string>
  : { readonly [Name in NamesIn<Uri>]: string }
type NamesIn<Uri extends string> = Uri extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

export type ResourceOptions<Uri extends string = string> = {
  /** A pattern with `{name}` placeholders; each matches one path segment or part of it. */
  readonly uri: Uri
  readonly summary: string
  /** The name that programs show and sort by; default: the address. */
  readonly name?: string
  /** The name as people read it. */
  readonly title?: string
  readonly mimeTypes?: readonly string[]
  readonly tags?: readonly string[]
  /** Reads one resource; throw with `fail('NOT_FOUND', …)` when there is none. */
  readonly read: (
    params: ParamsOf<Uri>,
    ctx: ResourceContext,
  ) => ResourceContent | Promise<ResourceContent>
  /** Values that may follow what somebody types for a placeholder. */
  readonly complete?: Completers<string extends Uri ? string : NamesIn<Uri>>
  /** Addresses that exist right now. */
  readonly list?: (
    ctx: ResourceContext,
  ) => Iterable<ListedResource> | AsyncIterable<ListedResource> | Promise<Iterable<ListedResource>>
}

/** One address that exists; what is left out is taken from the resource that names it. */
export type ListedResource = {
  readonly uri: string
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
}

const OPTIONS = [
  'uri',
  'summary',
  'name',
  'title',
  'mimeTypes',
  'tags',
  'read',
  'complete',
  'list',
] as const satisfies readonly (keyof ResourceOptions)[]

const brand = Symbol.for('toolable.resource')

/** Something that can be read by its address. */
export type Resource = {
  readonly [brand]: true
  readonly manifest: ResourceManifest
  /** The placeholder values of a matching address; undefined when it does not match. */
  match(uri: string): Record<string, string> | undefined
  read(
    params: Record<string, string>,
    ctx: ResourceContext,
  ): ResourceContent | Promise<ResourceContent>
  readonly list?: NonNullable<ResourceOptions['list']>
  /** Values for a placeholder that begin with what was typed; none where the author gives none. */
  complete(
    param: string,
    value: string,
    others?: { readonly [param: string]: string },
  ): Promise<readonly string[]>
}

/** Defines a resource; throws CONFIG when the pattern or the summary is unusable. */
export function resource<const Uri extends string>(options: ResourceOptions<Uri>): Resource {
  if (typeof options.uri !== 'string')
    throw new ToolError('CONFIG', "a resource needs an address: uri: 'notes://{id}'")
  const pattern = compileUriPattern(options.uri)
  const what = `resource '${options.uri}'`
  checkSummary(what, options.summary)
  checkOptions(what, options, OPTIONS)
  checkTitle(what, options.name, 'name')
  checkTitle(what, options.title)
  if (options.complete !== undefined) checkCompleters(what, options.complete, pattern.params)
  if (typeof options.read !== 'function')
    throw new ToolError('CONFIG', `${what} needs a 'read' function`)
  const read = options.read
  return {
    [brand]: true,
    manifest: {
      uri: options.uri,
      ...(options.name !== undefined && { name: options.name }),
      ...(options.title !== undefined && { title: options.title }),
      summary: options.summary,
      mimeTypes: options.mimeTypes ?? [],
      tags: options.tags ?? [],
    },
    match: (uri) => pattern.match(uri),
    read,
    ...(options.list && { list: options.list }),
    complete: async (param, value, others = {}) =>
      (await askCompleter(what, options.complete, param, value, others)) ?? [],
  }
}

/** True for what `resource` gives. */
export function isResource(value: unknown): value is Resource {
  return (
    typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
  )
}

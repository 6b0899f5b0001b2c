/**
 * Resources: addresses with placeholders, and what reads them.
 */

import type { ReadingContext } from '../protocol/context.ts'
import type { ResourceManifest } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { Completers } from './checks.ts'
import { checkCompleters, checkOptions, checkSummary, checkTitle, runCompleter } from './checks.ts'

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

type UriParams<Uri extends string> = string extends Uri
  ? Record<string, string>
  : { readonly [Name in UriParamNames<Uri>]: string }
type UriParamNames<Uri extends string> = Uri extends `${string}{${infer Name}}${infer Rest}`
  ? Name | UriParamNames<Rest>
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
    params: UriParams<Uri>,
    ctx: ResourceContext,
  ) => ResourceContent | Promise<ResourceContent>
  /** Completes what a user typed for a placeholder. */
  readonly complete?: Completers<string extends Uri ? string : UriParamNames<Uri>>
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

const RESOURCE_OPTION_NAMES = [
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

const RESOURCE_BRAND = Symbol.for('toolable.resource')

/** Something that can be read by its address. */
export type Resource = {
  readonly [RESOURCE_BRAND]: true
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
  checkOptions(what, options, RESOURCE_OPTION_NAMES)
  checkTitle(what, options.name, 'name')
  checkTitle(what, options.title)
  if (options.complete !== undefined) checkCompleters(what, options.complete, pattern.params)
  if (typeof options.read !== 'function')
    throw new ToolError('CONFIG', `${what} needs a 'read' function`)
  const read = options.read
  return {
    [RESOURCE_BRAND]: true,
    manifest: {
      uri: options.uri,
      ...compact({ name: options.name, title: options.title }),
      summary: options.summary,
      mimeTypes: options.mimeTypes ?? [],
      tags: options.tags ?? [],
    },
    match: (uri) => pattern.match(uri),
    read,
    ...compact({ list: options.list }),
    complete: async (param, value, others = {}) =>
      (await runCompleter(what, options.complete, param, value, others)) ?? [],
  }
}

/** True for what `resource` gives. */
export function isResource(value: unknown): value is Resource {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { [RESOURCE_BRAND]?: unknown })[RESOURCE_BRAND] === true
  )
}

/** An address with `{name}` placeholders, ready to match addresses and to build them. */
type UriPattern = {
  /**
   * The decoded placeholder values; undefined when the address does not match as a whole. Takes
   * linear time and never throws.
   */
  match(uri: string): Record<string, string> | undefined
  /**
   * The address for these values; throws MISSING_PARAM or INVALID_INPUT for values that `match`
   * would not give back.
   */
  expand(params: { readonly [name: string]: string }): string
  /** Names of the placeholders, in order. */
  readonly params: readonly string[]
}

/** The text between two slashes: `literals[0] {names[0]} literals[1] … literals[n]`. */
type UriSegment = { readonly literals: readonly string[]; readonly names: readonly string[] }

/**
 * Reads a pattern; throws CONFIG for braces that do not pair, bad or repeated names, and
 * placeholders with nothing between them.
 */
export function compileUriPattern(pattern: string): UriPattern {
  if (pattern === '') throw new ToolError('CONFIG', 'A URI pattern must not be empty')
  const segments = pattern.split('/').map((text) => parseSegment(text, pattern))
  const params = segments.flatMap(({ names }) => names)
  const repeated = params.find((name, index) => params.indexOf(name) !== index)
  if (repeated !== undefined)
    throw createPatternError(pattern, `the name '${repeated}' stands there twice`)
  const match = (uri: string) => matchSegments(segments, uri)
  return { params, match, expand: (values) => expandSegments(segments, values, match) }
}

function parseSegment(text: string, pattern: string): UriSegment {
  const literals: string[] = []
  const names: string[] = []
  let position = 0
  while (true) {
    const open = text.indexOf('{', position)
    const literal = text.slice(position, open === -1 ? undefined : open)
    if (literal.includes('}')) throw createPatternError(pattern, "a '}' has no '{'")
    if (literal === '' && open !== -1 && names.length > 0)
      throw createPatternError(
        pattern,
        `'{${names.at(-1)}}' and the next placeholder need text between them, or nobody can tell where one ends`,
      )
    literals.push(literal)
    if (open === -1) return { literals, names }
    const close = text.indexOf('}', open)
    if (close === -1) throw createPatternError(pattern, "a '{' has no '}' in the same path segment")
    const name = text.slice(open + 1, close)
    if (!/^\w+$/.test(name))
      throw createPatternError(
        pattern,
        `'{${name}}' is not a placeholder: a name is made of letters, digits and '_'`,
      )
    names.push(name)
    position = close + 1
  }
}

function createPatternError(pattern: string, problem: string): ToolError {
  return new ToolError('CONFIG', `The URI pattern '${pattern}' is not usable: ${problem}`)
}

function matchSegments(
  segments: readonly UriSegment[],
  uri: string,
): Record<string, string> | undefined {
  const parts = uri.split('/', segments.length + 1)
  if (parts.length !== segments.length) return undefined
  const values: Record<string, string> = Object.create(null)
  for (const [index, segment] of segments.entries()) {
    if (!matchSegment(segment, parts[index]!, values)) return undefined
  }
  return values
}

// From the right, each literal is taken at its last possible place. That finds a match whenever
// there is one, without ever going back, and
// gives the earlier placeholder the longer text, as a greedy expression would: `{name}.{ext}` reads
// `a.tar.gz` as `a.tar` and `gz`.
function matchSegment(
  { literals, names }: UriSegment,
  text: string,
  values: Record<string, string>,
): boolean {
  const first = literals[0]!
  if (names.length === 0) return text === first
  if (!text.startsWith(first) || !text.endsWith(literals.at(-1)!)) return false
  let end = text.length - literals.at(-1)!.length
  for (let index = names.length - 1; index >= 0; index--) {
    const literal = literals[index]!
    const found = index === 0 ? 0 : text.lastIndexOf(literal, end - 1 - literal.length)
    const start = found + literal.length
    if (found === -1 || end - 1 - literal.length < 0 || start >= end) return false
    const value = decodeParam(text.slice(start, end))
    if (value === undefined) return false
    values[names[index]!] = value
    end = found
  }
  return true
}

/**
 * The value behind its percent signs; undefined where it is broken or could lead out of its place
 * in a path.
 */
function decodeParam(text: string): string | undefined {
  let value: string
  try {
    value = decodeURIComponent(text)
  } catch {
    return undefined
  }
  return isSafeParam(value) ? value : undefined
}

function isSafeParam(value: string): boolean {
  return value !== '' && value !== '.' && value !== '..' && !/[/\\\0]/.test(value)
}

function expandSegments(
  segments: readonly UriSegment[],
  values: { readonly [name: string]: string },
  match: UriPattern['match'],
): string {
  const uri = segments
    .map(({ literals, names }) =>
      literals
        .map(
          (literal, index) =>
            literal + (index < names.length ? encodeParam(names[index]!, values) : ''),
        )
        .join(''),
    )
    .join('/')
  const readBack = match(uri)
  for (const { names } of segments) {
    const field = names.find((name) => readBack?.[name] !== values[name])
    if (field !== undefined)
      throw new ToolError(
        'INVALID_INPUT',
        `'${values[field]}' as '${field}' would read back differently from ${uri}`,
        { field },
      )
  }
  return uri
}

function encodeParam(name: string, values: { readonly [name: string]: string }): string {
  if (!Object.hasOwn(values, name))
    throw new ToolError('MISSING_PARAM', `The address needs a value for '${name}'`, { field: name })
  const value = String(values[name])
  try {
    if (isSafeParam(value)) return encodeURIComponent(value)
  } catch {
    // Half a surrogate pair cannot be written in an address; it is refused below like any other bad
    // value.
  }
  throw new ToolError(
    'INVALID_INPUT',
    `${JSON.stringify(value)} cannot stand for '${name}': it has to be text without '/' or '\\', and not '.' or '..'`,
    { field: name },
  )
}

/**
 * Documentation comments, in the words of TSDoc and JSDoc.
 */

import { isDeepStrictEqual } from 'node:util'
import type ts from 'typescript'
import type { DeclaredError } from '../../protocol/errors.ts'
import type { Annotations, FlagOptions } from '../../protocol/manifest.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject, tryParseJson } from '../../util/values.ts'
import type { LiteralValue } from './literals.ts'
import { readLiteralValue } from './literals.ts'
import type { TypeReadContext, TypeScriptCompiler } from './reader.ts'

/** What the comment of a function says. */
export type FunctionComment = {
  readonly summary: string | undefined
  readonly description: string | undefined
  /** By name; `options.root` for a property. */
  readonly values: ReadonlyMap<string, ValueTags>
  readonly returns: string | undefined
  /** As they are written. */
  readonly examples: readonly string[]
  readonly annotations: Annotations
  readonly errors: { readonly [code: string]: DeclaredError }
  readonly tags: readonly string[]
  readonly timeout: number | string | undefined
  readonly deprecated: string | true | undefined
  /** Another name for the tool. */
  readonly name: string | undefined
  readonly isInternal: boolean
  readonly problems: readonly string[]
}

const ANNOTATION_TAGS: ReadonlyMap<string, keyof Annotations> = new Map([
  ['readonly', 'readOnly'],
  ['idempotent', 'idempotent'],
  ['destructive', 'destructive'],
  ['openworld', 'openWorld'],
])
const INTERNAL_TAGS = ['internal', 'hidden', 'ignore', 'private']
const STAGE_TAGS = ['alpha', 'beta', 'experimental']

/** Reads the comment of a function, in the words of TSDoc and JSDoc. */
export function readFunctionComment(source: string): FunctionComment {
  const { text, blocks } = parseComment(source)
  const all = (...tags: string[]): readonly string[] =>
    blocks.filter(({ tag }) => tags.includes(tag)).map((block) => block.text)
  const said = [text, ...all('description', 'desc'), ...all('remarks')]
    .map(plainText)
    .filter((part) => part !== '')
    .join('\n\n')
  const [given] = all('summary')
  const summary = firstSentence(plainText(given ?? said))
  const problems: string[] = []
  const timeout = all('timeout')[0]?.trim()
  const [deprecated] = all('deprecated')
  return {
    summary: summary === '' ? undefined : summary,
    description: said === '' || firstSentence(said) === said.replace(/\.$/, '') ? undefined : said,
    values: readValueComments(blocks, problems),
    returns: all('returns', 'return').map(plainText).map(stripType)[0],
    examples: all('example'),
    annotations: Object.fromEntries(
      blocks.flatMap(({ tag }) =>
        ANNOTATION_TAGS.has(tag.toLowerCase())
          ? [[ANNOTATION_TAGS.get(tag.toLowerCase())!, true]]
          : [],
      ),
    ),
    errors: readErrors(blocks),
    tags: [
      ...new Set([
        ...all('tag').flatMap((words) => words.split(/[\s,]+/)),
        ...STAGE_TAGS.filter((stage) => blocks.some(({ tag }) => tag === stage)),
        ...(deprecated === undefined ? [] : ['deprecated']),
      ]),
    ].filter((tag) => tag !== ''),
    timeout: /^\d+(\.\d+)?$/.test(timeout ?? '') ? Number(timeout) : timeout,
    deprecated: deprecated === undefined ? undefined : plainLine(deprecated) || true,
    // In JavaScript this tag also tells of second names; only what can be the name of a tool is
    // one.
    name: all('alias')
      .map((name) => name.trim())
      .find((name) => /^[a-z0-9_-]{1,64}$/.test(name)),
    isInternal: blocks.some(({ tag }) => INTERNAL_TAGS.includes(tag)),
    problems,
  }
}

// `@param root - Where to look`, and `@minimum depth 1` for what else is to be said of it.
function readValueComments(
  blocks: readonly CommentBlock[],
  problems: string[],
): ReadonlyMap<string, ValueTags> {
  const described = new Map<string, { text: string; own: CommentBlock[] }>()
  const entry = (name: string): { text: string; own: CommentBlock[] } =>
    described.get(name) ?? described.set(name, { text: '', own: [] }).get(name)!
  for (const { tag, text } of blocks) {
    if (tag === 'param' || tag === 'arg' || tag === 'argument') {
      const param = readParam(text)
      if (!param) continue
      entry(param.name).text = param.text
      if (param.default !== undefined)
        entry(param.name).own.push({ tag: 'default', text: param.default })
    } else if (isValueTag(tag) && tag !== 'deprecated' && tag !== 'hidden') {
      const [, name, rest] = /^([A-Za-z_$][\w$.]*)(?:\s+(.*))?$/s.exec(text.trim()) ?? []
      if (name === undefined)
        problems.push(
          `@${tag} ${text.trim()} does not say which parameter it means: @${tag} name ${text.trim()}`,
        )
      else entry(name).own.push({ tag, text: rest ?? '' })
    }
  }
  return new Map(
    [...described].map(([name, { text, own }]) => {
      const tags = readValueTags(own, text)
      problems.push(...tags.problems)
      return [name, tags]
    }),
  )
}

function readParam(
  text: string,
): { readonly name: string; readonly text: string; readonly default?: string } | undefined {
  const rest = stripType(text)
  const optional =
    /^\[\s*([\w$.]+)\s*(?:=\s*((?:\[[^\]]*\]|[^\]])*?))?\s*\]\s*(?:-\s*)?(.*)$/s.exec(rest)
  if (optional)
    return compact({
      name: optional[1]!,
      text: optional[3]!.trim(),
      default: optional[2] !== undefined && optional[2] !== '' ? optional[2] : undefined,
    })
  const plain = /^([\w$.]+)(?:\[\])?\s*(?:-\s*)?(.*)$/s.exec(rest)
  return plain ? { name: plain[1]!, text: plain[2]!.trim() } : undefined
}

// `{string} name`: the compiler reads the type.
function stripType(text: string): string {
  if (!text.startsWith('{')) return text.trim()
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}' && --depth === 0) return text.slice(at + 1).trim()
  }
  return text.trim()
}

// `@throws E3101 No files matched`, `@error NOT_FOUND there is no such file`.
function readErrors(blocks: readonly CommentBlock[]): { readonly [code: string]: DeclaredError } {
  const errors: { [code: string]: DeclaredError } = Object.create(null) as {}
  for (const { tag, text } of blocks) {
    if (!['throws', 'error', 'exception'].includes(tag)) continue
    const [, code, message] =
      /^(?:\{[^}]*\}\s*)?`?([A-Z][A-Z0-9_]{1,63})`?(?:\s*[-:]\s*|\s+)(.+)$/s.exec(text.trim()) ?? []
    if (code !== undefined && message !== undefined) errors[code] = { message: plainLine(message) }
  }
  return errors
}

/**
 * What tags say about one value: keywords of its schema, its flag, and its default as it is
 * written: only its type tells whether that is a value.
 */
export type ValueTags = {
  readonly schema: JsonSchema
  readonly flag: FlagOptions
  readonly written?: string
  readonly problems: readonly string[]
}

type TagReader = (
  text: string,
) =>
  | { readonly schema?: JsonSchema; readonly flag?: FlagOptions; readonly written?: string }
  | undefined

const numberTag =
  (keyword: string): TagReader =>
  (text) =>
    text !== '' && Number.isFinite(Number(text))
      ? { schema: { [keyword]: Number(text) } }
      : undefined
const countTag =
  (keyword: string): TagReader =>
  (text) =>
    /^\d+$/.test(text) ? { schema: { [keyword]: Number(text) } } : undefined

const VALUE_TAG_READERS: ReadonlyMap<string, TagReader> = new Map<string, TagReader>([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (keyword): [string, TagReader] => [keyword, numberTag(keyword)],
  ),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
    (keyword): [string, TagReader] => [keyword, countTag(keyword)],
  ),
  ['pattern', readPattern],
  ['format', (text) => (/^[a-z][a-z0-9-]*$/.test(text) ? { schema: { format: text } } : undefined)],
  ['uniqueItems', () => ({ schema: { uniqueItems: true } })],
  ['integer', () => ({ schema: { type: 'integer' } })],
  ...['default', 'defaultValue'].map((tag): [string, TagReader] => [
    tag,
    (text) => ({ written: text }),
  ]),
  ['deprecated', () => ({ schema: { deprecated: true } })],
  ['flag', readFlagTag],
  ['env', (text) => (/^[A-Za-z_]\w*$/.test(text) ? { flag: { env: text } } : undefined)],
  ['hidden', () => ({ flag: { hidden: true } })],
])

/** True for a tag that speaks about a value. */
function isValueTag(tag: string): boolean {
  return VALUE_TAG_READERS.has(tag)
}

/** Reads the tags about one value; `description` is the text beside them. */
export function readValueTags(blocks: readonly CommentBlock[], description: string): ValueTags {
  let schema: JsonSchema = description === '' ? {} : { description: plainLine(description) }
  let flag: FlagOptions = {}
  let written: string | undefined
  const problems: string[] = []
  for (const { tag, text } of blocks) {
    const read = VALUE_TAG_READERS.get(tag)
    if (!read) continue
    const found = read(text.trim())
    if (!found) problems.push(`@${tag} ${text.trim()} cannot be understood`.replace(/\s+/g, ' '))
    schema = { ...schema, ...found?.schema }
    flag = { ...flag, ...found?.flag }
    written = found?.written ?? written
  }
  return compact({ schema, flag, written, problems })
}

function readFlagTag(text: string): { readonly flag: FlagOptions } | undefined {
  if (/^-[A-Za-z]$/.test(text)) return { flag: { short: text.slice(1) } }
  return /^--[a-z0-9][a-z0-9-]*$/.test(text) ? { flag: { name: text.slice(2) } } : undefined
}

function readPattern(text: string): { readonly schema: JsonSchema } | undefined {
  const pattern = /^\/(.+)\/$/s.exec(text)?.[1] ?? text
  try {
    return new RegExp(pattern, 'u') && { schema: { pattern } }
  } catch {
    return undefined
  }
}

/** What the comment of a property says about its value. */
export function readPropertyTags(ts: TypeScriptCompiler, symbol: ts.Symbol): ValueTags {
  const source =
    symbol.declarations
      ?.map((declaration) => getComment(ts, declaration))
      .find((comment) => comment !== '') ?? ''
  const { text, blocks } = parseComment(source)
  return readValueTags(blocks, text)
}

type ValueReading = Pick<TypeReadContext, 'ts' | 'checker' | 'note'>

/** A schema with all that comments say about the value; of two the last counts. */
export function describeValue(
  reading: ValueReading,
  name: string,
  schema: JsonSchema,
  ...said: readonly (ValueTags | undefined)[]
): JsonSchema {
  const described: JsonSchema = said.reduce<JsonSchema>(
    (all, tags) => ({ ...all, ...tags?.schema }),
    schema,
  )
  const written = said.findLast((tags) => tags?.written !== undefined)?.written
  if (written === undefined) return described
  const found = readDefault(reading, described, written)
  if (found) return { ...described, default: found.value }
  if (written === '' || written === 'undefined') return described
  // Code and words that only a person understands: they are shown to one, and the function knows
  // its own default.
  reading.note(
    'default',
    `the default of '${name}' is told and not given, because it is no value: ${written}`,
  )
  return {
    ...described,
    description: [described['description'], `(default: ${written})`]
      .filter((part) => part !== undefined)
      .join(' '),
  }
}

// A default as it is written in a comment, where it is a value that the schema takes: JSON, a
// literal of the language, or a word.
function readDefault(
  reading: ValueReading,
  schema: JsonSchema,
  written: string,
): LiteralValue | undefined {
  const text = written.replace(/^`(.*)`$/s, '$1').trim()
  const json = tryParseJson(text)
  return [
    json === undefined ? undefined : { value: json },
    readCodeLiteral(reading, text),
    isPlainWord(schema, text) ? { value: text } : undefined,
  ].find((found) => found && fitsSchema(schema, found.value))
}

function readCodeLiteral(reading: ValueReading, text: string): LiteralValue | undefined {
  const { ts } = reading
  const source = ts.createSourceFile('default.ts', `(${text})`, ts.ScriptTarget.Latest, true)
  const [statement, ...more] = source.statements
  const isBroken =
    (source as unknown as { readonly parseDiagnostics: readonly unknown[] }).parseDiagnostics
      .length > 0
  return !isBroken && more.length === 0 && statement && ts.isExpressionStatement(statement)
    ? readLiteralValue(reading, statement.expression)
    : undefined
}

// `@default utf8` is a text without its quotes; `process.cwd()`, `os.EOL` and `the current folder`
// are none.
function isPlainWord({ enum: choices }: JsonSchema, text: string): boolean {
  return Array.isArray(choices)
    ? choices.includes(text)
    : /^[^\s()[\]{}"'`;=<>]+$/.test(text) &&
        !/^(undefined|null|NaN|-?Infinity|(process|os|path|globalThis|import|Number|Math|Date)\..*)$/.test(
          text,
        )
}

const TYPE_CHECKS: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

// As far as it can be told without what the schema refers to.
function fitsSchema(schema: JsonSchema, value: unknown): boolean {
  const { type, enum: choices, items, anyOf } = schema
  if (Array.isArray(choices) && !choices.includes(value)) return false
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema['const'], value)) return false
  if (
    Array.isArray(anyOf) &&
    !anyOf.some((branch) => isObject(branch) && fitsSchema(branch, value))
  )
    return false
  if (isObject(items) && Array.isArray(value) && !value.every((item) => fitsSchema(items, item)))
    return false
  return (
    type === undefined || [type].flat().some((each) => TYPE_CHECKS[String(each)]?.(value) === true)
  )
}

/**
 * The documentation comment that stands above a declaration, as it is written; empty where there is
 * none.
 */
export function getComment(ts: TypeScriptCompiler, node: ts.Node): string {
  const comments = ts
    .getJSDocCommentsAndTags(node)
    .filter((part): part is ts.JSDoc => ts.isJSDoc(part) && belongsToNode(ts, part, node))
  return comments.at(-1)?.getFullText() ?? ''
}

// Above a parameter stands also what is said above its function.
function belongsToNode(ts: TypeScriptCompiler, comment: ts.JSDoc, node: ts.Node): boolean {
  return !ts.isParameter(node) || comment.parent === node
}

/** One block tag of a comment with all text up to the next: `@param root - Where to look`. */
type CommentBlock = { readonly tag: string; readonly text: string }

/** A documentation comment in its parts. */
type ParsedComment = { readonly text: string; readonly blocks: readonly CommentBlock[] }

/** Reads a comment as it stands in the source, with its stars. Tags in fenced code are code. */
export function parseComment(source: string): ParsedComment {
  const body = source.replace(/^\s*\/\*\*?/, '').replace(/\*\/\s*$/, '')
  // On a single line a tag stands behind the text.
  const lines = (body.includes('\n') ? body : body.replace(/\s+@(?=[A-Za-z]+\b)/g, '\n@'))
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*\*? ?/, ''))
  const text: string[] = []
  const blocks: { tag: string; lines: string[] }[] = []
  let fence: string | undefined
  for (const line of lines) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence)) fence = undefined
    const tag =
      fence === undefined && mark === undefined
        ? /^\s*@([A-Za-z]\w*)(?:\s+(.*))?$/s.exec(line)
        : null
    if (tag) blocks.push({ tag: tag[1]!, lines: [tag[2] ?? ''] })
    else (blocks.at(-1)?.lines ?? text).push(line)
  }
  return {
    text: joinLines(text),
    blocks: blocks.map(({ tag, lines: own }) => ({ tag, text: joinLines(own) })),
  }
}

/** Text for people: links as their words, without the marks of the format. */
function plainText(text: string): string {
  return text
    .replace(
      /\{@(?:link|linkcode|linkplain)\s+([^}|]+?)(?:\s*\|\s*([^}]+?))?\s*\}/g,
      (_all, target: string, words?: string) => words ?? target,
    )
    .replace(/\{@inheritDoc[^}]*\}/g, '')
    .replace(/\\([@{}<>])/g, '$1')
    .trim()
}

/** The same on one line. */
function plainLine(text: string): string {
  return plainText(text).replace(/\s*\n\s*/g, ' ')
}

/** The first sentence on one line, at most 200 characters, without its full stop. */
function firstSentence(text: string): string {
  const paragraph = text
    .split(/\n\s*\n/, 1)[0]!
    .replace(/\s+/g, ' ')
    .trim()
  // A full stop behind one of these ends no sentence.
  const sentence =
    /^(.+?(?<!\b(?:e\.g|i\.e|etc|vs|cf))[.!?])(?:\s|$)/.exec(paragraph)?.[1] ?? paragraph
  const short =
    sentence.length > 200 ? `${sentence.slice(0, 196).replace(/\s+\S*$/, '')} ...` : sentence
  return short.replace(/(?<!\.)\.$/, '')
}

function joinLines(lines: readonly string[]): string {
  return lines.join('\n').replace(/^\n+/, '').trimEnd()
}

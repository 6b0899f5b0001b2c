import type { DeclaredError } from '../../../contract/errors.ts'
import type { Annotations } from '../../../contract/manifest.ts'
import { firstSentence, parseComment, plainText } from './parse-comment.ts'
import type { Block } from './parse-comment.ts'
import { isValueTag, readValueTags } from './value-tags.ts'
import type { ValueTags } from './value-tags.ts'

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

const ANNOTATIONS: ReadonlyMap<string, keyof Annotations> = new Map([
  ['readonly', 'readOnly'],
  ['idempotent', 'idempotent'],
  ['destructive', 'destructive'],
  ['openworld', 'openWorld'],
])
const STAGES = ['alpha', 'beta', 'experimental']

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
  const [timeout] = all('timeout')
  const [deprecated] = all('deprecated')
  return {
    summary: summary === '' ? undefined : summary,
    description: said === '' || firstSentence(said) === said.replace(/\.$/, '') ? undefined : said,
    values: readValues(blocks, problems),
    returns: all('returns', 'return').map(plainText).map(withoutType)[0],
    examples: all('example'),
    annotations: Object.fromEntries(
      blocks.flatMap(({ tag }) =>
        ANNOTATIONS.has(tag.toLowerCase()) ? [[ANNOTATIONS.get(tag.toLowerCase())!, true]] : [],
      ),
    ),
    errors: readErrors(blocks),
    tags: [
      ...new Set([
        ...all('tag').flatMap((words) => words.split(/[\s,]+/)),
        ...STAGES.filter((stage) => blocks.some(({ tag }) => tag === stage)),
        ...(deprecated === undefined ? [] : ['deprecated']),
      ]),
    ].filter((tag) => tag !== ''),
    timeout:
      timeout === undefined
        ? undefined
        : /^\d+(\.\d+)?$/.test(timeout.trim())
          ? Number(timeout)
          : timeout.trim(),
    deprecated:
      deprecated === undefined
        ? undefined
        : plainText(deprecated).replace(/\s*\n\s*/g, ' ') || true,
    // In JavaScript this tag also tells of second names; only what can be the name of a tool is one.
    name: all('alias')
      .map((name) => name.trim())
      .find((name) => /^[a-z0-9_-]{1,64}$/.test(name)),
    isInternal: blocks.some(
      ({ tag }) => tag === 'internal' || tag === 'hidden' || tag === 'ignore' || tag === 'private',
    ),
    problems,
  }
}

// `@param root - Where to look`, and `@minimum depth 1` for what else is to be said of it.
function readValues(blocks: readonly Block[], problems: string[]): ReadonlyMap<string, ValueTags> {
  const described = new Map<string, { text: string; own: Block[] }>()
  const entry = (name: string): { text: string; own: Block[] } =>
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
  const rest = withoutType(text)
  const optional =
    /^\[\s*([\w$.]+)\s*(?:=\s*((?:\[[^\]]*\]|[^\]])*?))?\s*\]\s*(?:-\s*)?(.*)$/s.exec(rest)
  if (optional)
    return {
      name: optional[1]!,
      text: optional[3]!.trim(),
      ...(optional[2] !== undefined && optional[2] !== '' && { default: optional[2] }),
    }
  const plain = /^([\w$.]+)(?:\[\])?\s*(?:-\s*)?(.*)$/s.exec(rest)
  return plain ? { name: plain[1]!, text: plain[2]!.trim() } : undefined
}

// `{string} name`: the compiler reads the type.
function withoutType(text: string): string {
  if (!text.startsWith('{')) return text.trim()
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}' && --depth === 0) return text.slice(at + 1).trim()
  }
  return text.trim()
}

// `@throws E3101 No files matched`, `@error NOT_FOUND there is no such file`.
function readErrors(blocks: readonly Block[]): { readonly [code: string]: DeclaredError } {
  const errors: { [code: string]: DeclaredError } = Object.create(null) as {}
  for (const { tag, text } of blocks) {
    if (!['throws', 'error', 'exception'].includes(tag)) continue
    const [, code, message] =
      /^(?:\{[^}]*\}\s*)?`?([A-Z][A-Z0-9_]{1,63})`?(?:\s*[-:]\s*|\s+)(.+)$/s.exec(text.trim()) ?? []
    if (code !== undefined && message !== undefined)
      errors[code] = { message: plainText(message).replace(/\s*\n\s*/g, ' ') }
  }
  return errors
}

/**
 * Reads YAML from untrusted files as plain data: no duplicate keys, no merges, no custom tags, and
 * limits that are checked before the parser runs. The `yaml` package is loaded on first use.
 */

import type { LineCounter, Node, Pair } from 'yaml'
import type { Json } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type {
  DocumentPosition,
  KeyPath,
  LocatedDocument,
  ReadProblem,
  ReadResult,
} from './documents.ts'
import { failReading } from './documents.ts'
import { getPositionAt } from './parse-json.ts'
import { ToolError } from './tool-error.ts'

/**
 * Reads YAML as plain data; throws CONFIG with the line for what is none, for keys that are there
 * twice and for aliases that grow without end.
 */
export async function readYamlDocument(file: string, text: string): Promise<LocatedDocument> {
  const reading = await readPlainYaml(text)
  if ('value' in reading)
    return { value: reading.value, locate: (path) => locateInYaml(text, path) }
  const { message, fix, line } = reading.problem
  throw new ToolError(
    'CONFIG',
    `${file}${line === undefined ? '' : `, line ${line}`}: ${message}`,
    { details: compact({ file, line }), suggestion: fix },
  )
}

async function locateInYaml(text: string, path: KeyPath): Promise<DocumentPosition | undefined> {
  const { isMap, isScalar, isSeq, parseDocument } = await import('yaml')
  let node: unknown = parseDocument(text).contents
  let offset: number | undefined
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isScalar(item.key) && String(item.key.value) === String(key),
      )
      offset = isScalar(pair?.key) ? pair.key.range?.[0] : offset
      node = pair?.value
    } else if (isSeq(node)) {
      node = node.items[Number(key)]
      offset = (node as { readonly range?: readonly number[] } | undefined)?.range?.[0] ?? offset
    }
  }
  return offset === undefined ? undefined : getPositionAt(text, offset)
}

const PLAIN_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
)

/**
 * Reads a YAML text of somebody else as plain data: no duplicate keys, no merges, no custom tags,
 * nothing that grows when it is read. Loads the library late.
 */
export async function readPlainYaml(text: string): Promise<ReadResult<Json>> {
  const early = findYamlLimitProblem(text)
  if (early) return { problem: early }
  const yaml = await import('yaml')
  const lines = new yaml.LineCounter()
  // Its own check of duplicate keys compares each with each; ours is below.
  const document = parseWithinStack(() =>
    yaml.parseDocument(text, {
      lineCounter: lines,
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      schema: 'core',
    }),
  )
  if (document === undefined) return { problem: reportYamlLimit('is nested too deeply') }
  const wrong = document.errors[0] ?? document.warnings[0]
  if (wrong)
    return failReading(
      'yaml',
      `is not valid YAML: ${wrong.message}`,
      'Correct the line',
      lines.linePos(wrong.pos[0]).line,
    )
  try {
    return { value: new PlainYamlReader(yaml, lines).read(document.contents, 0) }
  } catch (error) {
    if (error instanceof YamlRefusal) return { problem: error.problem }
    throw error
  }
}

class YamlRefusal extends Error {
  constructor(readonly problem: ReadProblem) {
    super(problem.message)
  }
}

class PlainYamlReader {
  private readonly anchors = new Map<string, Node>()
  private values = 0

  constructor(
    private readonly yaml: typeof import('yaml'),
    private readonly lines: LineCounter,
  ) {}

  read(node: Node | null, depth: number): Json {
    if (node === null) return null
    if (++this.values > YAML_LIMITS.values)
      throw this.exceeds(
        `has more than ${YAML_LIMITS.values} values when its aliases are followed`,
        node,
      )
    if (depth > YAML_LIMITS.depth)
      throw this.exceeds(`is nested more than ${YAML_LIMITS.depth} levels deep`, node)
    if (this.yaml.isAlias(node)) return this.read(this.findAnchor(node.source, node), depth + 1)
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag))
      throw this.refuse(`uses the tag '${node.tag}'`, 'Write the value plainly', node)
    if ('anchor' in node && node.anchor !== undefined) this.anchors.set(node.anchor, node)
    if (this.yaml.isMap(node)) return this.readMap(node.items, depth)
    if (this.yaml.isSeq(node))
      return node.items.map((item) => this.read(item as Node | null, depth + 1))
    return this.readScalar(node)
  }

  private readMap(pairs: readonly Pair[], depth: number): Json {
    const result: { [key: string]: Json } = {}
    for (const { key, value } of pairs) {
      const name = this.readKey(key as Node | null)
      if (Object.hasOwn(result, name))
        throw this.refuse(`has the key '${name}' twice`, `Take one '${name}' out`, key as Node)
      result[name] = this.read(value as Node | null, depth + 1)
    }
    return result
  }

  private readKey(key: Node | null): string {
    const value: unknown = this.yaml.isScalar(key) ? key.value : undefined
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw this.refuse('has a key that is not text', 'Write the key as text', key)
    const name = String(value)
    if (name === '<<') throw this.refuse("uses a merge ('<<')", 'Write the merged keys out', key)
    if (name === '__proto__')
      throw this.refuse("has the key '__proto__'", 'Choose another name', key)
    return name
  }

  private readScalar(node: Node): Json {
    const value: unknown = this.yaml.isScalar(node) ? node.value : undefined
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    throw this.refuse(
      'has a value that JSON cannot hold',
      'Write text, a number, true, false or null',
      node,
    )
  }

  private findAnchor(name: string, alias: Node): Node {
    const node = this.anchors.get(name)
    if (!node)
      throw this.refuse(
        `uses the alias '*${name}' before it is set`,
        `Write '&${name}' at the value first`,
        alias,
      )
    return node
  }

  private refuse(message: string, fix: string, node: Node | null): YamlRefusal {
    return new YamlRefusal(failReading('yaml', message, fix, this.getLine(node)).problem)
  }

  private exceeds(message: string, node: Node): YamlRefusal {
    return new YamlRefusal(reportYamlLimit(message, this.getLine(node)))
  }

  private getLine(node: Node | null): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line
  }
}

// The parser follows brackets by calling itself.
function parseWithinStack<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A manifest is a page of text; what is longer is something else, or meant to hurt. */
export const YAML_LIMITS = {
  bytes: 256 * 1024,
  lines: 10_000,
  depth: 64,
  anchors: 500,
  values: 50_000,
} as const

/**
 * What can be seen wrong with a YAML text without parsing it, which takes its time with hostile
 * texts.
 */
function findYamlLimitProblem(text: string): ReadProblem | undefined {
  if (text.length > YAML_LIMITS.bytes)
    return reportYamlLimit(`is larger than ${YAML_LIMITS.bytes / 1024} KiB`)
  let line = 1
  let flow = 0
  let anchors = 0
  let start = true
  let indicators = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\n') {
      if (++line > YAML_LIMITS.lines)
        return reportYamlLimit(`has more than ${YAML_LIMITS.lines} lines`, line)
      start = true
      indicators = 0
      continue
    }
    if ((character === '"' || character === "'") && isBlankOrOpen(text[at - 1])) {
      // Brackets in a quoted text close nothing.
      const end = findClosingQuote(text, at)
      line += text.slice(at, end).split('\n').length - 1
      at = end
      start = false
      continue
    }
    if (character === '[' || character === '{') flow++
    else if ((character === ']' || character === '}') && flow > 0) flow--
    // `- - - a` opens a level with each dash.
    else if (start && '-?:'.includes(character) && isBlank(text[at + 1])) indicators++
    else if ('*&'.includes(character) && isBlankOrOpen(text[at - 1]) && !isBlank(text[at + 1]))
      anchors++
    if (!' -?:'.includes(character)) start = false
    if (flow + indicators > YAML_LIMITS.depth)
      return reportYamlLimit(`is nested more than ${YAML_LIMITS.depth} levels deep`, line)
    if (anchors > YAML_LIMITS.anchors)
      return reportYamlLimit(`has more than ${YAML_LIMITS.anchors} anchors and aliases`, line)
  }
  return undefined
}

// At the closing quote; where there is none, nothing is skipped, because it is an apostrophe.
function findClosingQuote(text: string, start: number): number {
  const quote = text[start]!
  for (let at = text.indexOf(quote, start + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    let backslashes = 0
    while (quote === '"' && text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return start
}

/** A text that goes beyond what a manifest may be. */
export function reportYamlLimit(message: string, line?: number): ReadProblem {
  return failReading(
    'yaml',
    message,
    'Write the manifest plainly, without repetition by anchors, and keep everything else out of it',
    line,
  ).problem
}

function isBlank(character = ' '): boolean {
  return ' \n\t\r'.includes(character)
}

function isBlankOrOpen(character = ' '): boolean {
  return ' \n\t\r[{,-:'.includes(character)
}

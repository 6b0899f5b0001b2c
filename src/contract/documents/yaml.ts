import type { LineCounter, Node, Pair } from 'yaml'
import type { Json } from '../json.ts'
import type { ReadProblem, Reading } from './reading.ts'
import { refuse } from './reading.ts'
import { findBoundProblem, tooMuch, YAML_BOUNDS } from './yaml-bounds.ts'

const PLAIN_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
)

/** Reads a YAML text of somebody else as plain data: no duplicate keys, no merges, no custom tags, nothing that grows when it is read. Loads the library late. */
export async function readYaml(text: string): Promise<Reading<Json>> {
  const early = findBoundProblem(text)
  if (early) return { problem: early }
  const yaml = await import('yaml')
  const lines = new yaml.LineCounter()
  // Its own check of duplicate keys compares each with each; ours is below.
  const document = parse(() =>
    yaml.parseDocument(text, {
      lineCounter: lines,
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      schema: 'core',
    }),
  )
  if (document === undefined) return { problem: tooMuch('is nested too deeply') }
  const wrong = document.errors[0] ?? document.warnings[0]
  if (wrong)
    return refuse(
      'yaml',
      `is not valid YAML: ${wrong.message}`,
      'Correct the line',
      lines.linePos(wrong.pos[0]).line,
    )
  try {
    return { value: new PlainReader(yaml, lines).read(document.contents, 0) }
  } catch (error) {
    if (error instanceof Refused) return { problem: error.problem }
    throw error
  }
}

class Refused extends Error {
  readonly problem: ReadProblem
  constructor(problem: ReadProblem) {
    super(problem.message)
    this.problem = problem
  }
}

class PlainReader {
  private readonly yaml: typeof import('yaml')
  private readonly lines: LineCounter
  private readonly anchors = new Map<string, Node>()
  private values = 0

  constructor(yaml: typeof import('yaml'), lines: LineCounter) {
    this.yaml = yaml
    this.lines = lines
  }

  read(node: Node | null, depth: number): Json {
    if (node === null) return null
    if (++this.values > YAML_BOUNDS.values)
      throw new Refused(
        tooMuch(
          `has more than ${YAML_BOUNDS.values} values when its aliases are followed`,
          this.lineOf(node),
        ),
      )
    if (depth > YAML_BOUNDS.depth)
      throw new Refused(
        tooMuch(`is nested more than ${YAML_BOUNDS.depth} levels deep`, this.lineOf(node)),
      )
    if (this.yaml.isAlias(node)) return this.read(this.anchorOf(node.source, node), depth + 1)
    if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag))
      throw this.refuse(`uses the tag '${node.tag}'`, 'Write the value plainly', node)
    if (!this.yaml.isAlias(node) && 'anchor' in node && node.anchor !== undefined)
      this.anchors.set(node.anchor, node)
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
    if (
      !this.yaml.isScalar(key) ||
      (typeof key.value !== 'string' &&
        typeof key.value !== 'number' &&
        typeof key.value !== 'boolean')
    )
      throw this.refuse('has a key that is not text', 'Write the key as text', key)
    const name = String(key.value)
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

  private anchorOf(name: string, alias: Node): Node {
    const node = this.anchors.get(name)
    if (!node)
      throw this.refuse(
        `uses the alias '*${name}' before it is set`,
        `Write '&${name}' at the value first`,
        alias,
      )
    return node
  }

  private refuse(message: string, fix: string, node: Node | null): Refused {
    return new Refused(refuse('yaml', message, fix, this.lineOf(node)).problem)
  }

  private lineOf(node: Node | null): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line
  }
}

// The parser follows brackets by calling itself.
function parse<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

import { ToolError } from '../contract/tool-error.ts'

/** An address with `{name}` placeholders, ready to match addresses and to build them. */
export type UriPattern = {
  /** The decoded placeholder values; undefined when the address does not match as a whole. Takes linear time and never throws. */
  match(uri: string): Record<string, string> | undefined
  /** The address for these values; throws MISSING_PARAM or INVALID_INPUT for values that `match` would not give back. */
  expand(params: { readonly [name: string]: string }): string
  /** Names of the placeholders, in order. */
  readonly params: readonly string[]
}

/** What stands between two slashes: `literals[0] {names[0]} literals[1] … literals[n]`. */
type Segment = { readonly literals: readonly string[]; readonly names: readonly string[] }

/** Reads a pattern; throws CONFIG for braces that do not pair, bad or repeated names, and placeholders with nothing between them. */
export function compileUriPattern(pattern: string): UriPattern {
  if (pattern === '') throw new ToolError('CONFIG', 'A URI pattern must not be empty')
  const segments = pattern.split('/').map((text) => readSegment(text, pattern))
  const params = segments.flatMap(({ names }) => names)
  const repeated = params.find((name, index) => params.indexOf(name) !== index)
  if (repeated !== undefined) throw refuse(pattern, `the name '${repeated}' stands there twice`)
  const match = (uri: string) => matchSegments(segments, uri)
  return { params, match, expand: (values) => expandSegments(segments, values, match) }
}

function readSegment(text: string, pattern: string): Segment {
  const literals: string[] = []
  const names: string[] = []
  let position = 0
  while (true) {
    const open = text.indexOf('{', position)
    const literal = text.slice(position, open === -1 ? undefined : open)
    if (literal.includes('}')) throw refuse(pattern, "a '}' has no '{'")
    if (literal === '' && open !== -1 && names.length > 0)
      throw refuse(
        pattern,
        `'{${names.at(-1)}}' and the next placeholder need text between them, or nobody can tell where one ends`,
      )
    literals.push(literal)
    if (open === -1) return { literals, names }
    const close = text.indexOf('}', open)
    if (close === -1) throw refuse(pattern, "a '{' has no '}' in the same path segment")
    const name = text.slice(open + 1, close)
    if (!/^\w+$/.test(name))
      throw refuse(
        pattern,
        `'{${name}}' is not a placeholder: a name is made of letters, digits and '_'`,
      )
    names.push(name)
    position = close + 1
  }
}

function refuse(pattern: string, problem: string): ToolError {
  return new ToolError('CONFIG', `The URI pattern '${pattern}' is not usable: ${problem}`)
}

function matchSegments(
  segments: readonly Segment[],
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

// From the right, each literal is taken at its last possible place. That finds a match whenever there is one, without ever going back, and
// gives the earlier placeholder the longer text, as a greedy expression would: `{name}.{ext}` reads `a.tar.gz` as `a.tar` and `gz`.
function matchSegment(
  { literals, names }: Segment,
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
    const value = decode(text.slice(start, end))
    if (value === undefined) return false
    values[names[index]!] = value
    end = found
  }
  return true
}

/** The value behind its percent signs; undefined where it is broken or could lead out of its place in a path. */
function decode(text: string): string | undefined {
  let value: string
  try {
    value = decodeURIComponent(text)
  } catch {
    return undefined
  }
  return isSafe(value) ? value : undefined
}

function isSafe(value: string): boolean {
  return value !== '' && value !== '.' && value !== '..' && !/[/\\\0]/.test(value)
}

function expandSegments(
  segments: readonly Segment[],
  values: { readonly [name: string]: string },
  match: UriPattern['match'],
): string {
  const uri = segments
    .map(({ literals, names }) =>
      literals
        .map(
          (literal, index) => literal + (index < names.length ? encode(names[index]!, values) : ''),
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

function encode(name: string, values: { readonly [name: string]: string }): string {
  if (!Object.hasOwn(values, name))
    throw new ToolError('MISSING_PARAM', `The address needs a value for '${name}'`, { field: name })
  const value = String(values[name])
  try {
    if (isSafe(value)) return encodeURIComponent(value)
  } catch {
    // Half a surrogate pair cannot be written in an address; it is refused below like any other bad value.
  }
  throw new ToolError(
    'INVALID_INPUT',
    `${JSON.stringify(value)} cannot stand for '${name}': it has to be text without '/' or '\\', and not '.' or '..'`,
    { field: name },
  )
}

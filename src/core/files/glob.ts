import { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'

const MAX_PATTERN_LENGTH = 1_000

/**
 * How far a beginning of a path got in a pattern; undefined where nothing can come of it any more.
 */
export type GlobProgress = { readonly at: readonly number[]; readonly nameBegins: boolean }

/**
 * A pattern that paths are held against, name by name, in time that grows with their length alone.
 */
export type Glob = {
  readonly start: GlobProgress
  advance(from: GlobProgress, text: string): GlobProgress | undefined
  fits(progress: GlobProgress | undefined): boolean
}

type GlobStep =
  | { readonly take: (character: string, nameBegins: boolean) => boolean }
  | { readonly either: number[] }
  | 'end'

/**
 * Reads a pattern of `*`, `?`, `**`, `{a,b}`, `[a-z]`, `[!a]` and `\` before a character that means
 * itself. As in a shell, a name that begins with a dot fits only where the dot is written.
 */
export function compileGlob(pattern: string): Glob {
  if (typeof pattern !== 'string' || pattern === '')
    throw createPatternError(String(pattern), 'it is empty')
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw createPatternError(pattern, `it has more than ${MAX_PATTERN_LENGTH} characters`)
  if (pattern.startsWith('/') || pattern.split('/').includes('..'))
    throw new ToolError(
      'INVALID_PATH',
      `the pattern '${shorten(pattern, 200)}' leads out of the root`,
      { suggestion: "Give a pattern relative to the root, such as 'src/**/*.ts'" },
    )
  const plain = pattern.replace(/^(\.\/)+/, '')
  const steps = compileSteps(plain === '' || plain.endsWith('/') ? `${plain}**` : plain, pattern)
  return {
    start: { at: followBranches(steps, [0]), nameBegins: true },
    advance(from, text) {
      let { at, nameBegins } = from
      for (const character of text) {
        at = followBranches(
          steps,
          at.flatMap((index) => {
            const step = steps[index]!
            return step !== 'end' && 'take' in step && step.take(character, nameBegins)
              ? [index + 1]
              : []
          }),
        )
        if (at.length === 0) return undefined
        nameBegins = character === '/'
      }
      return { at, nameBegins }
    },
    fits: (progress) => progress?.at.includes(steps.length - 1) === true,
  }
}

// All places that are reached without reading a character.
function followBranches(steps: readonly GlobStep[], from: readonly number[]): number[] {
  const reached = new Set(from)
  for (const index of reached) {
    const step = steps[index]!
    if (step !== 'end' && 'either' in step) for (const next of step.either) reached.add(next)
  }
  return [...reached].filter((index) => {
    const step = steps[index]!
    return step === 'end' || 'take' in step
  })
}

const isNameCharacter = (character: string, nameBegins: boolean): boolean =>
  character !== '/' && !(nameBegins && character === '.')
const isPathCharacter = (character: string, nameBegins: boolean): boolean =>
  !(nameBegins && character === '.')

function compileSteps(pattern: string, given: string): GlobStep[] {
  const characters = [...pattern]
  const steps: GlobStep[] = []
  let at = 0
  const add = (step: GlobStep): number => steps.push(step) - 1
  const take = (test: (character: string, nameBegins: boolean) => boolean): void =>
    void add({ take: test })
  const repeat = (body: () => void): void => {
    const loop = add({ either: [] })
    body()
    const back = add({ either: [loop] })
    steps[loop] = { either: [loop + 1, back + 1] }
  }
  const readStars = (): void => {
    const begins = at === 0 || '/{,'.includes(characters[at - 1]!)
    const first = at
    while (characters[at] === '*') at += 1
    const isWhole = begins && at - first === 2
    if (isWhole && characters[at] === '/') {
      at += 1
      repeat(() => {
        take(isNameCharacter)
        repeat(() => take(isNameCharacter))
        take((character) => character === '/')
      })
    } else if (isWhole && (at === characters.length || ',}'.includes(characters[at]!))) {
      take(isPathCharacter)
      repeat(() => take(isPathCharacter))
    } else {
      repeat(() => take(isNameCharacter))
    }
  }
  const readSet = (): void => {
    const end = characters.indexOf(
      ']',
      at + (characters[at + 1] === '!' || characters[at + 1] === '^' ? 3 : 2),
    )
    if (end === -1) throw createPatternError(given, "a '[' has no ']'")
    const isNot = characters[at + 1] === '!' || characters[at + 1] === '^'
    const members = characters.slice(at + (isNot ? 2 : 1), end)
    at = end + 1
    take(
      (character, nameBegins) =>
        isNameCharacter(character, nameBegins) && isInSet(members, character) !== isNot,
    )
  }
  const readChoice = (depth: number): void => {
    const choice = add({ either: [] })
    const starts: number[] = []
    const ends: number[] = []
    do {
      at += 1
      starts.push(steps.length)
      readUntil(depth + 1)
      ends.push(add({ either: [] }))
    } while (characters[at] === ',')
    if (characters[at] !== '}') throw createPatternError(given, "a '{' has no '}'")
    at += 1
    steps[choice] = { either: starts }
    for (const end of ends) steps[end] = { either: [steps.length] }
  }
  const readUntil = (depth: number): void => {
    while (at < characters.length) {
      const character = characters[at]!
      if (depth > 0 && (character === ',' || character === '}')) return
      if (character === '*') readStars()
      else if (character === '[') readSet()
      else if (character === '{') readChoice(depth)
      else {
        if (character === '\\' && at + 1 < characters.length) at += 1
        const literal = characters[at]!
        take(character === '?' ? isNameCharacter : (found) => found === literal)
        at += 1
      }
    }
  }
  readUntil(0)
  add('end')
  return steps
}

function isInSet(members: readonly string[], character: string): boolean {
  for (let index = 0; index < members.length; index += 1) {
    if (members[index + 1] === '-' && index + 2 < members.length) {
      if (members[index]! <= character && character <= members[index + 2]!) return true
      index += 2
    } else if (members[index] === character) return true
  }
  return false
}

function createPatternError(pattern: string, reason: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `'${shorten(pattern, 200)}' is no pattern for paths: ${reason}`,
    {
      suggestion: {
        fix: "Write a pattern such as 'src/**/*.ts'; '\\' makes the next character mean itself",
        example: 'src/**/*.ts',
      },
    },
  )
}

import type { HelpDocument } from '../../../src/registry/help/sections.ts'

/**
 * A flag as something other than its help text knows it. `takesValue` is undefined where that
 * source does not say.
 */
export type KnownFlag = { readonly name: string; readonly takesValue: boolean | undefined }

/** Flags of one program: what its help prints, and what is known about it. */
export type Truth = {
  readonly program: string
  readonly help: string
  readonly flags: readonly KnownFlag[]
}

/** What the reader made of one truth. */
export type Score = {
  readonly program: string
  readonly printed: number
  readonly found: number
  readonly given: number
  readonly right: number
  readonly valued: number
  readonly valuesRight: number
  readonly wrong: readonly string[]
}

/**
 * Compares a document with a truth, over the flags that the help text prints. `kinds` says which
 * names the truth is complete about.
 */
export function scoreOf(
  truth: Truth,
  document: HelpDocument,
  isCovered: (name: string) => boolean,
): Score {
  const known = new Map(truth.flags.map((flag) => [flag.name, flag]))
  const printed = truth.flags.filter(({ name }) => isPrinted(name, truth.help))
  const given = new Map(
    document.options.flatMap((option) =>
      [...option.long, ...option.short].map((name) => [name, option] as const),
    ),
  )
  const wrong: string[] = []
  let found = 0
  let valued = 0
  let valuesRight = 0
  for (const flag of printed) {
    const option = given.get(flag.name)
    if (!option) {
      wrong.push(`missed ${flag.name}`)
      continue
    }
    found++
    if (flag.takesValue === undefined) continue
    valued++
    if (option.takesValue === flag.takesValue) valuesRight++
    else wrong.push(`${flag.takesValue ? 'value' : 'no value'} of ${flag.name}`)
  }
  const covered = [...given.keys()].filter((name) => isCovered(name))
  const right = covered.filter((name) => known.has(name))
  for (const name of covered) if (!known.has(name)) wrong.push(`invented ${name}`)
  return {
    program: truth.program,
    printed: printed.length,
    found,
    given: covered.length,
    right: right.length,
    valued,
    valuesRight,
    wrong,
  }
}

/** Sums of several scores, as shares. */
export function totalOf(scores: readonly Score[]): {
  readonly recall: number
  readonly precision: number
  readonly values: number
  readonly printed: number
} {
  const sum = (key: 'printed' | 'found' | 'given' | 'right' | 'valued' | 'valuesRight'): number =>
    scores.reduce((all, score) => all + score[key], 0)
  const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole)
  return {
    recall: share(sum('found'), sum('printed')),
    precision: share(sum('right'), sum('given')),
    values: share(sum('valuesRight'), sum('valued')),
    printed: sum('printed'),
  }
}

/** The name stands in the text as a word of its own, or comes from `--[no-]name`. */
function isPrinted(name: string, text: string): boolean {
  const negatable = name.replace(/^--(?:no-)?/, '')
  return (
    occurs(name, text) ||
    (name.startsWith('--') &&
      (text.includes(`--[no-]${negatable} `) ||
        text.includes(`--[no-]${negatable}\n`) ||
        text.includes(`--[no-]${negatable}[`) ||
        text.includes(`--[no-]${negatable}=`)))
  )
}

function occurs(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text[at + name.length] ?? ' '
    if (/[\s,[(|/{]/.test(before) && /[\s,=[\]|/:<{)]/.test(after)) return true
  }
  return false
}

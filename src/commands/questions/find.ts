import { flagName } from '../../define/flags/flag-name.ts'
import type { Surroundings } from '../config/load.ts'
import type { COMMON_PROPERTIES } from '../common-flags.ts'

/** `--list` or `--describe <tool>` in the place of a command: the questions of the orchestration's own runner, answered in its own forms. */
export type Question = {
  readonly kind: 'list' | 'describe'
  /** For `describe`. */
  readonly tool?: string
  readonly surroundings: Surroundings
  /** The command that asks the same in our own forms: it has the flags, and the manners of a failure. */
  readonly argv: readonly string[]
}

const WITH_VALUE = [
  'config',
  'folder',
] as const satisfies readonly (keyof typeof COMMON_PROPERTIES)[]
const SWITCHES = [
  'strict',
  'probeUnsandboxed',
  'cache',
] as const satisfies readonly (keyof typeof COMMON_PROPERTIES)[]

/** The question that a command line asks; undefined where it asks none, and where it wants the answer in one of our forms. */
export function findQuestion(argv: readonly string[]): Question | undefined {
  const { surroundings, end } = readSurroundings(argv)
  const [flag, tool, ...more] = argv.slice(end)
  const common = argv.slice(0, end)
  if (flag === '--list' && tool === undefined)
    return { kind: 'list', surroundings, argv: ['list', ...common] }
  if (flag === '--describe' && tool !== undefined && !tool.startsWith('-') && more.length === 0)
    return { kind: 'describe', tool, surroundings, argv: ['describe', ...common, tool] }
  return undefined
}

function readSurroundings(argv: readonly string[]): {
  readonly surroundings: Surroundings
  readonly end: number
} {
  const found: {
    config?: string
    folder?: string[]
    strict?: boolean
    probeUnsandboxed?: boolean
    cache?: boolean
  } = {}
  let at = 0
  for (; at < argv.length; at += 1) {
    const [word = '', ...rest] = argv[at]!.split('=')
    const named = WITH_VALUE.find((name) => word === `--${flagName(name)}`)
    const onOff = SWITCHES.find(
      (name) => argv[at] === `--${flagName(name)}` || argv[at] === `--no-${flagName(name)}`,
    )
    if (named) {
      const value = rest.length > 0 ? rest.join('=') : (argv[(at += 1)] ?? '')
      if (named === 'config') found.config = value
      else (found.folder ??= []).push(value)
    } else if (onOff) found[onOff] = argv[at] === `--${flagName(onOff)}`
    else break
  }
  return { surroundings: found, end: at }
}

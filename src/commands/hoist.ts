import { flagName } from '../define/flags/flag-name.ts'
import { COMMON_PROPERTIES } from './common-flags.ts'

const SWITCHES = Object.entries(COMMON_PROPERTIES)
  .filter(([, { type }]) => type === 'boolean')
  .flatMap(([name]) => [`--${flagName(name)}`, `--no-${flagName(name)}`])
const WITH_VALUE = Object.entries(COMMON_PROPERTIES)
  .filter(([, { type }]) => type !== 'boolean')
  .map(([name]) => `--${flagName(name)}`)
const GROUPS = ['serve', 'runs', 'plan', 'workflow']

/** Moves common flags that stand before the command behind it: `toolable --config x list` is `toolable list --config x`. */
export function hoistCommonFlags(argv: readonly string[]): readonly string[] {
  let end = 0
  while (end < argv.length) {
    const [name = ''] = argv[end]!.split('=', 1)
    if (SWITCHES.includes(name)) end += 1
    else if (WITH_VALUE.includes(name)) end += argv[end] === name ? 2 : 1
    else break
  }
  const rest = argv.slice(end)
  if (end === 0 || rest[0] === undefined || rest[0].startsWith('-')) return argv
  const words = GROUPS.includes(rest[0]) ? 2 : 1
  return [...rest.slice(0, words), ...argv.slice(0, end), ...rest.slice(words)]
}

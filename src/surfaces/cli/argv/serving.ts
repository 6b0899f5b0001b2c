import { ToolError } from '../../../contract/tool-error.ts'
import { SERVING_FLAGS } from '../../../define/flags/injected.ts'
import type { GivenFlag } from '../../../define/argv/scan.ts'

/** The flag that is short for `mcp serve`. */
export const SERVE_FLAG = 'serve-mcp'

/** True when the arguments may hold the flag, so that the flags which go with it have to be known. */
export function mayServe(argv: readonly string[]): boolean {
  return argv.some((word) => word === `--${SERVE_FLAG}` || word.startsWith(`--${SERVE_FLAG}=`))
}

/** The program flags without those for serving, and the words behind `mcp` that these stand for. */
export function splitServing(flags: readonly GivenFlag[]): {
  readonly others: readonly GivenFlag[]
  readonly words?: readonly string[]
  readonly problem?: ToolError
} {
  const asked = flags.find(({ flag }) => flag.long === SERVE_FLAG)
  const own = flags.filter(({ flag }) => flag.injected && SERVING_FLAGS.includes(flag.injected))
  const others = flags.filter((given) => given !== asked && !own.includes(given))
  if (asked)
    return { others, words: ['serve', '--transport', ...asked.values, ...own.flatMap(rewrite)] }
  return own[0]
    ? {
        others,
        problem: new ToolError(
          'USAGE',
          `${own[0].written} goes with --${SERVE_FLAG}, which stands too late here`,
          { suggestion: `Write --${SERVE_FLAG} <transport> before the name of a tool` },
        ),
      }
    : { others }
}

function rewrite({ flag, written, values }: GivenFlag): string[] {
  return flag.takes === 0 && values[0] !== undefined
    ? [`${written}=${values[0]}`]
    : [written, ...values]
}

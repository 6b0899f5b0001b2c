import { doubtful, failed, PASS } from '../check-type.ts'
import type { Check } from '../check-type.ts'
import { ending, excerpt } from '../subject/parse-document.ts'

const SHORTEST = 40

/** The question for help, asked as from a terminal that could show colours. */
export const HELP = { args: ['--help'], options: { env: { TERM: 'xterm-256color', NO_COLOR: '' } } } as const

/** It helps a person. */
export const help: Check = {
  id: 'help',
  title: '--help prints help on stdout and exits 0',
  weight: 5,
  async run({ ask }) {
    const ran = await ask(HELP.args, HELP.options)
    const fix = 'Print usage, arguments and options for --help on stdout, and exit 0'
    if (ran.trouble !== undefined || ran.status !== 0) return failed(`--help gave ${excerpt(ran)} (${ending(ran)})`, fix)
    if (ran.stdout.trim().length >= SHORTEST) return PASS
    return doubtful(`--help printed ${excerpt(ran)}${ran.stderr.trim().length >= SHORTEST ? ' and the help on stderr' : ''}`, fix)
  },
}

import { doubtful, failed, PASS } from '../check-type.ts'
import type { Check } from '../check-type.ts'
import { ending, excerpt } from '../subject/parse-document.ts'

const SHORTEST = 40

/** The question for help, asked as from a terminal that could show colours. */
export const HELP = {
  args: ['--help'],
  options: { env: { TERM: 'xterm-256color', NO_COLOR: '' } },
} as const

/** It helps a person. */
export const help: Check = {
  id: 'help',
  title: '--help prints help on stdout and exits 0',
  weight: 5,
  async run({ ask }) {
    const ran = await ask(HELP.args, HELP.options)
    const fix = 'Print usage, arguments and options for --help on stdout, and exit 0'
    if (ran.trouble !== undefined || ran.status !== 0)
      return failed(`--help gave ${excerpt(ran)} (${ending(ran)})`, fix)
    if (ran.stdout.trim().length >= SHORTEST) return PASS
    return doubtful(
      `--help printed ${excerpt(ran)}${ran.stderr.trim().length >= SHORTEST ? ' and the help on stderr' : ''}`,
      fix,
    )
  },
}

/** Its help can be read by a program too. */
export const readableHelp: Check = {
  id: 'readable-help',
  title: 'its help is written so that usage and options can be read from it',
  weight: 4,
  async run(subject) {
    const { readHelp } = await import('../../../registry/help/read-help.ts')
    const { stdout, stderr } = await subject.ask(HELP.args, HELP.options)
    const { usage, options, commands } = readHelp(stdout.trim() === '' ? stderr : stdout)
    const missing = [
      ...(usage === '' ? ['a usage line'] : []),
      ...(options.length === 0 && commands.length === 0 ? ['options'] : []),
    ]
    const bare = options.filter(({ description }) => description.trim() === '')
    if (missing.length > 0)
      return failed(
        `no ${missing.join(' and no ')} could be found in it`,
        'Write help in a usual form: `usage: name [options] <file>`, then one line for each option, `--flag <value>  what it does`',
      )
    if (bare.length * 2 > options.length)
      return doubtful(
        `${bare.length} of ${options.length} options have no description`,
        'Say behind each option what it does',
      )
    return PASS
  },
}

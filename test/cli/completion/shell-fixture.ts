import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { writeCompletionScript } from '../../../src/cli/completion-scripts.ts'
import type { ShellName } from '../../../src/cli/completion-scripts.ts'
import { HANG_MS } from '../../support/limits.ts'

/** A folder with a program that answers what it is told and writes down what it was asked. */
export type Playground = {
  readonly folder: string
  /**
   * Runs a script in the shell, or in another one that drives it; the completion script is in
   * `$SCRIPT`. Gives its output.
   */
  run(shell: ShellName, script: string, answer: readonly string[], driver?: ShellName): string
  /**
   * Types keys and a tab in a real interactive shell, and gives the words that it would then run.
   * Needs zsh for its pseudo-terminals.
   */
  press(shell: 'bash' | 'zsh', keys: string, answer: readonly string[]): string
  /** The arguments that the program was last called with. */
  asked(): string[]
  /** True when something that had to stay text was run. */
  wasFooled(): boolean
  remove(): void
}

/** The text that would make a file if any shell evaluated it. */
export const TRAP = '$(touch fooled)`touch fooled`'

const SWITCHES: { readonly [shell: string]: readonly string[] } = {
  bash: ['--norc', '--noprofile'],
  zsh: ['-f'],
  fish: ['--no-config'],
}

export function makePlayground(program: string): Playground {
  const folder = mkdtempSync(join(tmpdir(), 'completion-'))
  const file = (name: string): string => join(folder, name)
  mkdirSync(file('bin'))
  mkdirSync(file('work'))
  mkdirSync(join(file('work'), 'sub folder'))
  writeFileSync(join(file('work'), 'my file.txt'), '')
  const path = join(file('bin'), program)
  writeFileSync(path, '#!/bin/sh\nprintf \'%s\\0\' "$@" > "$ASKED"\ncat "$ANSWER"\n')
  chmodSync(path, 0o755)
  const playground: Playground = {
    folder,
    run(shell, script, answer, driver = shell) {
      writeFileSync(file('answer'), answer.map((line) => `${line}\n`).join(''))
      writeFileSync(file('script'), writeCompletionScript(shell, program))
      writeFileSync(file('driver'), script)
      const { stdout, stderr, status, error } = spawnSync(
        driver,
        [...SWITCHES[driver]!, file('driver')],
        {
          cwd: file('work'),
          encoding: 'utf8',
          timeout: HANG_MS,
          env: {
            HOME: folder,
            LC_ALL: 'C.UTF-8',
            TERM: 'dumb',
            PATH: `${file('bin')}${delimiter}${process.env['PATH']}`,
            SCRIPT: file('script'),
            ANSWER: file('answer'),
            ASKED: file('asked'),
          },
        },
      )
      if (error) throw new Error(`the tests of completion need ${driver}`, { cause: error })
      if (status !== 0 || stderr !== '')
        throw new Error(`${shell} ended with ${status}: ${stderr}${stdout}`)
      return stdout
    },
    press(shell, keys, answer) {
      const output = playground.run(shell, keyboard(shell, keys), answer, 'zsh')
      return /<BEGIN>(.*)<END>/s.exec(output)?.[1] ?? output
    },
    asked: () => readFileSync(file('asked'), 'utf8').split('\0').slice(0, -1),
    wasFooled: () => existsSync(join(file('work'), 'fooled')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  return playground
}

/** Quotes a text for bash and zsh. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function keyboard(shell: 'bash' | 'zsh', keys: string): string {
  const start = { bash: 'bash --norc --noprofile -i', zsh: 'zsh -f -i' }[shell]
  const load = {
    bash: 'source "$SCRIPT"',
    zsh: 'autoload -Uz compinit; compinit -u -D; source "$SCRIPT"',
  }[shell]
  // The markers are written in two halves, so that the echo of the keys is not taken for the
  // answer.
  return `
    zmodload zsh/zpty
    zpty shell ${start}
    zpty -w shell ${quote(`${load}; echo REA""DY`)}
    zpty -r shell seen '*READY*'
    zpty -w -n shell ${quote(keys)}$'\\t\\C-aprintf "<%s>" BEG""IN \\C-e END\\n'
    zpty -r shell seen '*<BEGIN>*<END>*'
    print -r -- "$seen"
    zpty -d shell
  `
}

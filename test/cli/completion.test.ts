import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, makeFolder, runProgram, runShell } from '../support/run-program.ts'

function install(): string {
  const folder = makeFolder()
  writeFileSync(
    join(folder, 'workbench'),
    `#!/bin/sh\nexec "${process.execPath}" "${fixture('workbench.mjs')}" "$@"\n`,
  )
  chmodSync(join(folder, 'workbench'), 0o755)
  return folder
}

describe('completion', () => {
  test('in a real bash, of a real program [5.completion-bash]', async () => {
    const folder = install()
    const { stdout, stderr } = await runShell(
      'workbench.mjs',
      `
      source <(workbench completion bash)
      complete_line() { COMP_LINE="$1" COMP_POINT=\${#1}; read -ra COMP_WORDS <<< "$1"; [[ "$1" == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=()
        $(complete -p workbench | sed 's/.*-F \\([^ ]*\\).*/\\1/') workbench; printf '%s|' "\${COMPREPLY[@]}"; echo; }
      complete_line 'workbench sea'
      complete_line 'workbench pr '
      complete_line 'workbench echo --mo'
      complete_line 'workbench echo --mode '
      complete_line 'workbench --output '
    `,
      { env: { PATH: `${folder}:${process.env['PATH']}` } },
    )
    expect(stderr).toBe('')
    const lines = stdout.split('\n').map((line) =>
      line
        .split('|')
        .map((word) => word.trim())
        .filter((word) => word !== ''),
    )
    expect(lines[0]).toEqual(['search'])
    expect(lines[1]).toEqual(['list', 'merge'])
    expect(lines[2]).toContain('--mode')
    expect(lines[3]).toEqual(['fast', 'slow', 'careful'])
    expect(lines[4]).toContain('yaml')
  })

  test('in a real fish [5.completion-fish]', async () => {
    const { stdout, stderr } = await runShell(
      'workbench.mjs',
      `fish --no-config -c 'workbench completion fish | source; for line in "workbench sea" "workbench pr " "workbench echo --mode "; complete -C $line; echo ---; end'`,
      { env: { PATH: `${install()}:${process.env['PATH']}` } },
    )
    expect(stderr).toBe('')
    const answers = stdout.split('---\n').map((answer) =>
      answer
        .split('\n')
        .map((line) => line.split('\t')[0])
        .filter((word) => word !== ''),
    )
    expect(answers.slice(0, 3)).toEqual([
      ['search'],
      ['list', 'merge'],
      expect.arrayContaining(['fast', 'slow', 'careful']),
    ])
  })

  test('in a real zsh, by its keys [5.completion-zsh]', async () => {
    const folder = install()
    writeFileSync(
      join(folder, 'keys.zsh'),
      `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'autoload -Uz compinit; compinit -u -D; source <(workbench completion zsh); echo REA""DY'
      zpty -r shell seen '*READY*'
      zpty -w -n shell 'workbench sea'$'\\t'$'\\C-aprintf "<%s>" BEG""IN \\C-e END\\n'
      zpty -r shell seen '*<BEGIN>*<END>*'
      print -r -- "$seen"
      zpty -d shell
    `,
    )
    const { stdout } = await runShell('workbench.mjs', `zsh -f ${join(folder, 'keys.zsh')}`, {
      env: { PATH: `${folder}:${process.env['PATH']}`, TERM: 'dumb', LC_ALL: 'C.UTF-8' },
    })
    expect(stdout).toContain('<BEGIN><workbench><search><END>')
  })

  test.each(['bash', 'zsh', 'fish', 'powershell'])(
    'completion %s prints a script that asks the program [5.completion-powershell]',
    async (shell) => {
      const { status, stdout, stderr } = await runProgram('workbench.mjs', ['completion', shell])
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toContain('__complete')
      expect(stdout).toContain('workbench')
    },
  )

  test('__complete answers candidates, never a failure and never a run [5.completion-bash]', async () => {
    const ask = (...words: string[]) => runProgram('workbench.mjs', ['__complete', '--', ...words])
    const ended = await Promise.all([
      ask('regi'),
      ask('register', '--color', ''),
      ask('nosuch', ''),
      ask('echo', '--config', ''),
      ask(),
      ask('remove', 'x', '--y'),
    ])
    expect(ended[0].stdout).toContain('register\tNeeds a name and an age\n')
    expect(ended[1].stdout).toContain('green')
    expect(ended[5].stdout).toContain('--yes')
    for (const { status, stderr, stdout } of ended) {
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/(^|\n):\w+\n$/)
    }
  })
})

import { describe, expect, test } from 'vitest'
import { runProgram } from '../support/run-program.ts'

describe.concurrent('built-in commands of a real program', () => {
  test('have help of their own, with the name of the program [5.builtin-commands]', async () => {
    const [after, before, word] = await Promise.all([
      runProgram('workbench.mjs', ['completion', '--help']),
      runProgram('workbench.mjs', ['--help', 'completion']),
      runProgram('workbench.mjs', ['help', 'completion']),
    ])
    expect([after.status, after.stderr]).toEqual([0, ''])
    expect(after.stdout).toContain('workbench completion <shell> [options]')
    expect([before.stdout, word.stdout]).toEqual([after.stdout, after.stdout])
  })

  test('fail like tools, with the repaired call [5.builtin-commands]', async () => {
    const [wrong, missing, flag] = await Promise.all([
      runProgram('workbench.mjs', ['completion', 'bsh']),
      runProgram('workbench.mjs', ['completion']),
      runProgram('workbench.mjs', ['completion', 'bash', '--nosuch']),
    ])
    expect([wrong.status, wrong.json.error.code, wrong.json.meta.tool]).toEqual([
      2,
      'INVALID_INPUT',
      'workbench.completion',
    ])
    expect(wrong.json.error.suggestion.fix).toContain('bash')
    expect([
      missing.status,
      missing.json.error.code,
      missing.json.error.suggestion.example,
    ]).toEqual([2, 'MISSING_PARAM', 'workbench completion <shell>'])
    expect([flag.status, flag.json.error.code]).toEqual([2, 'USAGE'])
  })

  test('complete their own values and flags [5.builtin-commands]', async () => {
    const [shells, flags] = await Promise.all([
      runProgram('workbench.mjs', ['__complete', '--', 'completion', '']),
      runProgram('workbench.mjs', ['__complete', '--', 'completion', 'bash', '--out']),
    ])
    expect(shells.stdout).toBe('bash\nzsh\nfish\npowershell\n:none\n')
    expect(flags.stdout).toMatch(/^--output\t/)
  })

  test('the only tool of a program gets the word, unless a sub-word follows [5.builtin-yields]', async () => {
    const [word, command, literal] = await Promise.all([
      runProgram('only-tool.mjs', ['completion']),
      runProgram('only-tool.mjs', ['completion', 'bash']),
      runProgram('only-tool.mjs', ['--', 'completion']),
    ])
    expect(word.json.result.text).toBe('completion')
    expect(command.stdout).toContain('__complete')
    expect(literal.json.result.text).toBe('completion')
  })
})

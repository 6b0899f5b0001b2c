import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runHere } from '../support/run-here.ts'
import { makeFolder, runProgram } from '../support/run-program.ts'

const run = (...args: string[]) => runProgram('workbench.mjs', args)

describe.concurrent('confirmation and dry runs', () => {
  test('a destructive tool is refused in a pipe and named with --yes [4.destructive-needs-confirmation] [5.never-hang]', async () => {
    const [refused, confirmed, short, json] = await Promise.all([
      run('remove', 'a b'),
      run('remove', 'a b', '--yes'),
      run('-y', 'remove', 'a b'),
      run('remove', '{"what":"a b"}'),
    ])
    expect([refused.status, refused.json.error]).toMatchObject([
      77,
      {
        code: 'CONFIRMATION_REQUIRED',
        category: 'auth',
        recoverable: true,
        suggestion: { example: "workbench remove 'a b' --yes" },
      },
    ])
    expect([confirmed.status, confirmed.json.result]).toEqual([0, { removed: 'a b' }])
    expect([short.status, short.json.result]).toEqual([0, { removed: 'a b' }])
    expect([json.status, json.json.error.suggestion.example]).toEqual([
      77,
      "workbench remove 'a b' --yes",
    ])
  })

  test('--dry-run plans where the tool can, says what it would do elsewhere, and needs no consent [5.dry-run-flag] [3.dry-run-supported] [3.dry-run-unsupported] [3.reserved-dry-run] [3.context-plan]', async () => {
    const [plan, would, field, redacted, invalid] = await Promise.all([
      run('plan', 'x', '--dry-run'),
      run('remove', 'x', '--dry-run'),
      run('reserved', '{"dry_run":true,"note":"secret"}'),
      run('reserved', '--dry-run', '--note', 'secret'),
      run('remove', '--dry-run'),
    ])
    expect([plan.status, plan.json.result]).toEqual([
      0,
      { plan: [{ action: 'remove', target: 'x', details: { bytes: 3 } }] },
    ])
    expect([would.status, would.json.result]).toEqual([
      0,
      { dry_run: true, would_execute: { what: 'x' } },
    ])
    for (const { status, json, stdout } of [field, redacted]) {
      expect([status, json.result.would_execute.note, json.meta.dry_run]).toEqual([0, '***', true])
      expect(stdout).not.toContain('secret')
    }
    expect(invalid.json.error.code).toBe('MISSING_PARAM')
  })
})

describe.concurrent('reserved fields', () => {
  test('working_dir, timeout and verbose act when declared [3.reserved-working-dir] [3.reserved-timeout] [3.reserved-verbose]', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'inside'))
    const [inside, limited, tooLong, negative, missing] = await Promise.all([
      runProgram('workbench.mjs', ['reserved', '--working-dir', 'inside'], { cwd: folder }),
      run('reserved', '--timeout', '5', '-vv'),
      run('reserved', '{"timeout":601}'),
      run('reserved', '{"timeout":-1}'),
      run('reserved', '--working-dir', join(folder, 'nowhere')),
    ])
    expect(inside.json.result.cwd).toBe(join(folder, 'inside'))
    expect(limited.json.result).toMatchObject({
      remaining: true,
      verbose: 2,
      input: { timeout: 5, verbose: 2 },
    })
    for (const { status, json } of [tooLong, negative])
      expect([status, json.error.code, json.error.field]).toEqual([65, 'INVALID_INPUT', 'timeout'])
    expect([missing.status, missing.json.error.code]).toEqual([66, 'INVALID_PATH'])
  })
})

describe.concurrent('secrets', () => {
  test('come by a private file or by stdin, and a file that others can read is refused [5.secrets-not-by-argv] [3.context-secret]', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'token'), 'hunter2\n', { mode: 0o600 })
    writeFileSync(join(folder, 'open'), 'hunter2\n')
    chmodSync(join(folder, 'open'), 0o644)
    const secret = (args: string[], input?: string) =>
      runProgram('workbench.mjs', ['secret', ...args], {
        cwd: folder,
        ...(input !== undefined && { input }),
      })
    const [file, stdin, open, none, twice, session] = await Promise.all([
      secret(['--secret-file', 'token=token']),
      secret(['--secret-file', 'token=-'], 'hunter2\n'),
      secret(['--secret-file', 'token=open']),
      secret([]),
      secret(['--secret-file', 'token=-', '--secret-file', 'other=-'], 'x'),
      secret(['--secret-file', 'token=-', '--session'], 'x'),
    ])
    expect([file.json.result, stdin.json.result]).toEqual([{ length: 7 }, { length: 7 }])
    expect([open.status, open.json.error]).toMatchObject([
      77,
      { code: 'PERMISSION', suggestion: { fix: expect.stringContaining('chmod 600') } },
    ])
    expect([none.status, none.json.error.code]).toEqual([78, 'CONFIG'])
    for (const { status, json } of [twice, session])
      expect([status, json.error.code]).toEqual([2, 'USAGE'])
    for (const { stdout, stderr } of [file, stdin, open])
      expect(stdout + stderr).not.toContain('hunter2')
  })
})

describe.concurrent('settings', () => {
  const tree = () => {
    const folder = makeFolder()
    const config = join(folder, 'user')
    const project = join(folder, 'project')
    mkdirSync(join(config, 'toolable'), { recursive: true })
    mkdirSync(join(project, 'deep', 'er'), { recursive: true })
    return { config, project, deep: join(project, 'deep', 'er') }
  }
  const USER = {
    settings: { output: 'yaml', timeout: '20' },
    defaults: { workbench: { echo: { text: 'user', count: 1 } } },
  }

  test('flag, environment, project file, user file, default [5.settings-order]', async () => {
    const { config, project, deep } = tree()
    writeFileSync(join(config, 'toolable', 'config.json'), JSON.stringify(USER))
    const call = (cwd: string, args: string[], env: { [name: string]: string } = {}) =>
      runProgram('workbench.mjs', ['echo', ...args], {
        cwd,
        env: { XDG_CONFIG_HOME: config, ...env },
      })
    const user = await call(deep, ['--loud'])
    writeFileSync(
      join(project, 'toolable.yaml'),
      'settings:\n  output: csv\ndefaults:\n  workbench:\n    echo:\n      text: project\n',
    )
    const [byProject, byEnv, byFlag, json] = await Promise.all([
      call(deep, ['--loud']),
      call(deep, ['--loud'], { TOOLABLE_OUTPUT: 'json', WORKBENCH_COUNT: '7' }),
      call(deep, ['flag', '--loud', '--json', '-c', '9'], {
        TOOLABLE_OUTPUT: 'text',
        WORKBENCH_COUNT: '7',
      }),
      call(deep, ['{"loud":true}', '--json']),
    ])
    expect(user.stdout).toContain('text: user')
    expect(user.stdout).toContain('count: 1')
    expect(byProject.stdout).toBe('loud,text,count\r\ntrue,project,1\r\n')
    expect(byEnv.json.result).toEqual({ loud: true, text: 'project', count: 7 })
    expect(byFlag.json.result).toEqual({ loud: true, text: 'flag', count: 9 })
    expect(json.json.result).toEqual({ loud: true })
  })

  test('a default fills what is required, without a look at stdin [5.settings-order] [5.stdin-piped]', async () => {
    const { project } = tree()
    writeFileSync(
      join(project, 'toolable.json'),
      '{"defaults":{"workbench":{"register":{"name":"ann","age":3}}}}',
    )
    const { json } = await runProgram('workbench.mjs', ['register'], {
      cwd: project,
      input: '{"name":"bob","age":4}',
    })
    expect(json.result).toEqual({ name: 'ann', age: 3 })
  })

  test.each([
    ['toolable.json', '{broken'],
    ['toolable.json', '[]'],
    ['toolable.yaml', 'a: [1'],
    ['toolable.yml', '- 1\n'],
  ])('a broken %s is CONFIG and names the file: %j [5.settings-order]', async (name, text) => {
    const { project } = tree()
    writeFileSync(join(project, name), text)
    const [call, help] = await Promise.all([
      runProgram('workbench.mjs', ['scalar'], { cwd: project }),
      runProgram('workbench.mjs', ['--help'], { cwd: project }),
    ])
    expect([call.status, call.json.error.code]).toEqual([78, 'CONFIG'])
    expect(call.json.error.message).toContain(name)
    expect(help.status).toBe(0)
  })
})

describe.concurrent('errors of tools', () => {
  test.each<[args: string[], exit: number, error: object]>([
    [
      ['NOT_FOUND', 'gone'],
      66,
      {
        code: 'NOT_FOUND',
        category: 'state',
        recoverable: true,
        retryable: false,
        message: 'gone',
      },
    ],
    [['E3001', 'gone'], 66, { code: 'NOT_FOUND' }],
    [['E_TIMEOUT', 'slow'], 124, { code: 'TIMEOUT' }],
    [['DEPENDENCY', 'down'], 69, { code: 'DEPENDENCY', recoverable: false, retryable: true }],
    [['RATE_LIMIT', 'slow down'], 75, { code: 'RATE_LIMIT', retryable: true }],
    [['CONFLICT', 'there'], 73, { code: 'CONFLICT' }],
    [['PERMISSION', 'no'], 77, { code: 'PERMISSION' }],
    [['CONFIG', 'no'], 78, { code: 'CONFIG' }],
    [['PRECONDITION', 'no'], 1, { code: 'PRECONDITION' }],
    [['INTERNAL', 'no'], 1, { code: 'INTERNAL' }],
    [['INVALID_INPUT', 'no'], 2, { code: 'INVALID_INPUT' }],
    [['E3101', 'none'], 1, { code: 'E3101', category: 'state', message: 'none' }],
    [['E4100', 'asleep'], 1, { code: 'E4100', category: 'runtime', message: 'asleep' }],
    [['E4100', 'later', '--retryable'], 75, { code: 'E4100', retryable: true, message: 'later' }],
    [['E2500', 'no'], 77, { code: 'E2500', category: 'auth' }],
    [['E1500', 'no'], 2, { code: 'E1500', category: 'input' }],
    [['E_MY_THING', 'no'], 1, { code: 'E_MY_THING', category: 'runtime' }],
  ])(
    'fail(%j) exits %i [4.error-table] [4.own-codes] [4.recoverable-retryable] [3.declared-errors]',
    async ([code, message, ...flags], exit, error) => {
      const { status, json } = await runHere('workbench.mjs', [
        'broken',
        '--code',
        code!,
        '--message',
        message!,
        ...flags,
      ])
      expect(json.error).toMatchObject({
        ...error,
        details: { tried: 1 },
        suggestion: { fix: 'Try something else' },
      })
      expect(status).toBe(exit)
    },
  )

  test('a result that its own schema refuses is INTERNAL, a tool without handler cannot be run [4.output-validated] [3.tool-without-run]', async () => {
    const [wrong, advertised] = await Promise.all([run('wrong-result'), run('advertised')])
    expect([wrong.status, wrong.json.error]).toMatchObject([
      1,
      { code: 'INTERNAL', message: expect.stringContaining('id') },
    ])
    expect(wrong.json).not.toHaveProperty('result')
    expect([advertised.status, advertised.json.error]).toMatchObject([
      1,
      { code: 'PRECONDITION', recoverable: false },
    ])
  })

  test('a repaired input is a command line on the terminal and in JSON [3.suggestion-input]', async () => {
    const [json, text] = await Promise.all([
      run('register', '--name', 'taken', '--age', '5'),
      run('register', '{"name":"taken","age":5}', '-o', 'text'),
    ])
    expect([json.status, json.json.error.suggestion]).toMatchObject([
      73,
      {
        fix: 'Choose another name',
        input: { name: 'taken-2', age: 5 },
        example: 'workbench register --name taken-2 --age 5',
      },
    ])
    expect(text.stderr).toContain('try: workbench register --name taken-2 --age 5')
  })

  test('a field is refused at definition with the way out, and every command says so [5.flag-clash]', async () => {
    for (const args of [['clash'], ['clash', '--help']]) {
      const { status, stdout, stderr } = await runProgram('clashes.mjs', args)
      expect(status).not.toBe(0)
      expect(stdout + stderr).toContain("flags: { output: { name: 'out-file' } }")
    }
  })
})

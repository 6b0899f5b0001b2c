import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { registry } from 'toolable'
import type { Registry } from 'toolable'
import { expect, test } from 'vitest'
import { fixture, makeFolder } from '../support/run-program.ts'

async function use<T>(
  files: { readonly [name: string]: string },
  work: (reg: Registry, folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = makeFolder()
  mkdirSync(join(folder, 'tools'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'tools', name), text)
  const reg = await registry({ cwd: folder, folders: ['tools'], cache: false })
  try {
    return await work(reg, folder)
  } finally {
    await reg.close()
  }
}

const DEEP = 'print("[" * 200_000 + "]" * 200_000)\n'

test('[6.hostile-answers] JSON without a floor costs its own tool, and no other', async () => {
  const files = {
    'answers-without-a-floor.py': DEEP,
    'dumps-without-a-floor.py': `print('{"name":"d","description":"x","parameters":' + '{"properties":{"a":' * 20_000 + '{}' + '}}' * 20_000 + '}')\n`,
    'results.py': `# toolable: {"name": "results", "summary": "Gives a deep result"}\n${DEEP}`,
    'fails.py': `# toolable: {"name": "fails", "summary": "Fails with a deep answer"}\n${DEEP}raise SystemExit(3)\n`,
  }
  await use(files, async (reg) => {
    expect(reg.list().map(({ name }) => name)).toEqual(['fails', 'results'])
    expect(
      reg.problems().map(({ reason, message }) => [reason, message.split(' with ')[1]]),
    ).toEqual(Array(2).fill(['not-json', 'JSON that is nested more than 200 levels deep']))
    expect(await reg.call('results', {})).toMatchObject({
      ok: false,
      error: {
        code: 'INTERNAL',
        message:
          'the tool returned something that is nested more than 1000 levels deep at result, which JSON cannot carry',
      },
    })
    expect(await reg.call('fails', {})).toMatchObject({
      ok: false,
      error: {
        message: 'the program ended with exit status 3 and said nothing',
        details: { exit_status: 3, stdout: '[JSON that is nested more than 200 levels deep]' },
      },
    })
  })
})

test('[6.hostile-answers] what is pasted from a fix does what it says, whatever a file is called or a program complains about', async () => {
  const gem =
    'import sys\nsys.stderr.write("cannot load such file -- $(touch stolen)\\n")\nsys.exit(1)\n'
  const files = {
    "$(touch stolen)'s.py": 'import nowhere.at.all\n',
    'a b;touch stolen.py': 'def (\n',
    'wants-a-gem.py': gem,
    '`touch stolen`.yaml': 'name: a\ncommand: exec\nentry: "x;touch stolen"\n',
    'x;touch stolen': '',
  }
  await use(files, (reg, folder) => {
    const fixes = reg.problems().map(({ fix }) => fix)
    expect(fixes).toHaveLength(4)
    for (const fix of fixes) {
      // A shell that is asked to read only, word by word.
      spawnSync(
        'bash',
        [
          '-c',
          `python3() { :; }; chmod() { :; }; toolable() { :; }; Let() { :; }; ${fix.replace(/^Run it by hand: /, '')}`,
        ],
        { cwd: folder, env: { PATH: '/usr/bin:/bin' }, stdio: 'ignore' },
      )
    }
    expect(existsSync(join(folder, 'stolen'))).toBe(false)
    expect(fixes).toContain(`chmod +x '${join(folder, 'tools', 'x;touch stolen')}'`)
  })
})

test('[6.child-never-throws] a host without a free descriptor is told so, and works again when it has one', () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'tools'))
  writeFileSync(join(folder, 'tools', 'a.sh'), '# toolable: {"name": "a"}\necho {}\n')
  const { stdout } = spawnSync(
    'bash',
    [
      '-c',
      'ulimit -n 80; exec "$@"',
      'bash',
      process.execPath,
      fixture('runs-out-of-descriptors.mjs'),
      folder,
    ],
    { encoding: 'utf8', env: { PATH: process.env['PATH'] } },
  )
  expect(stdout).toBe('ok DEPENDENCY ok\n')
})

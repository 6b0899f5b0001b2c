import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChildOptions } from '../../../src/process/child.ts'
import { runChild } from '../../../src/process/run.ts'
import { listCodeFolders } from '../../../src/process/programs.ts'
import { env, folder, inSandbox, profileOf } from './support.ts'

function put(path: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
  return path
}

async function run(
  profile: ReturnType<typeof profileOf>,
  command: ChildOptions['command'],
  more: Partial<ChildOptions> = {},
): Promise<string> {
  const end = await runChild({ ...inSandbox(profile), command, ...more })
  return `${end.problem?.message ?? ''}${end.stdout.toString()}`
}

describe('a tool whose own files and manifest are the trick', () => {
  test('[7.sandbox-leaks] has no sandbox of its own choice, whatever its PATH names', async () => {
    const bin = join(folder, 'own-bin')
    const mark = join(bin, 'ran')
    put(join(bin, 'bwrap'), `#!/bin/sh\ntouch ${mark}\nexec /usr/bin/bwrap "$@"\n`, 0o755)
    // It would run as another user where root starts it.
    chmodSync(bin, 0o777)
    expect(
      await run(profileOf(), ['/bin/echo', 'held'], {
        env: { ...env, PATH: `${bin}:${env.PATH}` },
      }),
    ).toBe('held\n')
    expect(existsSync(mark)).toBe(false)
  })

  test('[7.sandbox-reads] is shown nothing because its virtual environment or its links name it', async () => {
    const tool = join(folder, 'package')
    const victim = join(folder, 'victim')
    const secrets = [
      put(join(victim, 'keys', 'id'), 'key'),
      put(join(victim, 'project', 'notes'), 'notes'),
      put(join(victim, 'modules', 'plan'), 'plan'),
    ]
    put(join(victim, 'project', 'bin', 'cli'), '#!/bin/sh\n', 0o755)
    put(join(tool, 'venv', 'bin', 'python'), '#!/bin/sh\nexec /bin/cat "$@"\n', 0o755)
    put(join(tool, 'venv', 'pyvenv.cfg'), `home = ${join(victim, 'keys')}\n`)
    symlinkSync(join(victim, 'project', 'bin', 'cli'), join(tool, 'venv', 'bin', 'ruby'))
    symlinkSync(join(victim, 'modules'), join(tool, 'node_modules'))
    const command = [
      join(tool, 'venv', 'bin', 'python'),
      ...secrets,
      join(tool, 'node_modules', 'plan'),
    ] as const
    const profile = profileOf(
      {},
      { readable: listCodeFolders([put(join(tool, 'src', 'tool.py'), ''), command[0]]) },
    )
    expect(
      await run(profile, command, {
        env: { ...env, PATH: `${join(tool, 'venv', 'bin')}:${env.PATH}` },
      }),
    ).toBe('')
  })

  test('[7.sandbox-reads] does not bring the whole home along in which it lies', () => {
    expect(listCodeFolders([join(homedir(), 'tool.py'), '/tmp/tool.py'])).toEqual([
      join(homedir(), 'tool.py'),
      '/tmp/tool.py',
    ])
    const inside = mkdtempSync(join(folder, 'shares-'))
    for (const name of ['_lib', 'node_modules', 'tool/code'])
      mkdirSync(join(inside, name), { recursive: true })
    symlinkSync(join(inside, 'node_modules'), join(inside, 'tool', 'node_modules'))
    expect(listCodeFolders([join(inside, 'tool', 'cli.py')])).toEqual(
      ['tool', '_lib', 'tool/node_modules', 'node_modules'].map((name) => join(inside, name)),
    )
  })
})

describe('a tool that may write to the folder that holds what it may not change', () => {
  test('[7.sandbox-writes] moves neither its own code nor the records of runs out of the way', async () => {
    const project = join(folder, 'project')
    const code = put(join(project, 'tools', 'registry', 'mine', 'cli.sh'), 'mine')
    const record = put(join(project, 'part', '.runs', 'r-1', 'run.json'), 'record')
    for (const name of ['', 'tools', 'tools/registry', 'part'])
      chmodSync(join(project, name), 0o777)
    const profile = profileOf(
      { write: [{ path: project, tree: true }] },
      { readable: [dirname(code)], hidden: [dirname(dirname(record))] },
    )
    const script =
      'cd "$1"; for each in tools tools/registry part; do mv $each $each-moved && echo $each; done; touch part/new tools/new && echo wrote'
    expect(await run(profile, ['/bin/sh', '-c', script, 'sh', project])).toBe('wrote\n')
    expect([code, record].map((file) => readFileSync(file, 'utf8'))).toEqual(['mine', 'record'])
    expect(
      [join(project, 'part', 'new'), join(project, 'tools', 'new')].map((file) => existsSync(file)),
    ).toEqual([true, true])
    rmSync(project, { recursive: true })
  })
})

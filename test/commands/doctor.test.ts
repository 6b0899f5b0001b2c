import { chmodSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { withoutBubblewrap } from '../support/without-bubblewrap.ts'
import { folderWith, toolable } from './support.ts'

type Finding = {
  readonly id: string
  readonly status: string
  readonly found: string
  readonly fix?: string
}
const byId = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map((one) => [one.id, one]))
const MECHANISMS = ['files', 'network', 'processes', 'seccomp', 'privileges', 'nproc', 'egress']

describe('toolable doctor', () => {
  test('tries what this machine can enforce, and leaves nothing behind [7.doctor-tries]', async () => {
    const cwd = folderWith({
      'toolable.yaml': 'folders: []\n',
      'toolable.policy.yaml': 'version: 1\n',
    })
    const { status, json } = await toolable(['doctor', '--level', 'L3'], { cwd })
    const found = byId(json.result.findings)
    expect([status, json.result.level, json.result.enough]).toEqual([0, 'L3', true])
    expect(Object.values(found).filter((one) => one.status !== 'ok')).toEqual([])
    expect(Object.keys(found)).toEqual([
      ...MECHANISMS,
      'memory',
      'user',
      'node',
      'system',
      'runs-folder',
      'clock',
      'disk',
      'config',
      'policies',
    ])
    expect([found['config']!.found, found['policies']!.found]).toEqual([
      join(cwd, 'toolable.yaml'),
      join(cwd, 'toolable.policy.yaml'),
    ])
    expect(readdirSync(cwd).sort()).toEqual(['toolable.policy.yaml', 'toolable.yaml'])
  })

  test('says what to install where bubblewrap is not there, and fails only where more was wanted [7.doctor-fixes]', async () => {
    const cwd = makeFolder()
    const wanted = await withoutBubblewrap(['doctor', '--level', 'L3', '--json'], cwd)
    const { level, enough, findings } = (
      JSON.parse(wanted.stdout) as {
        result: { level: string; enough: boolean; findings: Finding[] }
      }
    ).result
    expect([wanted.status, level, enough]).toEqual([1, 'L1', false])
    expect(MECHANISMS.map((id) => byId(findings)[id])).toEqual(
      MECHANISMS.map(
        (id) =>
          expect.objectContaining({
            id,
            status: 'missing',
            fix: 'sudo apt-get install bubblewrap',
          }) as Finding,
      ),
    )
    const any = await withoutBubblewrap(['doctor', '-o', 'text'], cwd)
    expect(any.status).toBe(0)
    expect(any.stdout).toMatch(
      /^files +missing +There is no sandbox: bubblewrap is not installed$/m,
    )
    expect(any.stdout.match(/^fix: sudo apt-get install bubblewrap$/gm)).toHaveLength(1)
  })

  test('says which setting forbids namespaces [7.doctor-fixes]', async () => {
    const folder = folderWith({
      bwrap: "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n",
    })
    chmodSync(join(folder, 'bwrap'), 0o755)
    chmodSync(folder, 0o755)
    const { status, json } = await toolable(['doctor', '--level', 'L3'], {
      cwd: folder,
      env: { PATH: `${folder}${delimiter}/usr/bin:/bin` },
    })
    expect([status, byId(json.result.findings)['files']!.fix]).toEqual([
      1,
      expect.stringContaining('sudo sysctl -w'),
    ])
  })

  test('fails for a policy, a configuration or a folder that would fail every run [7.doctor-fixes]', async () => {
    const cwd = folderWith({
      'toolable.yaml': 'foldres: []\n',
      'toolable.policy.yaml': 'version: 2\n',
      '.runs': 'a file\n',
    })
    const { status, json } = await toolable(['doctor'], { cwd })
    const found = byId(json.result.findings)
    expect(status).toBe(1)
    expect(
      ['config', 'policies', 'runs-folder'].map((id) => [
        id,
        found[id]!.status,
        typeof found[id]!.fix,
      ]),
    ).toEqual([
      ['config', 'broken', 'string'],
      ['policies', 'broken', 'string'],
      ['runs-folder', 'broken', 'string'],
    ])
    expect(found['policies']!.found).toContain('toolable.policy.yaml:1')
  })

  test('knows no other levels [7.doctor-fixes]', async () => {
    const { status, json } = await toolable(['doctor', '--level', 'L9'])
    expect([status, json.error.code]).toEqual([2, 'INVALID_INPUT'])
  })
})

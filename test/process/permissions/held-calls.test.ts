import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { registry } from 'toolable'
import type { Outcome } from 'toolable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, makeFolder, runProgram } from '../../support/run-program.ts'
import { TOOLABLE } from '../../support/toolable-program.ts'

let folder: string
const at = (name: string): string => join(folder, name)

function put(name: string, text: string): void {
  mkdirSync(dirname(at(name)), { recursive: true })
  writeFileSync(at(name), text)
}

const TRIES = 'command: python\nentry: tries-everything.py\nparameters: {type: object}\n'
const INPUTS =
  'inputs:\n  - {name: input, type: path, required: true}\n  - {name: output, type: path, required: true}\n  - {name: plant, type: boolean}\n  - {name: fail, type: boolean}\n'

beforeAll(() => {
  folder = realpathSync(makeFolder())
  // Of this file alone: other tests leave and take theirs meanwhile.
  process.env['TMPDIR'] = realpathSync(makeFolder())
  put(
    'tools/tries.yaml',
    `name: tries\ndescription: Tries everything\n${TRIES}permissions:\n  filesystem:\n    read: [${at('data/**')}]\n    write: [${at('drop/**')}]\n`,
  )
  put('tools/free.yaml', `name: free\ndescription: Tries everything\n${TRIES}`)
  put(
    'tools/registry/copier/tool.yaml',
    `name: copier\nversion: 1.0.0\nentry: cli.sh\nprotocol_version: 1\n${INPUTS}`,
  )
  mkdirSync(at('tools/copier'))
  copyFileSync(fixture('held/tries-everything.py'), at('tools/tries-everything.py'))
  copyFileSync(fixture('held/makes-its-output.sh'), at('tools/copier/cli.sh'))
  for (const name of ['data/one.txt', 'drop/old.txt', 'private.txt', 'in.txt'])
    put(name, `this is ${name}`)
  // What root starts is somebody else in its sandbox.
  chmodSync(at('drop'), 0o777)
})

let port = 0
const server = createServer((socket) => socket.end())
beforeAll(
  () =>
    new Promise<void>((resolve) =>
      server.listen(0, '127.0.0.1', () => {
        port = (server.address() as AddressInfo).port
        resolve()
      }),
    ),
)
afterAll(() => new Promise((resolve) => server.close(resolve)))

async function call(
  tool: string,
  input: { readonly [field: string]: unknown },
  env: { readonly [name: string]: string } = {},
): Promise<Outcome> {
  const reg = await registry({
    cwd: folder,
    folders: ['tools'],
    cache: at('cache'),
    env: { PATH: process.env['PATH'], SECRET: 'ambient', ...env },
  })
  try {
    return await reg.call(tool, input, {
      cwd: folder,
      env: { PATH: process.env['PATH'], SECRET: 'ambient', ...env },
    })
  } finally {
    await reg.close()
  }
}

const left = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('toolable-run-'))

describe('a call of a tool that has permissions [7.calls-held]', () => {
  test('gets what it was granted and nothing else, while a tool that is merely described has the rights of its caller', async () => {
    const wishes = {
      read: [at('data/one.txt'), at('private.txt'), '/etc/shadow'],
      write: [at('drop/new.txt'), at('data/new.txt'), at('new.txt'), '/etc/new.txt'],
      connect: [port],
    }
    expect(await call('tries', wishes)).toMatchObject({
      ok: true,
      result: {
        read: ['this is data/one.txt', 'FileNotFoundError', 'FileNotFoundError'],
        write: ['written', 'OSError', expect.stringMatching(/Error$/), 'OSError'],
        connect: ['ConnectionRefusedError'],
        workspace: 'written',
        variables: expect.not.arrayContaining(['SECRET', 'RUN_ID']),
        uid: expect.toSatisfy((uid: number) => uid > 0),
      },
    })
    expect(
      [at('drop/new.txt'), at('data/new.txt'), at('new.txt')].map((path) => existsSync(path)),
    ).toEqual([true, false, false])
    expect(await call('free', { read: [at('private.txt')], connect: [port] })).toMatchObject({
      ok: true,
      result: { read: ['this is private.txt'], connect: ['connected'], workspace: 'none' },
    })
  })

  test('sees and changes no records of runs, whatever it was granted', async () => {
    put(
      'tools/whole.yaml',
      `name: whole\ndescription: Has the project\n${TRIES}permissions: {filesystem: read-write}\n`,
    )
    put('.runs/r-1/events.jsonl', 'recorded')
    chmodSync(folder, 0o777)
    expect(
      await call('whole', {
        read: [at('private.txt'), at('.runs/r-1/events.jsonl')],
        write: [at('.runs/r-1/events.jsonl'), at('.runs/new')],
      }),
    ).toMatchObject({
      ok: true,
      result: {
        read: ['this is private.txt', 'FileNotFoundError'],
        write: ['FileNotFoundError', 'OSError'],
      },
    })
    expect(readFileSync(at('.runs/r-1/events.jsonl'), 'utf8')).toBe('recorded')
  })

  test('has its inputs shown, and its output comes to its place and is told by it', async () => {
    const before = left()
    const outcome = await call('copier', { input: 'in.txt', output: 'out.txt' })
    expect(outcome).toMatchObject({ ok: true, meta: { artifacts: [{ uri: at('out.txt') }] } })
    expect(JSON.stringify(outcome)).not.toContain('.outputs')
    expect(readFileSync(at('out.txt'), 'utf8')).toBe('this is in.txt')
    expect(
      await call('copier', { input: 'in.txt', output: 'failed.txt', fail: true }),
    ).toMatchObject({ ok: false, error: { message: 'failed after all' } })
    expect(
      await call('copier', { input: 'in.txt', output: 'planted.txt', plant: true }),
    ).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', message: expect.stringContaining('is a link') },
    })
    expect(await call('copier', { input: 'no.txt', output: 'none.txt' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_PATH', field: 'input' },
    })
    expect(
      ['failed.txt', 'planted.txt', 'none.txt'].filter((name) => existsSync(at(name))),
    ).toEqual([])
    expect(left()).toEqual(before)
  })

  test('is refused where a policy forbids what it asks for, or where the policy is broken', async () => {
    put('policy.yaml', `version: 1\nfilesystem:\n  write: []\n`)
    const env = { TOOLABLE_POLICY: at('policy.yaml') }
    expect(await call('tries', {}, env)).toMatchObject({
      ok: false,
      error: {
        code: 'PERMISSION',
        message: `${at('tools/tries.yaml')}:9: 'tools.tries' wants to write ${at('drop')}, and ${at('policy.yaml')}:3 does not allow it`,
      },
    })
    expect(await call('copier', { input: 'in.txt', output: 'forbidden.txt' }, env)).toMatchObject({
      ok: false,
      error: {
        code: 'PERMISSION',
        message: `'tools.copier' is given ${at('forbidden.txt')} to write, and ${at('policy.yaml')}:3 does not allow it`,
      },
    })
    put('policy.yaml', `version: 1\nfilesystem:\n  read: ["${at('data/**')}"]\n`)
    expect(await call('copier', { input: 'in.txt', output: 'forbidden.txt' }, env)).toMatchObject({
      ok: false,
      error: {
        code: 'PERMISSION',
        message: expect.stringContaining(
          `is given ${at('in.txt')} to read, and ${at('policy.yaml')}:3`,
        ),
      },
    })
    expect(
      await call('copier', { input: 'data/one.txt', output: 'allowed.txt' }, env),
    ).toMatchObject({ ok: true })
    put('policy.yaml', 'version: 1\ntools:\n  "*.free": {require_permissions: true}\n')
    expect(await call('tries', {}, env)).toMatchObject({ ok: true })
    expect(await call('free', {}, env)).toMatchObject({
      ok: false,
      error: {
        code: 'PERMISSION',
        message: expect.stringContaining(`${at('policy.yaml')}:3 demands them`),
      },
    })
    put('policy.yaml', 'version: 1\nmin_level: L3\n')
    expect(await call('tries', {}, env)).toMatchObject({ ok: true })
    expect(await call('free', {}, env)).toMatchObject({
      ok: false,
      error: {
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining(`${at('policy.yaml')}:2 allows no less`),
      },
    })
    put('policy.yaml', 'version: 1\nmin_levle: L3\n')
    expect(await call('free', {}, env)).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', message: expect.stringContaining("did you mean 'min_level'") },
    })
  })
})

describe('manifests that are too wide are refused before anything starts [7.wide-manifests]', () => {
  const WIDE: readonly (readonly [string, string, number])[] = [
    ['the whole machine', 'filesystem: {write: ["/**"]}', 77],
    ['the root', 'filesystem: {read: ["/"]}', 77],
    ['a way out', 'filesystem: {write: ["${WORKSPACE}/../../**"]}', 77],
    ['a pattern', 'filesystem: {read: ["/home/*/.ssh/**"]}', 78],
    ['a relative path', 'filesystem: {read: ["../**"]}', 77],
    ['a home', 'filesystem: {read: ["~/**"]}', 78],
    ['a link', 'filesystem: {read: ["/proc/self/root/etc/**"]}', 77],
    ['every server', 'network: {egress_allow: ["*"]}', 77],
    ['every server of a domain', 'network: {egress_allow: ["*.example.com:443"]}', 77],
    ['metadata', 'network: {egress_allow: ["169.254.169.254:80"]}', 77],
    ['the whole network', 'network: full', 77],
    ['root', 'user: root', 77],
  ]

  test('all twelve', async () => {
    for (const [index, [, permissions]] of WIDE.entries())
      put(
        `wide/w${index}.yaml`,
        `name: w${index}\ndescription: Asks for too much\ncommand: python\nentry: runs.py\npermissions:\n  ${permissions}\n`,
      )
    put('wide/runs.py', 'import json\nprint(json.dumps({"ran": True}))\n')
    put(
      'wide/good.yaml',
      'name: good\ndescription: Asks for nothing\ncommand: python\nentry: runs.py\npermissions: {}\n',
    )
    const results = await Promise.all(
      WIDE.map((_wide, index) =>
        runProgram(TOOLABLE, ['call', '--folder', at('wide'), '--no-cache', `w${index}`, '{}'], {
          cwd: folder,
        }),
      ),
    )
    expect(
      results.map(({ status, json }, index) => [
        WIDE[index]![0],
        status,
        json.error.message.startsWith(`${at(`wide/w${index}.yaml`)}:6: `),
      ]),
    ).toEqual(WIDE.map(([name, , status]) => [name, status, true]))
    expect(
      (
        await runProgram(TOOLABLE, ['call', '--folder', at('wide'), '--no-cache', 'good', '{}'], {
          cwd: folder,
        })
      ).json,
    ).toMatchObject({ ok: true, result: { ran: true } })
  })
})

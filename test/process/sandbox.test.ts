import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChildEnd, ChildOptions, SandboxProfile } from '../../src/process/child.ts'
import { runChild } from '../../src/process/run.ts'
import { findSandbox } from '../../src/sandbox/probe-sandbox.ts'
import { listProgramInstallations } from '../../src/process/programs.ts'
import { listNaming } from '../support/processes.ts'
import { HANG_MS } from '../support/limits.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/children/${name}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
const env = { PATH: process.env['PATH']!, LC_ALL: 'C.UTF-8' }
const CLOSED: SandboxProfile = { writable: 'private-tmp', network: 'none' }
const run = (
  command: ChildOptions['command'],
  readable: readonly string[] = [],
  options: Partial<ChildOptions> = {},
): Promise<ChildEnd> =>
  runChild({
    cwd: '/',
    env,
    command,
    timeout: HANG_MS,
    sandbox: { ...CLOSED, readable },
    ...options,
  })
const python = ['/usr/bin/python3', '-I'] as const

let servers: Server[] = []
let connections = 0
let attacked: Record<string, unknown>

beforeAll(async () => {
  writeFileSync(join(folder, 'secret'), 'secret')
  const socket = join(folder, 'socket')
  const count = (): void => void (connections += 1)
  servers = [
    createServer(count).listen(0, '127.0.0.1'),
    createServer(count).listen(socket),
    createServer(count).listen(`\0${socket}`),
  ]
  await Promise.all(
    servers.map((server) => new Promise((resolve) => server.once('listening', resolve))),
  )
  const { port } = servers[0]!.address() as { port: number }
  const { stdout, stderr } = await run(
    [
      ...python,
      fixture('attacks.py'),
      join(folder, 'secret'),
      String(port),
      socket,
      String(process.pid),
    ],
    [dirname(fixture('attacks.py'))],
  )
  attacked = JSON.parse(
    stdout.toString() || JSON.stringify({ crashed: stderr.toString() }),
  ) as Record<string, unknown>
})

afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

describe('a sandboxed program', () => {
  test('this machine has a sandbox', async () => {
    expect(await findSandbox(env)).toMatchObject({ available: true })
  })

  test('[6.sandbox-writes-nothing] writes nowhere but into its own temporary directory, which is empty, small, and its home', () => {
    expect(attacked).toMatchObject({
      written: [],
      wrote_home: true,
      beginning: true,
      filled: false,
    })
    expect(existsSync(join(homedir(), 'written-by-an-attack'))).toBe(false)
  })

  test('[6.sandbox-hides] reads no homes and no temporary files of others', () => {
    expect(attacked).toMatchObject({ read_secret: false })
  })

  test('[6.sandbox-reaches-nobody] reaches no network, no socket and no process', () => {
    expect(attacked).toMatchObject({
      connected_tcp: false,
      connected_unix: false,
      connected_abstract: false,
      saw_process: false,
      signalled: false,
    })
    expect(connections).toBe(0)
  })

  test('[6.sandbox-hides] gets no variables but those that were given, and a bounded memory', () => {
    const { environment, took_memory } = attacked as {
      readonly environment: readonly string[]
      readonly took_memory: boolean
    }
    // Node hands its coverage to every child.
    expect(environment.filter((name) => name !== 'NODE_V8_COVERAGE')).toEqual([
      'HOME',
      'LC_ALL',
      'PATH',
      'PWD',
      'TMPDIR',
    ])
    expect(took_memory).toBe(false)
  })

  test('[6.sandbox-hides] sees what it is shown, also through a link, and nothing beside it', async () => {
    mkdirSync(join(folder, 'shown'))
    writeFileSync(join(folder, 'shown', 'file'), 'here')
    symlinkSync(join(folder, 'shown'), join(folder, 'link'))
    const { stdout } = await run(
      [
        'sh',
        '-c',
        `cat ${folder}/link/file; ls ${folder}; touch ${folder}/shown/new || echo refused`,
      ],
      [join(folder, 'link')],
    )
    expect(stdout.toString()).toBe('herelink\nshown\nrefused\n')
  })

  test('[6.sandbox-hides] to show a whole home shows nothing', async () => {
    expect((await run(['ls', folder], ['/tmp', '/', homedir()])).status).not.toBe(0)
  })

  test('[6.child-tree-ends] takes everything along when it ends, daemons too, and when its time is up', async () => {
    const script = join(folder, 'leaves-a-daemon.py')
    writeFileSync(
      script,
      `import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)\n`,
    )
    expect(await run([...python, script], [script])).toMatchObject({ reason: 'exited', status: 0 })
    expect(
      await run(['sh', '-c', `${python.join(' ')} ${script}; sleep 600`], [script], {
        timeout: 500,
      }),
    ).toMatchObject({ reason: 'timeout' })
    await vi.waitFor(() => expect(listNaming(script)).toEqual([]), HANG_MS)
  })

  test('[7.sandbox-calls] calls no more of the kernel than a tool may', async () => {
    const file = fileURLToPath(new URL('../fixtures/attacks/forbidden-calls.py', import.meta.url))
    expect(JSON.parse((await run([...python, file], [dirname(file)])).stdout.toString())).toEqual({
      allowed: [],
      missing: [],
    })
  })

  test('[6.child-never-throws] one that cannot be started is told from one that failed', async () => {
    expect(await run(['no-such-program'])).toMatchObject({
      reason: 'not-started',
      problem: { code: 'CONFIG' },
    })
    expect(await run(['/etc/passwd'])).toMatchObject({
      reason: 'not-started',
      problem: { code: 'PERMISSION' },
    })
    expect(await run(['sh', '-c', 'echo bwrapped >&2; exit 1'])).toMatchObject({
      reason: 'exited',
      status: 1,
    })
  })

  test('the interpreters on PATH work, wherever they are installed', async () => {
    expect(
      (await run(['python3', '-c', 'import json, ssl; print(json.dumps(1))'])).stdout.toString(),
    ).toBe('1\n')
    expect((await run(['node', '-p', '1'])).stdout.toString()).toBe('1\n')
  })

  test('a virtual environment of Python brings the Python that it was made with', () => {
    const home = join(folder, 'pythons', '3.99', 'bin')
    const venv = join(folder, 'venv')
    for (const made of [home, join(venv, 'bin')]) mkdirSync(made, { recursive: true })
    writeFileSync(join(home, 'python3'), '', { mode: 0o755 })
    writeFileSync(join(venv, 'pyvenv.cfg'), `home = ${home}\n`)
    symlinkSync(join(home, 'python3'), join(venv, 'bin', 'python'))
    expect(new Set(listProgramInstallations(join(venv, 'bin', 'python')))).toEqual(
      new Set([venv, dirname(home)]),
    )
  })
})

describe('a machine without sandbox', () => {
  const pretend = (words: string): { PATH: string } => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`)
    chmodSync(join(bin, 'bwrap'), 0o755)
    return { PATH: `${bin}:${env.PATH}` }
  }

  test.each([
    [
      'bwrap: setting up uid map: Permission denied',
      /forbids user namespaces \(bwrap: setting up uid map: Permission denied\)/,
      /sysctl/,
    ],
    [
      'bwrap: I am another program',
      /does not work here \(bwrap: I am another program\)/,
      /bwrap --unshare-all/,
    ],
  ])('[6.sandbox-honest] says why: %s', async (words, message, fix) => {
    const found = await findSandbox(pretend(words))
    expect(found).toMatchObject({
      available: false,
      problem: {
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringMatching(message),
        suggestion: { fix: expect.stringMatching(fix) },
      },
    })
  })

  test('[6.sandbox-honest] runs nothing that asked for one', async () => {
    const mark = join(folder, 'ran')
    expect(await run(['touch', mark], [], { env: pretend('bwrap: broken') })).toMatchObject({
      reason: 'not-started',
      problem: { code: 'SANDBOX_UNAVAILABLE' },
    })
    expect(existsSync(mark)).toBe(false)
  })
})

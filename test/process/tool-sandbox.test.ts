import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChildEnd, ChildOptions, ToolProfile } from '../../src/process/child.ts'
import { openChild, runChild } from '../../src/process/run.ts'
import type { PathGrant } from '../../src/process/grants.ts'
import { attackers, env, folder, inSandbox, isRoot, profileOf, secret } from './attacks/support.ts'

const sh = (
  profile: ToolProfile,
  script: string,
  options: Partial<ChildOptions> = {},
): Promise<ChildEnd> =>
  runChild({ ...inSandbox(profile), command: ['/bin/sh', '-c', script], ...options })
const tree = (path: string): PathGrant => ({ path, tree: true })
const file = (path: string): PathGrant => ({ path, tree: false })
const own = (path: string): string => {
  mkdirSync(path)
  if (isRoot) chownSync(path, 65534, 65534)
  return path
}

describe('what a tool is given', () => {
  test('[7.sandbox-grants] it reads what it was granted and writes where it may, and nothing beside it', async () => {
    const read = own(join(folder, 'read'))
    const write = own(join(folder, 'write'))
    writeFileSync(join(read, 'file'), 'here')
    writeFileSync(join(folder, 'one'), 'one')
    const profile = profileOf({
      read: [tree(read), file(join(folder, 'one'))],
      write: [tree(write)],
    })
    const { stdout } = await sh(
      profile,
      `cat ${read}/file ${folder}/one; echo x > ${read}/no; echo x > ${write}/yes; echo x > in-workspace; ls ${folder}`,
    )
    expect(stdout.toString()).toBe(`hereoneone\nread\n${basename(profile.workspace)}\nwrite\n`)
    expect([
      existsSync(join(read, 'no')),
      existsSync(join(write, 'yes')),
      existsSync(join(profile.workspace, 'in-workspace')),
    ]).toEqual([false, true, true])
  })

  test('[7.sandbox-grants] places that it may write to are made, and taken away again where they stayed empty', async () => {
    const base = own(join(folder, 'made'))
    const [used, unused, output] = ['deep/used', 'unused', 'out.json'].map((name) =>
      join(base, name),
    ) as [string, string, string]
    const profile = profileOf({ write: [tree(used), tree(unused), file(output)] })
    expect(await sh(profile, `echo x > ${used}/file && echo '{}' > ${output}`)).toMatchObject({
      status: 0,
    })
    expect([
      existsSync(join(used, 'file')),
      existsSync(unused),
      readFileSync(output, 'utf8'),
    ]).toEqual([true, false, '{}\n'])
  })

  test('[7.sandbox-grants] a folder within a grant can be hidden, all but what it is shown there', async () => {
    const project = own(join(folder, 'project'))
    const runs = own(join(project, 'runs'))
    writeFileSync(join(runs, 'events'), 'x')
    const workspace = own(join(runs, 'work'))
    const profile = profileOf({ write: [tree(project)] }, { workspace, hidden: [runs] })
    const { stdout } = await sh(
      profile,
      `ls ${runs}; echo forged > ${runs}/events; echo x > ${workspace}/fine; echo y > ${project}/fine; ls ${project}`,
    )
    expect(stdout.toString()).toBe('work\nfine\nruns\n')
    expect([
      readFileSync(join(runs, 'events'), 'utf8'),
      existsSync(join(workspace, 'fine')),
    ]).toEqual(['x', true])
  })

  test('[7.sandbox-grants] its own folder stays as it is, also within a place that it may write to', async () => {
    const project = own(join(folder, 'with-tool'))
    const tools = own(join(project, 'tools'))
    const { stdout } = await sh(
      profileOf({ write: [tree(project)] }, { readable: [tools] }),
      `echo x > ${project}/a && echo could; echo x > ${tools}/b || echo could not`,
    )
    expect(stdout.toString()).toBe('could\ncould not\n')
  })

  test.each<[string, (base: string) => Parameters<typeof profileOf>, string, RegExp]>([
    ['everything', () => [{ read: [tree('/')] }], 'PERMISSION', /\/ cannot be given/],
    ['processes', () => [{ read: [tree('/proc/1')] }], 'PERMISSION', /cannot be given/],
    [
      'a link that was put in place of a grant',
      (base) => {
        symlinkSync('/etc', join(base, 'link'))
        return [{ read: [tree(join(base, 'link'))] }]
      },
      'PERMISSION',
      /is a link to \/etc/,
    ],
    ['a folder as a file', (base) => [{ read: [file(base)] }], 'CONFIG', /is a folder/],
    [
      'a workspace that is not there',
      (base) => [{}, { workspace: join(base, 'nothing') }],
      isRoot ? 'SANDBOX_UNAVAILABLE' : 'INVALID_PATH',
      /nothing/,
    ],
    [
      'a file of the sandbox in a folder of the machine',
      (base) => [
        { read: [tree(base)] },
        { files: [{ path: join(base, 'secret'), content: Buffer.from('x') }] },
      ],
      'CONFIG',
      /cannot be a file of the sandbox/,
    ],
  ])('[7.sandbox-grants] %s is refused before start', async (name, profile, code, message) => {
    const base = own(join(folder, name.replaceAll(' ', '-')))
    const end = await sh(profileOf(...profile(base)), 'true')
    expect(end).toMatchObject({
      reason: 'not-started',
      status: null,
      problem: { code, message: expect.stringMatching(message) },
    })
  })

  test('[7.sandbox-leaks] its variables are those that were given, but a home and a temporary folder that exist, and no value breaks out', async () => {
    const profile = profileOf()
    const given = {
      PATH: env.PATH,
      HOME: '/home/somebody',
      TMPDIR: '/var/folders/x',
      QUOTED: 'a b\n"--bind"',
      EMPTY: '',
    }
    const { stdout } = await runChild({
      ...inSandbox(profile),
      env: given,
      command: ['/usr/bin/env', '-0'],
    })
    const seen = Object.fromEntries(
      stdout
        .toString()
        .split('\0')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    expect(seen).toEqual({ ...given, HOME: '/tmp/home', TMPDIR: '/tmp', PWD: profile.workspace })
    expect(
      await sh(profileOf(), 'true', { env: { ...env, BAD: 'x\0--bind\0/\0/' } }),
    ).toMatchObject({ reason: 'not-started', problem: { code: 'INVALID_INPUT' } })
  })

  test('[7.sandbox-leaks] a bubblewrap that a tool put on the PATH is not started, and no word becomes an option', async () => {
    const bin = own(join(folder, 'planted'))
    const mark = join(folder, 'planted-ran')
    writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    expect(
      await sh(profileOf({ write: [tree(bin)] }), 'echo held', {
        env: { PATH: `${bin}:${env.PATH}` },
      }),
    ).toMatchObject({ status: 0, stdout: Buffer.from('held\n') })
    expect(existsSync(mark)).toBe(false)
    const profile = profileOf()
    expect(
      await sh(profile, 'true', { cwd: `${profile.workspace}/\0--dev-bind\0/\0/` }),
    ).toMatchObject({ reason: 'not-started', problem: { code: 'INVALID_INPUT' } })
  })

  test('[7.sandbox-grants] places are made where they stand, not where a link leads', async () => {
    const base = own(join(folder, 'with-a-link'))
    const elsewhere = own(join(folder, 'elsewhere'))
    symlinkSync(elsewhere, join(base, 'link'))
    for (const grant of [tree(join(base, 'link/made')), file(join(base, 'link/made.txt'))])
      expect(await sh(profileOf({ write: [grant] }), 'true')).toMatchObject({
        reason: 'not-started',
        problem: { code: 'PERMISSION' },
      })
    await sh(profileOf({ write: [tree(base), tree(join(base, 'link/inner'))] }), 'true')
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('[7.sandbox-secrets] files of secrets are there for it alone', async () => {
    const { stdout } = await sh(
      profileOf({}, { files: [{ path: '/run/secrets/token', content: Buffer.from('s3cret\n') }] }),
      'cat /run/secrets/token; echo x > /run/secrets/token || echo kept; ls /run/secrets',
    )
    expect(stdout.toString()).toBe('s3cret\nkept\ntoken\n')
    expect(existsSync('/run/secrets/token')).toBe(false)
  })

  test('[7.sandbox-user] it is not root, and what it writes into its workspace is its own', async () => {
    const profile = profileOf()
    mkdirSync(join(profile.workspace, 'from-before'))
    const { stdout } = await sh(profile, 'id -u; whoami; echo x > from-before/file')
    const uid = isRoot ? 65534 : process.getuid!()
    expect(stdout.toString()).toBe(`${uid}\ntool\n`)
    expect(lstatSync(join(profile.workspace, 'from-before/file')).uid).toBe(uid)
  })

  test('[7.sandbox-user] what its user cannot read or write is refused in words, where root grants it', async () => {
    const path = join(folder, 'of-root')
    writeFileSync(path, 'x')
    chmodSync(path, 0o600)
    const end = await sh(profileOf({ read: [file(path)] }), `cat ${path}`)
    if (isRoot)
      expect(end).toMatchObject({
        reason: 'not-started',
        problem: {
          code: 'PERMISSION',
          message: expect.stringContaining(`${path} cannot be read by user 65534`),
        },
      })
    else expect(end).toMatchObject({ reason: 'exited', status: 0 })
  })

  test('[7.sandbox-network] none is none, but for itself; an open one reaches servers', async () => {
    const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const connect = `import socket\nwith socket.create_connection(("127.0.0.1", ${(server.address() as AddressInfo).port}), 5) as client: print(client.recv(9).decode())`
    const itself =
      'import socket\nserver = socket.create_server(("127.0.0.1", 0))\nsocket.create_connection(server.getsockname(), 5)\nprint(socket.gethostbyname("localhost"))'
    const python = async (network: 'none' | 'open', script: string): Promise<string> =>
      (
        await runChild({
          ...inSandbox(profileOf({ network })),
          command: ['/usr/bin/python3', '-I', '-c', script],
        })
      ).stdout.toString()
    expect(
      await Promise.all([python('none', connect), python('none', itself), python('open', connect)]),
    ).toEqual(['', '127.0.0.1\n', 'hello\n'])
    server.close()
  })
})

describe('how a tool ends', () => {
  test('[7.ends-asked] it is asked itself, and what it says in its grace is heard', async () => {
    const lines: string[] = []
    const abort = new AbortController()
    const onLine = (line: string): void => {
      lines.push(line)
      abort.abort()
    }
    const child = await openChild({
      ...inSandbox(profileOf()),
      grace: 20_000,
      signal: abort.signal,
      onLine,
      command: [
        '/usr/bin/python3',
        '-I',
        '-c',
        'import os, signal, time\ndef leave(*_):\n    os.write(1, b"bye\\n")\n    os._exit(130)\nsignal.signal(signal.SIGTERM, leave)\nprint("ready", flush=True)\ntime.sleep(600)',
      ],
    })
    expect(await child.end).toMatchObject({ reason: 'cancelled', status: 130, signal: null })
    expect(lines).toEqual(['ready', 'bye'])
  })

  test('[7.sandbox-exits] statuses and signals are told as without a sandbox', async () => {
    const ends = await Promise.all(
      ['exit 0', 'exit 7', 'exit 130', 'kill -9 $$', 'kill -SEGV $$'].map((script) =>
        sh(profileOf(), script),
      ),
    )
    expect(ends.map(({ reason, status, signal }) => `${reason} ${status} ${signal}`)).toEqual([
      'exited 0 null',
      'exited 7 null',
      'exited 130 null',
      'exited null SIGKILL',
      'exited null SIGSEGV',
    ])
    expect(await sh(profileOf(), 'echo "bwrap: I am not bubblewrap" >&2; exit 1')).toMatchObject({
      reason: 'exited',
      status: 1,
    })
    expect(
      await runChild({ ...inSandbox(profileOf()), command: ['no-such-program'] }),
    ).toMatchObject({ reason: 'not-started', problem: { code: 'CONFIG' } })
    expect(await sh(profileOf(), 'sleep 600', { timeout: 300 })).toMatchObject({
      reason: 'timeout',
    })
  })

  test('[7.sandbox-exits] its streams can be opened by name, and its folder is its workspace', async () => {
    const profile = profileOf()
    const { stdout, stderr } = await sh(
      profile,
      'cat /dev/stdin; echo err > /dev/stderr; pwd; test -r /dev/null && test ! -e /dev/tty',
      { input: 'in\n', cwd: '/somewhere/else' },
    )
    expect([stdout.toString(), stderr.toString()]).toEqual([`in\n${profile.workspace}\n`, 'err\n'])
    expect([existsSync(secret), existsSync(attackers)]).toEqual([true, true])
  })
})

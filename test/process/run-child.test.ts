import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { ToolError } from '../../src/protocol/tool-error.ts'
import { buildCallEnv, buildProbeEnv } from '../../src/process/environment.ts'
import type { ChildEnd, ChildOptions } from '../../src/process/child.ts'
import { openChild, runChild } from '../../src/process/run.ts'
import { isAlive } from '../support/processes.ts'
import { HANG_MS } from '../support/limits.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/children/${name}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'run-child-'))
const base = { cwd: folder, env: { PATH: '/usr/local/bin:/usr/bin:/bin' } }
const run = (
  command: ChildOptions['command'],
  options: Partial<ChildOptions> = {},
): Promise<ChildEnd> => runChild({ ...base, command, ...options })
const isGone = (pid: number): Promise<void> =>
  vi.waitFor(() => expect(isAlive(pid)).toBe(false), HANG_MS)

afterAll(() => rmSync(folder, { recursive: true }))

describe('what a child gets', () => {
  test('[6.child-nothing-inherited] exactly the given arguments, directory and environment, and no shell in between', async () => {
    const args = ['$HOME', '*', 'a b', '', '"', '`id`', '-x', 'ä\n']
    const { stdout } = await run(
      [
        'node',
        '-p',
        'JSON.stringify([process.argv.slice(1), process.cwd(), process.env])',
        '--',
        ...args,
      ],
      { env: { ...base.env, ONLY: 'this' } },
    )
    const [seen, cwd, env] = JSON.parse(stdout.toString()) as [
      unknown,
      unknown,
      { readonly [name: string]: string },
    ]
    // Node hands its coverage to every child.
    const { NODE_V8_COVERAGE: _coverage, ...others } = env
    expect([seen, cwd, others]).toEqual([args, folder, { ...base.env, ONLY: 'this' }])
  })

  test('[6.child-nothing-inherited] stdin is at its end, or has the input and then its end', async () => {
    expect((await run(['cat'])).stdout.toString()).toBe('')
    for (const input of ['', 'ä', 'ä'.repeat(2_000_000)])
      expect((await run(['cat'], { input })).stdout.toString()).toBe(input)
  })

  test('[6.child-named-pipes] its streams can be opened by name', async () => {
    const script = 'sleep 0.1; cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr'
    const { stdout, stderr } = await run(['sh', '-c', script], { input: 'in\n' })
    expect([stdout.toString(), stderr.toString()]).toEqual(['in\nout\n', 'err\n'])
    expect(
      (
        await run(['sh', '-c', 'echo err > /dev/stderr'], {
          sandbox: { writable: 'private-tmp', network: 'none' },
        })
      ).stderr.toString(),
    ).toBe('err\n')
  })

  test('[6.child-environment] base variables are a list of names; probes get fewer, a home of their own, and no certificates', () => {
    const host = {
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C',
      XDG_CACHE_HOME: '/c',
      HTTPS_PROXY: 'http://p',
      NODE_EXTRA_CA_CERTS: '/ca',
      API_KEY: 'secret',
      NODE_OPTIONS: '--x',
      LD_PRELOAD: '/evil',
      UNSET: undefined,
    }
    expect(Object.keys(buildCallEnv(host))).toEqual([
      'PATH',
      'HOME',
      'LC_ALL',
      'XDG_CACHE_HOME',
      'HTTPS_PROXY',
      'NODE_EXTRA_CA_CERTS',
    ])
    expect(buildProbeEnv(host, '/empty')).toEqual({
      PATH: '/bin',
      LC_ALL: 'C',
      HOME: '/empty',
      TMPDIR: '/empty',
      TERM: 'dumb',
      NO_COLOR: '1',
      PYTHONDONTWRITEBYTECODE: '1',
    })
  })
})

describe('what cannot be started', () => {
  test.each<[string, ChildOptions['command'], Partial<ChildOptions>, string, RegExp]>([
    [
      'a program that is not there',
      ['no-such-program'],
      {},
      'CONFIG',
      /"no-such-program" was not found/,
    ],
    ['a file that may not be executed', ['/etc/passwd'], {}, 'PERMISSION', /may not be executed/],
    [
      'an interpreter that is not there',
      [fileURLToPath(new URL('../fixtures/probes/missing-interpreter', import.meta.url))],
      {},
      'CONFIG',
      /interpreter \/no\/such\/interpreter/,
    ],
    [
      'a directory that is not there',
      ['true'],
      { cwd: '/no/such/folder' },
      'INVALID_PATH',
      /\/no\/such\/folder: there is no such directory/,
    ],
    ['a NUL in an argument', ['echo', 'a\0b'], {}, 'INVALID_INPUT', /NUL/],
    [
      'an argument that is too large',
      ['echo', 'x'.repeat(131_072)],
      {},
      'INVALID_INPUT',
      /too large/,
    ],
  ])(
    '[6.child-never-throws] %s is told by the end',
    async (_name, command, options, code, message) => {
      const { reason, status, problem } = await run(command, options)
      expect({ reason, status }).toEqual({ reason: 'not-started', status: null })
      expect(ToolError.is(problem) && problem).toMatchObject({
        code,
        message: expect.stringMatching(message),
        suggestion: { fix: expect.any(String) },
      })
    },
  )

  test('[6.child-never-throws] the largest argument that the system takes arrives whole', async () => {
    expect((await run(['echo', 'x'.repeat(131_071)])).stdout.length).toBe(131_072)
  })

  test('[6.child-never-throws] a call that is cancelled before it starts never runs', async () => {
    const mark = join(folder, 'ran')
    expect(await run(['touch', mark], { signal: AbortSignal.abort() })).toMatchObject({
      reason: 'cancelled',
      status: null,
    })
    expect((await run(['ls', mark])).status).not.toBe(0)
  })
})

describe('what a child writes', () => {
  test('[6.child-bounded-output] one byte too many on stdout ends it, and no more is taken', async () => {
    const { reason, stdout } = await run(['python3', fixture('floods.py'), '1000000'], {
      maxStdout: 100_000,
    })
    expect([reason, stdout.length]).toEqual(['stdout-limit', 100_000])
    expect(await run(['head', '-c', '100000', '/dev/zero'], { maxStdout: 100_000 })).toMatchObject({
      reason: 'exited',
      status: 0,
    })
    expect(await run(['head', '-c', '100001', '/dev/zero'], { maxStdout: 100_000 })).toMatchObject({
      reason: 'stdout-limit',
    })
  })

  test('[6.child-bounded-output] of stderr the beginning is kept, and the rest never stops the child', async () => {
    const { status, stderr, stderrCut } = await run(
      ['python3', fixture('floods.py'), '200', 'stderr'],
      { maxStderr: 1000 },
    )
    expect([status, stderr.length, stderrCut]).toEqual([0, 1000, true])
  })

  test('[6.child-lines] lines come whole and in order, odd ones too, the last without an end', async () => {
    const lines: string[] = []
    const { stdout } = await run(['python3', fixture('odd-lines.py')], {
      onLine: (line) => lines.push(line),
    })
    expect(lines).toEqual(['aä', 'b\rc', 'd\u2028e', '', 'bad \ufffd', 'nul \0', 'half'])
    expect(stdout.length).toBe(0)
  })

  test('[6.child-bounded-output] a line without end ends the child', async () => {
    expect(
      await run(['python3', fixture('floods.py'), '1000000', 'line'], {
        maxLine: 100_000,
        onLine: () => {},
      }),
    ).toMatchObject({ reason: 'line-limit' })
  })

  test('[6.child-never-throws] a listener that throws ends its child, and the end tells what it threw', async () => {
    const thrown = new Error('not this line')
    expect(
      await run(['python3', fixture('floods.py'), '1000000'], {
        onLine: () => {
          throw thrown
        },
      }),
    ).toMatchObject({ reason: 'cancelled', problem: thrown })
  })

  test('[6.child-never-throws] a child that does not read its input, or stops in the middle, is no failure of ours', async () => {
    const input = 'x'.repeat(3_000_000)
    expect(await run(['true'], { input })).toMatchObject({ reason: 'exited', status: 0 })
    expect((await run(['head', '-c', '3'], { input })).stdout.toString()).toBe('xxx')
    expect(await run(['sleep', '600'], { input, timeout: 100 })).toMatchObject({
      reason: 'timeout',
    })
  })
})

describe('how a child ends', () => {
  test('status and signal are its own', async () => {
    expect(await run(['sh', '-c', 'exit 7'])).toMatchObject({
      reason: 'exited',
      status: 7,
      signal: null,
    })
    expect(await run(['sh', '-c', 'kill -9 $$'])).toMatchObject({
      reason: 'exited',
      status: null,
      signal: 'SIGKILL',
    })
  })

  test('[6.child-tree-ends] a daemon that left group and session delays nobody and is ended', async () => {
    const { reason, status, stdout } = await run(['python3', fixture('leaves-a-daemon.py')])
    expect({ reason, status }).toEqual({ reason: 'exited', status: 0 })
    await isGone(Number(stdout))
  })

  test('[6.child-tree-ends] a silent child is ended when its time is up', async () => {
    let pid = 0
    expect(
      await run(['sleep', '600'], {
        timeout: 50,
        onStart: (started) => {
          pid = started
        },
      }),
    ).toMatchObject({ reason: 'timeout', signal: 'SIGKILL' })
    await isGone(pid)
  })

  test.each([0, 100])(
    '[6.child-tree-ends] nothing is left of what ignores signals and went into another session (grace %i)',
    async (grace) => {
      const abort = new AbortController()
      let stubborn = 0
      const onLine = (line: string): void => {
        stubborn = Number(line)
        abort.abort()
      }
      expect(
        await run(['python3', fixture('keeps-a-stubborn-child.py')], {
          grace,
          signal: abort.signal,
          onLine,
        }),
      ).toMatchObject({ reason: 'cancelled', signal: 'SIGKILL' })
      expect(stubborn).toBeGreaterThan(0)
      await isGone(stubborn)
    },
  )

  test('[6.child-tree-ends] a child that leaves when it is asked takes its own children along', async () => {
    const abort = new AbortController()
    const lines: string[] = []
    const { reason, status } = await run(['python3', fixture('leaves-when-asked.py')], {
      grace: 10_000,
      signal: abort.signal,
      onLine: (line) => {
        lines.push(line)
        abort.abort()
      },
    })
    expect({ reason, status, last: lines.at(-1) }).toEqual({
      reason: 'cancelled',
      status: 3,
      last: 'bye',
    })
    await isGone(Number(lines[0]))
  })
})

describe('a child that stays', () => {
  test('[6.child-open] lines go in and come out until its input is closed', async () => {
    const lines: string[] = []
    const child = await openChild({ ...base, command: ['cat'], onLine: (line) => lines.push(line) })
    expect([await child.write('ä'), await child.write('b')]).toEqual([true, true])
    await vi.waitFor(() => expect(lines).toEqual(['ä', 'b']), HANG_MS)
    child.closeInput()
    expect(await child.end).toMatchObject({ reason: 'exited', status: 0 })
    expect(await child.write('late')).toBe(false)
  })

  test('[6.child-open] a full pipe makes the writer wait, and a dead child lets it go', async () => {
    const child = await openChild({ ...base, command: ['sleep', '600'] })
    const written = child.write('x'.repeat(10_000_000))
    expect(
      await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]),
    ).toBe('waits')
    child.kill()
    expect(await written).toBe(false)
    expect(await child.end).toMatchObject({ reason: 'cancelled' })
    await isGone(child.pid!)
  })

  test('[6.child-open] one that cannot be started has an end that says why', async () => {
    const child = await openChild({ ...base, command: ['no-such-program'] })
    expect([child.pid, await child.write('x')]).toEqual([undefined, false])
    child.kill()
    child.closeInput()
    child.keepAlive(false)
    expect(await child.end).toMatchObject({ reason: 'not-started' })
  })

  test.each([
    ['one that is not held lets its owner go, and goes with the pipe', 'child.keepAlive(false)'],
    [
      'one that runs when its owner exits goes with it',
      `await openChild({ ...options, command: ['sleep', '600'], onStart: (pid) => console.log(pid) })\nprocess.exit()`,
    ],
  ])('[6.child-open] %s', async (name, rest) => {
    const script = join(folder, `${name.length}.mjs`)
    writeFileSync(
      script,
      `const { openChild } = await import(${JSON.stringify(new URL('../../src/process/run.ts', import.meta.url).href)})
const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, command: ['cat'], onLine: () => {} }
const child = await openChild({ ...options, onStart: (pid) => console.log(pid) })
${rest}
`,
    )
    const hook = fileURLToPath(new URL('../setup/typescript-hook.mjs', import.meta.url))
    const { status, stdout } = await run(['node', '--import', hook, script], { timeout: HANG_MS })
    expect([status, stdout.length > 0]).toEqual([0, true])
    for (const pid of stdout.toString().trim().split('\n')) await isGone(Number(pid))
  })
})

describe('listeners of chunks', () => {
  const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

  test('[7.output-backpressure] a child waits while its listener is busy, and nothing is lost', async () => {
    let seen = 0
    let busy = false
    let overlaps = 0
    const end = await run(['head', '-c', '3000000', '/dev/zero'], {
      async onOutput(chunk) {
        if (busy) overlaps += 1
        busy = true
        await later()
        busy = false
        seen += chunk.length
      },
    })
    expect([end.reason, end.status, seen, overlaps, end.stdout.length]).toEqual([
      'exited',
      0,
      3_000_000,
      0,
      0,
    ])
  })

  test('[7.output-backpressure] a child that floods gets no further than its pipe while its listener is busy', async () => {
    const file = join(folder, 'written')
    let go = (): void => {}
    const stopped = new Promise<void>((resolve) => {
      go = resolve
    })
    const script = `const {writeSync,writeFileSync}=require('fs');const chunk=Buffer.alloc(4096);for(let sent=0;;){sent+=writeSync(1,chunk);writeFileSync(process.argv[1],String(sent))}`
    const controller = new AbortController()
    let chunks = 0
    const ended = run(['node', '-e', script, file], {
      signal: controller.signal,
      maxStdout: 1e9,
      onOutput: () => {
        chunks += 1
        return stopped
      },
    })
    const written = (): number => Number(readFileSync(file, 'utf8'))
    let last = -1
    await vi.waitFor(
      () => {
        const now = written()
        const same = now > 0 && now === last
        last = now
        expect(same).toBe(true)
      },
      { timeout: HANG_MS, interval: 200 },
    )
    expect(last).toBeLessThan(1_000_000)
    expect(chunks).toBe(1)
    controller.abort()
    go()
    expect((await ended).reason).toBe('cancelled')
  })

  test('[7.output-backpressure] what is still in a held pipe when the child is gone is read to its end', async () => {
    const seen: Buffer[] = []
    const errors: Buffer[] = []
    const slow =
      (into: Buffer[]) =>
      async (chunk: Buffer): Promise<void> => {
        await new Promise((resolve) => setTimeout(resolve, 300))
        into.push(chunk)
      }
    const end = await run(
      ['sh', '-c', 'head -c 50000 /dev/zero >&2; printf first; sleep 0.1; printf last'],
      { onOutput: slow(seen), onErrorOutput: slow(errors) },
    )
    expect([
      Buffer.concat(seen).toString(),
      Buffer.concat(errors).length,
      end.stderr.length,
    ]).toEqual(['firstlast', 50_000, 50_000])
  })

  test('[7.output-backpressure] a listener that throws or rejects ends its child and hears nothing more', async () => {
    for (const onOutput of [
      () => {
        throw new Error('full')
      },
      () => Promise.reject(new Error('full')),
    ]) {
      let calls = 0
      const end = await run(['yes'], {
        onOutput: () => {
          calls += 1
          return onOutput()
        },
      })
      expect([end.reason, end.problem?.message, calls]).toEqual(['cancelled', 'full', 1])
    }
  })

  test('[7.output-counted-first] bytes are counted before a listener sees them, and one too many ends the child', async () => {
    let seen = 0
    const end = await run(['yes'], {
      maxStdout: 100_000,
      onOutput: (chunk) => {
        seen += chunk.length
      },
    })
    expect([end.reason, seen]).toEqual(['stdout-limit', 100_000])
  })
})

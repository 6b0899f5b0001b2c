import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { openChild, runChild } from '../../../src/process/run.ts'
import { listNaming } from '../../support/processes.ts'
import { attacker, env, folder, inSandbox, profileOf, tell } from './support.ts'
import { HANG_MS } from '../../support/limits.ts'

const SOURCE = new URL('../../../src/process/run.ts', import.meta.url).href
const HOOK = fileURLToPath(new URL('../../setup/typescript-hook.mjs', import.meta.url))

/** Milliseconds within which a killed tree has to be gone. */
const LONGEST = 250

describe('a daemon that ignores every request', () => {
  test.each([['held'], ['free']])(
    '[7.ends-everything] is gone when its tool is killed, with stdout %s',
    async (how) => {
      const times: number[] = []
      for (let attempt = 0; attempt < 3 && !times.some((time) => time <= LONGEST); attempt += 1) {
        const mark = `mark-${how}-${process.pid}-${attempt}`
        let ready = (): void => {}
        const isReady = new Promise<void>((resolve) => {
          ready = resolve
        })
        const child = await openChild({
          ...inSandbox(profileOf()),
          command: attacker('stays-as-a-daemon.py', how, 'waits', mark),
          grace: 0,
          onLine: ready,
        })
        await isReady
        expect(listNaming(mark).length).toBeGreaterThan(2)
        const began = performance.now()
        child.kill()
        expect(await child.end).toMatchObject({ reason: 'cancelled' })
        times.push(performance.now() - began)
        expect(listNaming(mark)).toEqual([])
      }
      expect(Math.min(...times)).toBeLessThanOrEqual(LONGEST)
      tell(
        `daemon with stdout ${how}: tree dead ${Math.round(Math.min(...times))} ms after the kill`,
      )
    },
  )

  test.each([['held'], ['free']])(
    '[7.ends-everything] is gone when its tool exits 0, with stdout %s',
    async (how) => {
      const mark = `mark-exits-${how}-${process.pid}`
      expect(
        await runChild({
          ...inSandbox(profileOf()),
          command: attacker('stays-as-a-daemon.py', how, mark),
        }),
      ).toMatchObject({ reason: 'exited', status: 0 })
      expect(listNaming(mark)).toEqual([])
    },
  )

  test('[7.ends-everything] is gone at L1 too, as long as it keeps the environment of its run', async () => {
    const mark = `mark-level-one-${process.pid}`
    expect(
      await runChild({
        cwd: folder,
        env: { ...env, RUN_ID: `r-${process.pid}-ends` },
        limits: {},
        command: attacker('stays-as-a-daemon.py', 'free', mark),
      }),
    ).toMatchObject({ reason: 'exited', status: 0 })
    await vi.waitFor(() => expect(listNaming(mark)).toEqual([]), HANG_MS)
  })
})

describe('a runner that is killed', () => {
  test('[7.ends-with-us] takes all its tools along, at L3 and at L1', async () => {
    const mark = `mark-runner-${process.pid}`
    const script = join(folder, 'runner.mjs')
    const profile = profileOf()
    writeFileSync(
      script,
      `const { openChild } = await import(${JSON.stringify(SOURCE)})
const command = ${JSON.stringify(attacker('stays-as-a-daemon.py', 'free', 'waits', mark))}
const open = (options) => new Promise((resolve) => void openChild({ ...options, command, onLine: resolve }))
const L1 = { cwd: '/', env: { ...${JSON.stringify(env)}, RUN_ID: 'r-killed-${process.pid}' }, limits: {} }
await Promise.all([...Array(3)].flatMap(() => [open(${JSON.stringify(inSandbox(profile))}), open(L1)]))
console.log('ready')
setInterval(() => {}, 1000)\n`,
    )
    const runner = spawn(process.execPath, ['--import', HOOK, script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => runner.stdout.once('data', resolve))
    const before = listNaming(mark).length
    expect(before).toBeGreaterThan(15)
    const began = performance.now()
    runner.kill('SIGKILL')
    await vi.waitFor(() => expect(listNaming(mark)).toEqual([]), { timeout: HANG_MS, interval: 10 })
    tell(
      `runner killed: 0 of ${before} processes of its tools survive, the last is gone after ${Math.round(performance.now() - began)} ms`,
    )
  })
})

describe('many runs at once', () => {
  test('[7.leaves-nothing] leave no process, no mount and no folder', async () => {
    const mark = `600.${process.pid}`
    const mounts = (): string[] =>
      readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.includes(folder))
    const inMemory = (): string[] =>
      readdirSync('/dev/shm').filter((name) =>
        name.startsWith(`toolable-${performance.timeOrigin}-`),
      )
    const ends = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        runChild({
          ...inSandbox(profileOf()),
          command: ['/bin/sh', '-c', `setsid sleep ${mark} >/dev/null 2>&1 & echo ${index}`],
        }),
      ),
    )
    expect(ends.map(({ status, stdout }) => `${status} ${stdout.toString().trim()}`)).toEqual(
      ends.map((_, index) => `0 ${index}`),
    )
    expect(listNaming(mark)).toEqual([])
    expect([mounts(), inMemory()]).toEqual([[], []])
    tell(`100 parallel runs: orphans ${listNaming(mark).length}, mounts 0, folders 0`)
  })
})

describe('a machine whose bubblewrap is gone or broken', () => {
  const pretend = (name: string, text: string): string => {
    const bin = join(folder, name)
    mkdirSync(bin)
    writeFileSync(join(bin, 'bwrap'), text)
    chmodSync(join(bin, 'bwrap'), 0o755)
    return `${bin}:${env.PATH}`
  }

  test.each([
    [
      'fails',
      '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n',
      /forbids user namespaces/,
    ],
    ['does nothing', '#!/bin/sh\nexit 0\n', /does not work here/],
    ['is no program', '\x00\x01', /got no sandbox|does not work/],
  ])('[7.sandbox-refused] %s: nothing runs', async (name, text, words) => {
    const profile = profileOf({}, { searchPath: pretend(name, text) })
    const mark = join(profile.workspace, 'ran')
    const end = await runChild({ ...inSandbox(profile), command: ['touch', mark] })
    expect(end).toMatchObject({
      reason: 'not-started',
      problem: { code: 'SANDBOX_UNAVAILABLE', message: expect.stringMatching(words) },
    })
    expect(existsSync(mark)).toBe(false)
  })

  test('[7.sandbox-refused] one that lets everything through is found out before anything runs in it', async () => {
    const { detectCapabilities } = await import('../../../src/sandbox/capabilities.ts')
    expect(
      await detectCapabilities({
        PATH: pretend(
          'open',
          '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n',
        ),
      }),
    ).toMatchObject({
      level: 'L1',
      problem: { code: 'SANDBOX_UNAVAILABLE' },
      details: { seccomp: false },
    })
    tell('bubblewrap missing or broken: 0 starts')
  })

  test.each([
    ['fails', '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n'],
    ['does nothing', '#!/bin/sh\nexit 0\n'],
    ['is no program', '\x00\x01'],
    ['holds nothing', '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n'],
  ])('[7.sandbox-refused] %s: no tool is let to its servers either', async (name, text) => {
    const profile = profileOf(
      { network: [{ host: 'example.com', port: 44_300 }] },
      { searchPath: pretend(`${name}-with-servers`, text) },
    )
    const mark = join(profile.workspace, 'ran')
    const end = await runChild({ ...inSandbox(profile), command: ['touch', mark] })
    expect(end).toMatchObject({ reason: 'not-started', problem: { code: 'SANDBOX_UNAVAILABLE' } })
    expect(existsSync(mark)).toBe(false)
  })
})

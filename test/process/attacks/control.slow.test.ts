import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { openChild, runChild } from '../../../src/process/run.ts'
import { getCpuTimeMs } from '../../../src/process/process-table.ts'
import { listNaming } from '../../support/processes.ts'
import { attacker, env, folder, isRoot, makeWorkspace, said, secret, tell } from './support.ts'
import { HANG_MS } from '../../support/limits.ts'

const bare = async (
  command: [string, ...string[]],
): Promise<Awaited<ReturnType<typeof runChild>>> =>
  runChild({ cwd: makeWorkspace(), env, command, timeout: HANG_MS })

/** Lets an attacker go on until it has done its harm, then ends it. */
async function until(
  command: [string, ...string[]],
  isDone: (pid: number, workspace: string) => boolean,
): Promise<void> {
  const workspace = makeWorkspace()
  const attack = await openChild({ cwd: workspace, env, command, timeout: HANG_MS })
  await vi.waitFor(() => expect(isDone(attack.pid!, workspace)).toBe(true), {
    timeout: HANG_MS,
    interval: 50,
  })
  attack.kill()
  expect(await attack.end).toMatchObject({ reason: 'cancelled' })
}

const count = (path: string): number => (existsSync(path) ? readdirSync(path).length : 0)
const resident = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024

describe('with nothing in its way, an attack', () => {
  test('[7.attacks-control] reads, and gets at files by other names', async () => {
    const got = said(
      await bare(attacker('reads-outside.mjs', secret, homedir(), String(process.pid))),
    ) as string[]
    // What only root may do stops others without a sandbox too.
    expect(got).toEqual([
      ...(isRoot ? ['shadow'] : []),
      'users',
      'secret',
      'home',
      'environment of its starter',
    ])
    const ways = (await bare(attacker('escapes-by-links.sh', secret))).stdout
      .toString()
      .trim()
      .split('\n')
    expect(ways).toEqual([
      'symlink',
      'hardlink',
      'own-root',
      'root-of-its-parent',
      'working-directory',
      'symlink-to-all',
      'done',
    ])
    tell(`control: reads outside ${got.length}/5, links ${ways.length - 1}/6`)
  })

  test('[7.attacks-control] writes', async () => {
    const places = Array.from({ length: 6 }, (_, index) => join(folder, `control-${index}`))
    for (const place of places) mkdirSync(place)
    const got = said(await bare(attacker('writes-outside.py', ...places)))
    expect(got).toEqual(places)
    expect(places.every((place) => existsSync(join(place, 'written-by-an-attack')))).toBe(true)
    tell(`control: writes outside ${(got as string[]).length}/6`)
  })

  test('[7.attacks-control] finds what its starter did not hide', async () => {
    const script = join(folder, 'careless-starter.mjs')
    writeFileSync(
      script,
      `import { spawn } from 'node:child_process'
const [program, ...args] = ${JSON.stringify(attacker('leaks.py', 'canary-of-a-careless-starter'))}
spawn(program, [...args, String(process.pid)], { env: ${JSON.stringify(env)}, stdio: ['ignore', 'inherit', 'inherit'] })\n`,
    )
    const odd = openSync(secret, 'r')
    const stdio: (number | 'ignore' | 'pipe')[] = Array.from(
      { length: 252 },
      () => 'ignore' as const,
    )
    stdio[1] = stdio[2] = 'pipe'
    stdio[251] = odd
    const starter = spawn(process.execPath, [script], {
      env: { ...env, CANARY: 'canary-of-a-careless-starter' },
      stdio,
    })
    closeSync(odd)
    let text = ''
    for (const stream of [starter.stdout!, starter.stderr!])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
    // It may stand still, because it was attacked.
    await vi.waitFor(() => expect(text).toContain('\n'), HANG_MS)
    starter.kill('SIGKILL')
    const found = JSON.parse(text) as string[]
    // Some systems let nobody but root look into other processes.
    expect(found).toEqual(
      expect.arrayContaining([
        'environment',
        'signal',
        'descriptors',
        ...(isRoot ? ['ptrace', 'memory'] : []),
      ]),
    )
    tell(`control: leaks ${found.length}/5`)
  })

  test('[7.attacks-control] calls the kernel', async () => {
    const { allowed, missing } = said(await bare(attacker('forbidden-calls.py'))) as {
      allowed: string[]
      missing: string[]
    }
    expect(missing).toEqual([])
    expect(allowed.length).toBeGreaterThan(isRoot ? 28 : 20)
    expect((await bare(attacker('forbidden-calls.py', 'foreign'))).stdout.toString()).toBe(
      'went on\n',
    )
    tell(`control: forbidden calls ${allowed.length}/37`)
  })

  test('[7.attacks-control] takes processes, memory, processor time and disk', async () => {
    expect((await bare(attacker('forks-a-thousand.py', '200'))).stdout.toString()).toBe('200\n')
    await Promise.all([
      until(attacker('takes-memory.py', '300', '1'), (pid) => resident(pid) > 256),
      until(attacker('shares-memory.py', '300'), (pid) => resident(pid) > 256),
      until(attacker('spins.py', '2'), (pid) => (getCpuTimeMs(pid) ?? 0) > 1000),
      until(
        attacker('fills-the-disk.py', 'files'),
        (_pid, workspace) => count(join(workspace, 'files')) > 3,
      ),
      until(
        attacker('fills-the-disk.py', 'inodes'),
        (_pid, workspace) => count(join(workspace, 'inodes')) > 3072,
      ),
      until(attacker('fills-the-disk.py', 'deleted'), (pid) => count(`/proc/${pid}/fd`) > 8),
    ])
    tell(
      'control: 200 forks, memory, shared memory, processor time and disk, all of them beyond the limits of the suite',
    )
  })

  test('[7.attacks-control] stays as a daemon', async () => {
    const mark = `mark-control-${process.pid}`
    const [program, ...args] = attacker('stays-as-a-daemon.py', 'free', mark)
    const tool = spawn(program, args, { env, stdio: 'ignore' })
    expect(await new Promise((resolve) => tool.once('exit', resolve))).toBe(0)
    const left = listNaming(mark)
    for (const pid of left) process.kill(pid, 'SIGKILL')
    expect(left).toHaveLength(1)
    tell(`control: daemons that outlive their tool ${left.length}/1`)
  })
})

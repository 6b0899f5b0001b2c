import { spawn } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import type { ChildEnd, ChildOptions } from '../../../src/process/child.ts'
import { toLimitError } from '../../../src/process/child.ts'
import type { ResourceLimits } from '../../../src/process/grants.ts'
import { runChild } from '../../../src/process/run.ts'
import { attacker, env, folder, inSandbox, isRoot, profileOf, tell } from './support.ts'
import { HANG_MS } from '../../support/limits.ts'

type Runner = (command: ChildOptions['command'], limits: ResourceLimits) => Promise<ChildEnd>

const levels: readonly [string, Runner][] = [
  ['L3', (command, limits) => runChild({ ...inSandbox(profileOf({ limits })), command })],
  ['L1', (command, limits) => runChild({ cwd: folder, env, timeout: HANG_MS, limits, command })],
]
const foreign = spawn(
  isRoot ? 'setpriv' : 'env',
  [
    ...(isRoot ? ['--reuid', '65534', '--regid', '65534', '--clear-groups'] : []),
    '/usr/bin/python3',
    '-I',
    '-c',
    'import os, sys, time\nfor _ in range(150):\n    if os.fork() == 0: time.sleep(600)\nprint("ready", flush=True)\ntime.sleep(600)',
  ],
  { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env },
)
afterAll(() => void process.kill(-foreign.pid!, 'SIGKILL'))

const at = (level: string): Runner => levels.find(([name]) => name === level)![1]

// Nobody looks while a machine that is busy with other tests gives us no turn.
test.each([
  ['L3', 'one process of 4 GB', 'takes-memory.py', ['4096', '1'], 256],
  ['L3', 'eight processes of 512 MB', 'takes-memory.py', ['512', '8'], 1024],
  ['L3', 'shared memory of 4 GB', 'shares-memory.py', ['4096'], 256],
  ['L1', 'eight processes of 512 MB', 'takes-memory.py', ['512', '8'], 1024],
])('[7.limit-memory] memory at %s: %s', { retry: 3 }, async (level, name, file, args, memoryMb) => {
  const end = await at(level)(attacker(file, ...args), { memoryMb })
  // Either the kernel refuses the one process that wants it all, or the tree is ended in time.
  if (end.reason === 'limit')
    expect(end.limit).toMatchObject({ what: 'memoryMb', allowed: memoryMb })
  else
    expect({ status: end.status, stdout: end.stdout.toString() }).toEqual({
      status: 3,
      stdout: 'refused\n',
    })
  const seen = end.limit?.seen ?? memoryMb
  expect(seen).toBeLessThanOrEqual(memoryMb * 1.25)
  tell(`${level} ${name}: stopped at ${Math.round(seen)} MB of ${memoryMb} (${end.reason})`)
})

test('[7.limit-memory] the input that a tool lets grow is its memory', async () => {
  const end = await runChild({
    cwd: folder,
    env,
    timeout: HANG_MS,
    limits: { memoryMb: 64 },
    input: 'little',
    command: attacker('grows-its-input.py'),
  })
  expect(end).toMatchObject({ reason: 'limit', limit: { what: 'memoryMb', allowed: 64 } })
})

test.each([
  ['L3', 'one spinner', ['1'], 2, 3.5],
  ['L3', 'four spinners', ['4'], 1, 1.5],
  ['L3', 'spinners that nobody waits for', ['1', 'careless'], 1, 1.5],
  ['L1', 'four spinners', ['4'], 1, 1.5],
])('[7.limit-processor] processor time at %s: %s', async (level, name, args, cpuSeconds, most) => {
  const end = await at(level)(attacker('spins.py', ...args), { cpuSeconds })
  expect(end).toMatchObject({ reason: 'limit', limit: { what: 'cpuSeconds', allowed: cpuSeconds } })
  expect(end.limit!.seen).toBeLessThanOrEqual(most)
  expect(toLimitError(end.limit!).message).toMatch(
    /^the tool used \d+(\.\d+)? seconds of processor time where it may use \d, and was ended$/,
  )
  tell(
    `${level} ${name}: ended after ${end.limit!.seen} s of processor time of ${cpuSeconds}, ${(end.duration / 1000).toFixed(1)} s by the clock`,
  )
})

test('[7.limit-processes] a fork bomb at L3 gets no more processes than it may, whatever else its user runs', async () => {
  await new Promise((resolve) => foreign.stdout.once('data', resolve))
  const { stdout } = await at('L3')(attacker('forks-a-thousand.py'), { processes: 64 })
  const count = Number(stdout)
  expect(count).toBeGreaterThan(50)
  expect(count).toBeLessThan(64)
  tell(`L3 fork bomb: ${count} of 64, beside 150 foreign processes`)
})

test('[7.limit-processes] a fork bomb at L1 is ended', async () => {
  const end = await at('L1')(attacker('forks-a-thousand.py'), { processes: 64 })
  expect(end).toMatchObject({ reason: 'limit', limit: { what: 'processes', allowed: 64 } })
  tell(`L1 fork bomb: ended at ${end.limit!.seen}`)
})

test.each(['files', 'inodes', 'deleted'])(
  '[7.limit-workspace] a workspace that is filled with %s',
  async (how) => {
    const end = await at('L3')(attacker('fills-the-disk.py', how), { workspaceMb: 12 })
    expect(end).toMatchObject({ reason: 'limit', limit: { what: 'workspaceMb', allowed: 12 } })
    tell(`L3 disk filled with ${how}: ended at ${Math.round(end.limit!.seen)} MB of 12`)
  },
)

test('[7.limit-workspace] the folders in memory are small', async () => {
  const { stdout } = await at('L3')(
    [
      '/bin/sh',
      '-c',
      'for folder in /tmp /dev/shm; do dd if=/dev/zero of=$folder/full bs=1M count=600 2>/dev/null || echo $folder is full; rm $folder/full; done',
    ],
    { memoryMb: 256 },
  )
  expect(stdout.toString()).toBe('/tmp is full\n/dev/shm is full\n')
})

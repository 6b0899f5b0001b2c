import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { findCgroupParent, parseOwnCgroups } from '../../src/sandbox/cgroup.ts'
import { toLimitError } from '../../src/process/child.ts'
import { runChild } from '../../src/process/run.ts'
import { detectCapabilities } from '../../src/sandbox/capabilities.ts'
import { listNaming } from '../support/processes.ts'
import { attacker, env, folder, inSandbox, profileOf, tell } from './attacks/support.ts'
import { HANG_MS } from '../support/limits.ts'

const source = (path: string): string =>
  JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
const HOOK = fileURLToPath(new URL('../setup/typescript-hook.mjs', import.meta.url))

/**
 * The groups that a process has made and nobody took away; none where no group was given into our
 * hands.
 */
async function leftBy(pid: number): Promise<string[]> {
  const groups = await findCgroupParent()
  return groups === undefined
    ? []
    : readdirSync(groups.folder).filter(
        (name) => name.startsWith('toolable-') && name.includes(`-${pid}-`),
      )
}

test.each([
  [
    'a login of systemd',
    '35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n',
    '0::/user.slice/user-1000.slice/session-2.scope\n',
    [
      '/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope',
      '/sys/fs/cgroup/user.slice/user-1000.slice',
      '/sys/fs/cgroup/user.slice',
      '/sys/fs/cgroup',
    ],
  ],
  [
    'both versions at once',
    '40 24 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 24 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n',
    '4:memory:/a\n0::/\n',
    ['/sys/fs/cgroup/unified'],
  ],
  [
    'a part of the tree',
    '35 24 0:30 /box /sys/fs/cgroup rw - cgroup2 cgroup rw\n',
    '0::/box/job\n',
    ['/sys/fs/cgroup/job', '/sys/fs/cgroup'],
  ],
  [
    'a part that is not ours',
    '35 24 0:30 /box /sys/fs/cgroup rw - cgroup2 cgroup rw\n',
    '0::/boxer/job\n',
    [],
  ],
  [
    'a namespace that we are not in',
    '35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n',
    '0::/../other\n',
    [],
  ],
  [
    'the first version alone',
    '40 24 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n',
    '4:memory:/a\n',
    [],
  ],
])(
  '[7.limit-cgroup] the groups that we are in are found: %s',
  (_name, mounts, memberships, groups) => {
    expect(parseOwnCgroups(mounts, memberships)).toEqual(groups)
  },
)

test('[7.limit-cgroup] whoever holds the memory of a tree, it is told alike, and no group is left', async () => {
  const held = (await findCgroupParent()) ? 'cgroup' : 'watchdog'
  expect((await detectCapabilities(env)).details.memory).toBe(held)
  const end = await runChild({
    ...inSandbox(profileOf({ limits: { memoryMb: 96, processes: 64 } })),
    command: attacker('takes-memory.py', '40', '4'),
  })
  expect(end).toMatchObject({ reason: 'limit', limit: { what: 'memoryMb', allowed: 96 } })
  expect(toLimitError(end.limit!)).toMatchObject({
    code: 'E_MEMORY_LIMIT',
    message: expect.stringMatching(/96 MB of memory|may use 96/) as string,
  })
  expect(await leftBy(process.pid)).toEqual([])
  tell(`memory of trees is held by a ${held}`)
})

test('[7.limit-cgroup] [7.ends-with-us] groups of a runner that was killed are gone after the next start', async () => {
  const mark = `mark-group-${process.pid}`
  const script = join(folder, 'makes-a-group.mjs')
  writeFileSync(
    script,
    `const { openChild } = await import(${source('process/run.ts')})
await openChild({ ...${JSON.stringify(inSandbox(profileOf({ limits: { memoryMb: 256 } })))}, command: ${JSON.stringify(attacker('stays-as-a-daemon.py', 'waits', mark))}, onLine: console.log })\n`,
  )
  const next = join(folder, 'finds-groups.mjs')
  writeFileSync(next, `await (await import(${source('sandbox/cgroup.ts')})).findCgroupParent()\n`)
  const start = (file: string) =>
    spawn(process.execPath, ['--import', HOOK, file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const runner = start(script)
  await new Promise((resolve) => runner.stdout.once('data', resolve))
  expect(await leftBy(runner.pid!)).toHaveLength((await findCgroupParent()) ? 1 : 0)
  runner.kill('SIGKILL')
  await vi.waitFor(() => expect(listNaming(mark)).toEqual([]), { timeout: HANG_MS, interval: 20 })
  expect(await new Promise((resolve) => start(next).once('exit', resolve))).toBe(0)
  expect(await leftBy(runner.pid!)).toEqual([])
})

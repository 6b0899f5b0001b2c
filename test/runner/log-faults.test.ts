import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { recoverRuns } from '../../src/runner/recover.ts'
import type { RunPaths } from '../../src/runner/run-paths.ts'
import { makeFolder } from '../support/run-program.ts'
import { eventsOf, isGapless, makeFreeRun, makeRoot, startRunner } from './record-support.ts'

const TURNS = 4
// The start, the turns, and the end.
const WRITES = [...Array(TURNS + 2).keys()].map((index) => index + 1)

type Said = { readonly acknowledged?: number; readonly ended?: string; readonly failed?: string }

// strace does to the calls that touch the log what it is told to.
async function runInjured(
  injury: string,
): Promise<{ paths: RunPaths; root: string; said: Said[]; signal: unknown; status: unknown }> {
  const root = makeRoot()
  const paths = makeFreeRun(root)
  // There already, because strace follows the file that it finds.
  writeFileSync(paths.events, '')
  const { lines, signal, status } = await startRunner(
    'writes-a-run.mjs',
    [root, paths.id, String(TURNS)],
    ['strace', '-f', '-qq', '-o', '/dev/null', '-P', paths.events, '-e', `inject=${injury}`],
  ).ended
  return { root, paths, said: lines as Said[], signal, status }
}

const acknowledged = (said: readonly Said[]): number =>
  Math.max(0, ...said.map((one) => one.acknowledged ?? 0))

describe('a runner that is killed at a write of its log', () => {
  test.each(WRITES)(
    'number %i loses nothing that was acknowledged, and its run is finished as interrupted, never as completed [7.log-killed] [7.run-interrupted]',
    async (when) => {
      const { root, paths, said, signal, status } = await runInjured(
        `write:signal=SIGKILL:when=${when}`,
      )
      expect(signal === 'SIGKILL' || status === 137).toBe(true)
      const before = readFileSync(paths.events, 'utf8')
      expect(said).toHaveLength(when - 1)
      expect(await recoverRuns(root)).toEqual(
        when === WRITES.length && before.includes('runner_end')
          ? []
          : [{ run_id: paths.id, killed: 0 }],
      )
      const events = eventsOf(paths.events)
      expect(isGapless(events)).toBe(true)
      expect(
        readFileSync(paths.events, 'utf8').startsWith(
          before.slice(0, before.lastIndexOf('\n') + 1),
        ),
      ).toBe(true)
      expect(events.length).toBeGreaterThan(acknowledged(said))
      expect(events.filter(({ type }) => type === 'runner_end')).toHaveLength(1)
      // The last write holds the end itself: when the kill comes after it, the run is over, and
      // everything of it is there.
      if (when < WRITES.length)
        expect(events.at(-1)).toMatchObject({
          type: 'runner_end',
          state: 'failed',
          code: 'E_INTERRUPTED',
        })
      expect(await recoverRuns(root)).toEqual([])
    },
  )
})

describe('a disk that fails', () => {
  test.each([
    ...WRITES.map((when) => `write:error=EIO:when=${when}`),
    'fdatasync:error=EIO:when=1',
  ])(
    '%s: a structured failure, no false success, and a log that is valid up to there [7.log-disk-errors]',
    async (injury) => {
      const { root, paths, said, status } = await runInjured(injury)
      expect(status).toBe(1)
      expect(said.at(-1)).toMatchObject({
        failed: 'INTERNAL',
        message: expect.stringContaining('EIO'),
      })
      const events = eventsOf(paths.events)
      expect(events).toHaveLength(acknowledged(said))
      expect(events.filter(({ type }) => type === 'runner_end')).toEqual([])
      await recoverRuns(root)
      expect(eventsOf(paths.events).at(-1)).toMatchObject({
        state: 'failed',
        seq: acknowledged(said) + 2,
      })
    },
  )

  test.each(['write:error=EINTR:when=2..4', 'write:error=EAGAIN:when=3'])(
    '%s is no failure [7.log-disk-errors]',
    async (injury) => {
      const { paths, said, status } = await runInjured(injury)
      expect([status, said.at(-1)]).toEqual([0, { ended: 'completed' }])
      expect(isGapless(eventsOf(paths.events))).toBe(true)
    },
  )

  test('that is full is DISK_FULL; what was written stays valid, the end still finds room, and it works again when there is space [7.log-disk-full]', async () => {
    const place = makeFolder()
    // A file system of its own, that goes with the process.
    const { lines, stderr } = await startRunner(
      'fills-the-disk.mjs',
      [place],
      [
        'unshare',
        '-Urm',
        '/bin/sh',
        '-c',
        `mount -t tmpfs -o size=256k none "${place}" && exec "$@"`,
        'sh',
      ],
    ).ended
    expect(stderr).toBe('')
    const [full, after, ended, again] = lines
    expect(full).toMatchObject({
      failure: 'DISK_FULL',
      told: 1,
      whole: true,
      lines: full.acknowledged,
    })
    expect(full.lines).toBeGreaterThan(100)
    expect(after).toEqual({ dropped: 'DISK_FULL', create: 'DISK_FULL', folders: 1 })
    expect(ended).toMatchObject({
      ending: 'none',
      last: ['runner_warning', 'runner_error', 'runner_end'],
      gapless: true,
    })
    expect(ended.lost).toBeGreaterThan(1)
    expect(again).toEqual({ again: 'none', lines: 1 })
  })

  test('and a file that may not grow: what fits is kept in whole lines [7.log-disk-errors]', async () => {
    const root = makeRoot()
    const { lines, status } = await startRunner(
      'writes-a-run.mjs',
      [root, 'new', '500'],
      ['/bin/sh', '-c', 'trap \'\' XFSZ; exec prlimit --fsize=20000 "$@"', 'sh'],
    ).ended
    expect(status).toBe(1)
    expect(lines.at(-1)).toMatchObject({
      failed: 'INTERNAL',
      message: expect.stringContaining('EFBIG'),
    })
    expect(acknowledged(lines as Said[])).toBeGreaterThan(10)
  })
})

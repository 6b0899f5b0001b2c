import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import '../../support/without-coverage.ts'
import { makeFolder } from '../../support/run-program.ts'
import {
  countsOf,
  newRoot,
  open,
  recordedSteps,
  recordsIn,
  segmentsOf,
  three,
} from './light-support.ts'
import { startWorkflowProgram } from './support.ts'
import { rounds } from '../../support/rounds.ts'

const STEPS = ['one', 'two/a', 'two/b', 'two/c', 'three']

/**
 * Goes on with what a killed engine left, and looks whether everything is as if nothing had
 * happened.
 */
async function goOnAndCheck(root: string, counter: string): Promise<void> {
  const recorded = recordedSteps(root)
  const before = countsOf(counter)
  const begun = recordsIn(root).flatMap((record) =>
    record.t === 'begin' ? [{ id: record.w, n: (record.i as { n: number }).n }] : [],
  )
  const { lines, status } = await startWorkflowProgram('executes.mjs', [root, counter]).ended
  expect([status, lines.at(-1)]).toEqual([0, { finished: true }])
  const counts = countsOf(counter)
  // A recorded step ran once, and is never run again; another one ran at most once in each process.
  for (const key of recorded) expect([key, counts.get(key)]).toEqual([key, 1])
  for (const { id } of begun)
    for (const step of STEPS)
      expect(counts.get(`${id}/${step}`)).toBe(
        (before.get(`${id}/${step}`) ?? 0) + (recorded.has(`${id}/${step}`) ? 0 : 1),
      )
  const engine = await open(root, { resume: false })
  const listed = await engine.list()
  expect(
    listed
      .map(({ id, state }) => ({ id, state }))
      .sort((left, right) => (left.id < right.id ? -1 : 1)),
  ).toEqual(
    begun
      .map(({ id }) => ({ id, state: 'completed' }))
      .sort((left, right) => (left.id < right.id ? -1 : 1)),
  )
  for (const { id, n } of begun) expect((await engine.get(id))?.result).toEqual(expected(n))
}

// What an undisturbed run gives.
function expected(n: number): unknown {
  const got = { tool: 'one', n }
  return { tool: 'three', all: ['a', 'b', 'c'].map((tool) => ({ tool, got })) }
}

const newCounter = (): string => join(makeFolder(), 'counter')

describe('an engine that is killed', () => {
  test('gives what an undisturbed one gives, when it is not [9.light-killed]', async () => {
    const engine = await open(newRoot())
    expect((await (await engine.start(three, { n: 7 })).done).result).toEqual(expected(7))
  })

  test.each([
    'journal.append#9',
    'journal.append#30',
    'journal.written#2',
    'journal.written#4',
    'journal.synced#2',
    'journal.synced#4',
    'step.performed#1',
    'step.performed#12',
    'execution.ended#1',
    'execution.ended#4',
  ])('at %s is followed by one that goes on where it was [9.light-killed]', async (place) => {
    const [root, counter] = [newRoot(), newCounter()]
    const { signal, lines } = await startWorkflowProgram('executes.mjs', [root, counter, '5'], {
      env: { TOOLABLE_CRASH_AT: place },
    }).ended
    expect(signal).toBe('SIGKILL')
    // What was told to have ended is on record.
    for (const { ended } of lines)
      if (ended !== undefined)
        expect(recordsIn(root)).toContainEqual(
          expect.objectContaining({ t: 'end', w: ended, s: 'completed' }),
        )
    await goOnAndCheck(root, counter)
  })

  test('at random moments, again and again, is followed by one that goes on where it was [9.light-killed]', async () => {
    for (let round = 0; round < rounds(12); round += 1) {
      const [root, counter] = [newRoot(), newCounter()]
      const program = startWorkflowProgram('executes.mjs', [
        root,
        counter,
        '8',
        JSON.stringify({ pause: 8, rounds: 50 }),
      ])
      await program.said('opened')
      await new Promise((resolve) => {
        setTimeout(resolve, Math.random() * 150)
      })
      program.kill('SIGKILL')
      const { lines } = await program.ended
      const started = lines.flatMap((line) => line.started ?? [])
      const begun = new Set(
        recordsIn(root).flatMap((record) => (record.t === 'begin' ? [record.w] : [])),
      )
      expect(started.filter((id) => !begun.has(id))).toEqual([])
      await goOnAndCheck(root, counter)
    }
  })

  test('twice, the second time while it goes on with what the first left [9.light-killed]', async () => {
    const [root, counter] = [newRoot(), newCounter()]
    const finals = new Map<string, number>()
    for (const place of ['step.performed#8', 'step.performed#3', 'journal.written#2']) {
      const { signal } = await startWorkflowProgram('executes.mjs', [root, counter, '4'], {
        env: { TOOLABLE_CRASH_AT: place },
      }).ended
      expect(signal).toBe('SIGKILL')
      const counts = countsOf(counter)
      for (const key of recordedSteps(root)) if (!finals.has(key)) finals.set(key, counts.get(key)!)
    }
    await startWorkflowProgram('executes.mjs', [root, counter]).ended
    const counts = countsOf(counter)
    expect(finals.size).toBeGreaterThan(0)
    for (const [key, count] of finals) expect([key, counts.get(key)]).toEqual([key, count])
    expect(new Set((await (await open(root)).list()).map(({ state }) => state))).toEqual(
      new Set(['completed']),
    )
  })
})

describe('two processes on one folder', () => {
  test('that go on with the same leftovers: each execution has one of them [9.light-one-owner]', async () => {
    const [root, counter] = [newRoot(), newCounter()]
    await startWorkflowProgram('executes.mjs', [root, counter, '10'], {
      env: { TOOLABLE_CRASH_AT: 'step.performed#6' },
    }).ended
    const recorded = recordedSteps(root)
    const before = countsOf(counter)
    const both = await Promise.all(
      [1, 2].map(
        () =>
          startWorkflowProgram('executes.mjs', [root, counter, '0', JSON.stringify({ pause: 20 })])
            .ended,
      ),
    )
    expect(both.map(({ status }) => status)).toEqual([0, 0])
    const counts = countsOf(counter)
    for (const [key, count] of counts)
      expect([key, count]).toEqual([key, (before.get(key) ?? 0) + (recorded.has(key) ? 0 : 1)])
    const listed = await (await open(root)).list()
    expect(listed.map(({ state }) => state)).toEqual(Array(10).fill('completed'))
  })

  test('that start the same id: it is executed once, and both are told its end [9.light-joined]', async () => {
    const [root, counter] = [newRoot(), newCounter()]
    const how = JSON.stringify({ id: 'r-00000000bb', pause: 30 })
    const both = await Promise.all(
      [1, 2, 3].map(() => startWorkflowProgram('executes.mjs', [root, counter, '1', how]).ended),
    )
    expect(both.map(({ lines }) => lines.at(-1))).toEqual(
      Array(3).fill({ ended: 'r-00000000bb', state: 'completed' }),
    )
    expect([...countsOf(counter).values()]).toEqual([1, 1, 1, 1, 1])
  })

  test('one of which waits for what the other executes takes it when that is killed [9.light-joined]', async () => {
    const [root, counter] = [newRoot(), newCounter()]
    const first = startWorkflowProgram('executes.mjs', [
      root,
      counter,
      '1',
      JSON.stringify({ id: 'r-00000000bc', hold: true }),
    ])
    await first.said('started')
    const second = startWorkflowProgram('executes.mjs', [
      root,
      counter,
      '1',
      JSON.stringify({ id: 'r-00000000bc' }),
    ])
    await second.said('started')
    first.kill('SIGKILL')
    expect((await second.ended).lines.at(-1)).toEqual({ ended: 'r-00000000bc', state: 'completed' })
  })
})

describe('a disk that is full', () => {
  test('fails what is being executed as DISK_FULL; when there is space it goes on, and no recorded step runs again [9.light-disk-full]', async () => {
    const place = makeFolder()
    const { lines, stderr } = await startWorkflowProgram('executes-on-a-full-disk.mjs', [place], {
      behind: [
        'unshare',
        '-Urm',
        '/bin/sh',
        '-c',
        `mount -t tmpfs -o size=512k none "${place}" && exec "$@"`,
        'sh',
      ],
    }).ended
    expect(stderr).toBe('')
    expect(lines[0]).toMatchObject({ failures: ['DISK_FULL'], started: 'DISK_FULL' })
    expect(lines[1]).toMatchObject({ twice: [], states: ['completed'] })
  })
})

describe('fifty at once', () => {
  test('perform each step once, and share the syncs of the disk [9.light-group-commit]', async () => {
    const [root, counter] = [newRoot(), newCounter()]
    const trace = join(makeFolder(), 'trace')
    const { status } = await startWorkflowProgram('executes.mjs', [root, counter, '50'], {
      behind: ['strace', '-f', '-qq', '-o', trace, '-e', 'trace=fdatasync'],
    }).ended
    expect(status).toBe(0)
    expect([...countsOf(counter).values()]).toEqual(Array(250).fill(1))
    const syncs = readFileSync(trace, 'utf8')
      .split('\n')
      .filter((line) => line.includes('fdatasync(')).length
    const records = recordsIn(root).length
    expect(records).toBe(1 + 50 * 7)
    expect(syncs).toBeLessThan(records / 4)
    expect(segmentsOf(root)).toHaveLength(1)
  })
})

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findRunsFolder } from '../../src/runner/run-paths.ts'
import { createRun, removeRun } from '../../src/runner/run-folder.ts'
import { findRun, listRuns, openRun } from '../../src/runner/find-run.ts'
import { isRunLive, lockRun } from '../../src/runner/lock.ts'
import { recoverRuns } from '../../src/runner/recover.ts'
import { openEventLog } from '../../src/runner/event-log.ts'
import { isAlive } from '../support/processes.ts'
import { makeFolder } from '../support/run-program.ts'
import {
  eventsOf,
  isGapless,
  makeFreeRun,
  makeRoot,
  makeRun,
  requestOf,
  startRunner,
} from './record-support.ts'

const codeOf = (work: () => unknown): string => {
  try {
    work()
    return 'none'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('the folder of runs', () => {
  test('lies beside the nearest configuration, else where one stands; a run inside a run is recorded beside it [7.run-folder]', () => {
    const project = makeFolder()
    const deep = join(project, 'a', 'b')
    mkdirSync(deep, { recursive: true })
    expect(findRunsFolder(deep)).toBe(join(deep, '.runs'))
    writeFileSync(join(project, 'toolable.yml'), '')
    expect(findRunsFolder(deep)).toBe(join(project, '.runs'))
    const inside = join(project, '.runs', 'r-0123456789', 'work', 'x')
    mkdirSync(inside, { recursive: true })
    writeFileSync(join(inside, 'toolable.json'), '{}')
    expect(findRunsFolder(inside)).toBe(join(project, '.runs'))
    expect(findRunsFolder(deep, '../toolable.json')).toBe(join(project, 'a', '.runs'))
  })

  test('holds each run in a folder of its own, for its owner only, and is nothing for git [7.run-folder]', () => {
    const root = makeRoot()
    const paths = makeRun(root)
    expect(readdirSync(paths.folder).sort()).toEqual([
      'answers',
      'artifacts',
      'control',
      'lock',
      'logs',
      'run.json',
      'work',
    ])
    expect(statSync(paths.folder).mode & 0o777).toBe(0o700)
    expect(statSync(paths.request).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(root, '.gitignore'), 'utf8')).toBe('*\n')
    expect(openRun(root, paths.id)).toMatchObject({
      paths,
      request: { run_id: paths.id, tool: 'fixtures.nothing' },
    })
    expect(codeOf(() => createRun(root, requestOf(paths.id)))).toBe('CONFLICT')
    expect(codeOf(() => createRun(root, requestOf('../../evil')))).toBe('INTERNAL')
    expect(codeOf(() => createRun('/proc/nothing', requestOf('r-0123456789')))).toBe('INTERNAL')
    const ids = Array.from({ length: 100 }, () => makeRun(root).id)
    expect(new Set(ids).size).toBe(100)
  })

  test('gives a run by id, by a beginning that is its own, and by latest [7.run-named]', () => {
    const root = makeRoot()
    for (const id of ['r-00aa000000', 'r-00ab000000', 'r-ff00000000'])
      createRun(root, requestOf(id))
    expect(findRun(root, 'r-ff').id).toBe('r-ff00000000')
    expect(findRun(root, '00aa').id).toBe('r-00aa000000')
    expect(findRun(root, 'latest').id).toBe(listRuns(root)[0]!.id)
    expect(codeOf(() => findRun(root, 'r-00'))).toBe('INVALID_INPUT')
    expect(codeOf(() => findRun(root, 'r-1'))).toBe('NOT_FOUND')
    expect(codeOf(() => findRun(makeRoot(), 'latest'))).toBe('NOT_FOUND')
    writeFileSync(join(root, 'r-ff00000000', 'run.json'), '{"v":1,"run_id":"r-00aa000000"}')
    expect(codeOf(() => openRun(root, 'r-ff'))).toBe('CONFIG')
  })

  test('and never anything outside, whatever the name says: 200 of them [7.run-named]', () => {
    const root = makeRoot()
    makeRun(root)
    mkdirSync(join(root, '..', 'evil'))
    symlinkSync('/etc', join(root, 'r-eeeeeeeeee'))
    const parts = [
      '..',
      '../..',
      '../evil',
      '/etc',
      '.',
      '',
      '%2e%2e',
      '..%2fevil',
      '\\..\\evil',
      'r-0000000000/../../evil',
      'r-0000000000\0',
      '\0',
      '~',
      '$HOME',
      'r-eeeeeeeeee',
      'r-eeeeeeeeee/passwd',
      'R-0000000000',
      'r-00000000000',
      'r-\u0660\u0661',
      '__proto__',
      'constructor',
      '.gitignore',
      'run.json',
      '--all',
      '*',
      'r-*',
      '\n',
      'file:///etc',
      'r-0000000000/',
      'r–0000000000',
    ]
    const payloads = [
      ...parts,
      ...parts.flatMap((part) => [
        `r-${part}`,
        `${part}/`,
        `/${part}`,
        `./${part}`,
        ` ${part}`,
        `${part}/run.json`,
      ]),
    ].slice(0, 200)
    expect(payloads).toHaveLength(200)
    // An empty word behind `r-` would mean every run.
    expect(
      payloads.filter(
        (payload) => !['INVALID_INPUT', 'NOT_FOUND'].includes(codeOf(() => findRun(root, payload))),
      ),
    ).toEqual([])
  })
})

describe('the lock of a run', () => {
  test('refuses a second runner, also of the same process, and is given back [7.run-lock]', () => {
    const paths = makeRun()
    expect(isRunLive(paths)).toBe(true)
    const lock = lockRun(paths)
    expect(codeOf(() => lockRun(paths))).toBe('CONFLICT')
    lock.release()
    expect(isRunLive(paths)).toBe(false)
    const again = lockRun(paths)
    lock.release()
    expect(existsSync(paths.lock)).toBe(true)
    again.release()
  })

  test('lets one of two processes write, and not a byte of the other [7.run-lock]', async () => {
    const root = makeRoot()
    const paths = makeFreeRun(root)
    const both = await Promise.all(
      [1, 2].map(() => startRunner('writes-a-run.mjs', [root, paths.id, '200', 'failed']).ended),
    )
    const lost = both.filter(({ lines }) => lines.at(-1).failed === 'CONFLICT')
    const events = eventsOf(paths.events)
    expect(isGapless(events)).toBe(true)
    // Where one was over before the other began, both wrote, one after the other.
    expect(events).toHaveLength((2 - lost.length) * 1003)
    expect(new Set(events.slice(1, 1001).map(({ msg }) => String(msg).split(' ')[0])).size).toBe(1)
    if (lost[0]) expect(lost[0].lines.at(-1).message).toMatch(/is being run by process \d+/)
  })

  test('of a process that is gone, of another start, of another boot, or that nobody wrote, holds nobody up [7.run-lock]', () => {
    const paths = makeRun()
    lockRun(paths)
    const mine = JSON.parse(readFileSync(paths.lock, 'utf8')) as Record<string, unknown>
    for (const stale of [
      { ...mine, pid: 4194303 },
      { ...mine, start: '1' },
      { ...mine, boot: 'another' },
      { pid: 1 },
      'garbage',
      '',
    ]) {
      writeFileSync(paths.lock, typeof stale === 'string' ? stale : JSON.stringify(stale))
      expect(isRunLive(paths)).toBe(false)
      lockRun(paths)
    }
    // Nobody can see whether it lives.
    writeFileSync(paths.lock, JSON.stringify({ ...mine, machine: 'elsewhere' }))
    expect(codeOf(() => lockRun(paths))).toBe('CONFLICT')
  })
})

describe('a run whose runner died', () => {
  test('is finished as interrupted, once, and one that was over only loses its lock [7.run-interrupted]', async () => {
    const root = makeRoot()
    const [died, over, queued, live] = [makeRun(root), makeRun(root), makeRun(root), makeRun(root)]
    for (const paths of [died, over, live]) {
      const { log } = await openEventLog(paths.events, { runId: paths.id, attempt: 1 })
      log.append({ type: 'runner_start', tool: 'a.b' })
      if (paths === over) log.append({ type: 'runner_end', state: 'completed', rc: 0 })
      await log.close()
    }
    for (const paths of [died, over, queued])
      writeFileSync(
        paths.lock,
        readFileSync(paths.lock, 'utf8').replace(/"start":"\d+"/, '"start":"1"'),
      )
    const recovered = await recoverRuns(root)
    expect(recovered.map(({ run_id }) => run_id).sort()).toEqual([died.id, queued.id].sort())
    expect(eventsOf(died.events).map(({ type, state, code }) => [type, state ?? code])).toEqual([
      ['runner_start', undefined],
      ['runner_error', 'E_INTERRUPTED'],
      ['runner_end', 'failed'],
    ])
    expect(eventsOf(queued.events).at(-1)).toMatchObject({
      type: 'runner_end',
      state: 'failed',
      code: 'E_INTERRUPTED',
    })
    expect(eventsOf(over.events).at(-1)).toMatchObject({ state: 'completed' })
    expect([died, over, queued, live].map(({ lock }) => existsSync(lock))).toEqual([
      false,
      false,
      false,
      true,
    ])
    expect(await recoverRuns(root)).toEqual([])
  })

  test('what it left running is killed, and a process that only has its number is not [7.run-interrupted]', async () => {
    const [root, other] = [makeRoot(), makeRoot()]
    const runner = startRunner('leaves-a-child.mjs', [root])
    await runner.said('child')
    const paths = makeRun(other)
    const owner = JSON.parse(readFileSync(paths.lock, 'utf8')) as Record<string, unknown>
    writeFileSync(
      paths.lock,
      JSON.stringify({
        ...owner,
        start: '1',
        children: [
          { pid: runner.pid, start: '1' },
          { pid: 1, start: '0' },
          { pid: -1, start: '0' },
          'x',
        ],
      }),
    )
    expect(await recoverRuns(other)).toEqual([{ run_id: paths.id, killed: 0 }])
    expect(await recoverRuns(root)).toEqual([])
    runner.kill('SIGKILL')
    const { id, child } = (await runner.ended).lines[0] as { id: string; child: number }
    expect(isAlive(child)).toBe(true)
    expect(await recoverRuns(root)).toEqual([{ run_id: id, killed: 1 }])
    await expect.poll(() => isAlive(child)).toBe(false)
  })
})

test('removing a run takes everything in it, follows no link, and leaves one that is going on [7.runs-clean]', async () => {
  const root = makeRoot()
  const paths = makeRun(root)
  const outside = makeFolder()
  writeFileSync(join(outside, 'kept'), '')
  symlinkSync(outside, join(paths.workspace, 'link'))
  mkdirSync(join(paths.workspace, 'closed', 'inside'), { recursive: true, mode: 0o100 })
  const lock = lockRun(paths)
  await expect(removeRun(paths)).rejects.toMatchObject({ code: 'CONFLICT' })
  lock.release()
  await removeRun(paths)
  expect(readdirSync(root)).toEqual(['.gitignore'])
  expect(existsSync(join(outside, 'kept'))).toBe(true)
})

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { adoptOrphan } from '../../../src/workflow/embedded/adopt.ts'
import { findInlineExecution, findOrphans } from '../../../src/workflow/embedded/find-executions.ts'
import {
  getInlinePaths,
  getSegmentPaths,
  LEASE_MS,
  lockSegment,
} from '../../../src/workflow/embedded/segment-files.ts'
import type { EmbeddedEngine } from '../../../src/workflow/embedded/embedded-engine.ts'
import type { OperationOutcome } from '../../../src/workflow/engine.ts'
import { makeFolder } from '../../support/run-program.ts'
import { chain, newRoot, open, recordsIn, segmentsOf, three } from './light-support.ts'

const indexOf = (root: string): string => join(root, 'workflows', 'index.jsonl')
const ok = (value: unknown): OperationOutcome => ({ ok: true, value })

/** Starts something that does not end, and closes the engine on it. */
async function leaveBehind(root: string, id = 'r-00000000aa'): Promise<void> {
  let reached: () => void = () => undefined
  const there = new Promise<void>((resolve) => {
    reached = resolve
  })
  const engine = await open(root, {
    perform: ({ tool }) => {
      if (tool !== 'second') return Promise.resolve(ok(tool))
      reached()
      return new Promise(() => undefined)
    },
  })
  const { done } = await engine.start(chain('first', 'second', 'third'), {}, { id })
  await there
  const refused = expect(done).rejects.toMatchObject({ code: 'INTERRUPTED' })
  await engine.close()
  await refused
}

describe('the embedded engine', () => {
  test('executes a workflow, and shows it while it goes on and when it is over [9.light-executed]', async () => {
    const root = newRoot()
    let release: (settled: OperationOutcome) => void = () => undefined
    let reached: () => void = () => undefined
    const there = new Promise<void>((resolve) => {
      reached = resolve
    })
    const engine = await open(root, {
      perform: ({ tool }) =>
        tool === 'second'
          ? new Promise((resolve) => {
              release = resolve
              reached()
            })
          : Promise.resolve(ok(tool)),
    })
    const { id, done } = await engine.start(chain('first', 'second', 'third'), { any: 'thing' })
    expect(id).toMatch(/^r-[0-9a-f]{10}$/)
    expect(await engine.get(id)).toMatchObject({ id, name: 'chain', state: 'running' })
    expect(await engine.list()).toMatchObject([{ id, state: 'running' }])
    await there
    release(ok(2))
    expect(await done).toMatchObject({
      id,
      name: 'chain',
      state: 'completed',
      result: 'third',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      created: expect.any(String),
      ended: expect.any(String),
    })
    expect(await engine.get(id)).toEqual(await done)
    const { result, ...short } = (await done) as { result: unknown }
    expect([result, await engine.list()]).toEqual(['third', [short]])
    expect(recordsIn(root).map(({ t }) => t)).toEqual([
      'define',
      'begin',
      'done',
      'done',
      'done',
      'end',
    ])
    expect(await engine.get('r-ffffffffff')).toBeUndefined()
  })

  test('tells an end only when it is on record, failures and cancellations too [9.light-executed]', async () => {
    const root = newRoot()
    const engine = await open(root, {
      perform: ({ tool }) =>
        Promise.resolve(
          tool === 'bad'
            ? { ok: false, error: { code: 'INVALID_INPUT', message: 'no', retryable: false } }
            : ok(tool),
        ),
    })
    const failed = await (await engine.start(chain('good', 'bad', 'never'), {})).done
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'INVALID_INPUT' } })
    expect(recordsIn(root).at(-1)).toMatchObject({
      t: 'end',
      s: 'failed',
      e: { code: 'INVALID_INPUT' },
    })
    expect(await engine.list({ state: 'failed' })).toHaveLength(1)
    expect(await engine.list({ state: 'completed' })).toHaveLength(0)
    await expect(engine.start(chain('good'), { loop: 1n })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('executes what was given, whatever becomes of the objects later [9.light-executed]', async () => {
    const root = newRoot()
    const engine = await open(root)
    const definition = structuredClone(three) as { steps: unknown[] } & typeof three
    const input = { n: 1 }
    const { id, done } = await engine.start(definition, input)
    definition.steps.length = 0
    input.n = 2
    expect(await done).toMatchObject({ state: 'completed', result: { tool: 'three' } })
    const { records } = (await findInlineExecution(getInlinePaths(root), id))!
    expect(records.begin.i).toEqual({ n: 1 })
    expect(records.definition).toEqual(three)
  })

  test('joins an id that it has, also one that is over or belongs to another engine [9.light-joined]', async () => {
    const root = newRoot()
    let performed = 0
    const perform = async () => {
      performed += 1
      await new Promise((resolve) => {
        setTimeout(resolve, 50)
      })
      return ok(performed)
    }
    const [one, other] = [await open(root, { perform }), await open(root, { perform })]
    const id = 'r-00000000ab'
    const handles = await Promise.all(
      [one, one, other].map((engine) => engine.start(chain('first'), {}, { id })),
    )
    const ends = await Promise.all(handles.map(({ done }) => done))
    expect(ends.map(({ state, result }) => [state, result])).toEqual([
      ['completed', 1],
      ['completed', 1],
      ['completed', 1],
    ])
    expect(await (await other.start(chain('other'), {}, { id })).done).toMatchObject({
      name: 'chain',
      result: 1,
    })
    expect(performed).toBe(1)
    for (const bad of ['../x', 'r-1', ''])
      await expect(one.start(chain('first'), {}, { id: bad })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    mkdirSync(join(root, 'r-00000000ac'))
    await expect(one.start(chain('first'), {}, { id: 'r-00000000ac' })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
  })

  test('keeps everything for its owner only [9.light-executed]', async () => {
    const root = newRoot()
    const engine = await open(root)
    await (
      await engine.start(chain('first'), {})
    ).done
    await engine.close()
    const modes = [join(root, 'workflows'), ...segmentsOf(root), indexOf(root)].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    )
    expect(modes).toEqual(['700', '600', '600'])
    expect(readFileSync(join(root, '.gitignore'), 'utf8')).toBe('*\n')
  })

  test('asks, and goes on with the answer, of whoever it was opened with or of answer(); the first wins [9.light-answered]', async () => {
    const root = newRoot()
    const definition = {
      name: 'asks',
      steps: [{ type: 'ai_decision', name: 'which', decision_type: 'choose' }],
    } as const
    const engine = await open(root)
    const { id, done } = await engine.start(definition, {})
    await expect.poll(async () => (await engine.get(id))?.state).toBe('waiting_ai')
    const [question] = (await engine.get(id))!.questions!
    await expect(engine.answer(id, 'nonsense', 1)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await engine.answer(id, question!.id, 'left', 'somebody')
    await expect(engine.answer(id, question!.id, 'right')).rejects.toMatchObject({
      code: expect.stringMatching(/^(NOT_FOUND|CONFLICT)$/),
    })
    expect(await done).toMatchObject({ state: 'completed', result: 'left' })
    const prompt = await open(root, { answer: ({ prompt: text }) => `${text}!` })
    expect(await (await prompt.start(definition, {})).done).toMatchObject({ result: 'choose!' })
  })
})

describe('a cancellation', () => {
  test.each(['first', 'second', 'third'])(
    'while %s is performed ends the workflow, and is on record [9.light-cancelled]',
    async (where) => {
      const root = newRoot()
      let reached: () => void = () => undefined
      const there = new Promise<void>((resolve) => {
        reached = resolve
      })
      const engine = await open(root, {
        perform: ({ tool }, signal) => {
          if (tool !== where) return Promise.resolve(ok(tool))
          reached()
          return new Promise((resolve) => {
            signal.addEventListener('abort', () =>
              resolve({
                ok: false,
                error: { code: 'CANCELLED', message: 'ended', retryable: false },
              }),
            )
          })
        },
      })
      const { id, done } = await engine.start(chain('first', 'second', 'third'), {})
      await there
      await engine.cancel(id, 'enough')
      expect(await done).toMatchObject({
        state: 'cancelled',
        error: { code: 'CANCELLED', message: 'enough' },
      })
      expect(recordsIn(root).filter(({ t }) => t === 'cancel')).toEqual([
        { t: 'cancel', w: id, reason: 'enough' },
      ])
      await expect(engine.cancel(id)).rejects.toMatchObject({ code: 'CONFLICT' })
      await expect(engine.cancel('r-ffffffffff')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    },
  )

  test('of what nobody goes on with takes it, and ends it [9.light-cancelled]', async () => {
    const root = newRoot()
    await leaveBehind(root)
    const engine = await open(root, {
      resume: false,
      perform: ({ tool }, signal) =>
        signal.aborted
          ? Promise.resolve(ok(1))
          : new Promise((resolve) => {
              signal.addEventListener('abort', () =>
                resolve({
                  ok: false,
                  error: { code: 'CANCELLED', message: tool, retryable: false },
                }),
              )
            }),
    })
    expect(await engine.get('r-00000000aa')).toMatchObject({
      state: 'failed',
      error: { code: 'INTERRUPTED', hint: expect.stringContaining('r-00000000aa') },
    })
    await engine.cancel('r-00000000aa', 'never mind')
    await expect.poll(async () => (await engine.get('r-00000000aa'))?.state).toBe('cancelled')
  })
})

describe('what was left behind', () => {
  test('is taken by the next engine, which performs only what is not on record [9.light-resumed]', async () => {
    const root = newRoot()
    await leaveBehind(root)
    const performed: string[] = []
    const engine = await open(root, {
      perform: ({ step }) => {
        performed.push(step)
        return Promise.resolve(ok(step))
      },
    })
    await expect
      .poll(async () => engine.get('r-00000000aa'))
      .toMatchObject({ state: 'completed', result: 'third' })
    expect(performed).toEqual(['second', 'third'])
    expect(await findOrphans(root)).toEqual([])
  })

  test('belongs to exactly one of those who want it; the others are told who has it [9.light-one-owner]', async () => {
    const root = newRoot()
    await leaveBehind(root)
    const perform = (): Promise<OperationOutcome> => new Promise(() => undefined)
    const engines = await Promise.all([1, 2, 3].map(() => open(root, { perform, resume: false })))
    const results = await Promise.allSettled(engines.map((engine) => engine.resume('r-00000000aa')))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({
          code: 'CONFLICT',
          message: expect.stringMatching(new RegExp(`process ${process.pid} on .`)),
          details: { pid: process.pid },
        })
    await expect(adoptOrphan(root, 'r-00000000aa')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`r-00000000aa is held by process ${process.pid}`),
    })
  })

  test('can be made a run of its own, once [9.light-adopted]', async () => {
    const root = newRoot()
    await leaveBehind(root)
    expect(await findOrphans(root)).toMatchObject([{ w: 'r-00000000aa', n: 'chain' }])
    const adopted = await adoptOrphan(root, 'r-00000000aa')
    expect(adopted).toMatchObject({
      begin: { w: 'r-00000000aa', i: {} },
      definition: chain('first', 'second', 'third'),
      records: [{ t: 'done', k: 'first', v: 'first' }],
    })
    await expect(adoptOrphan(root, 'r-00000000aa')).rejects.toMatchObject({ code: 'CONFLICT' })
    await adopted.release()
    const again = await adoptOrphan(root, 'r-00000000aa')
    await again.moved()
    await expect(adoptOrphan(root, 'r-00000000aa')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('run of its own'),
    })
    const engine = await open(root)
    expect([
      await findOrphans(root),
      await engine.list(),
      await engine.get('r-00000000aa'),
    ]).toEqual([[], [], undefined])
  })

  test('in a file of a newer version, or with garbage in it, is refused with its place, and can still be listed [9.light-damaged]', async () => {
    const root = newRoot()
    await leaveBehind(root)
    const [file] = segmentsOf(root) as [string]
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, whole.replace('\n{"t":"begin"', '\nrubbish\n{"t":"begin"'))
    rmSync(indexOf(root))
    await expect(open(root)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(`line 3 of ${file}`),
    })
    const looking = await open(root, { resume: false })
    expect(await looking.list()).toMatchObject([{ id: 'r-00000000aa', state: 'failed' }])
    expect(await (await looking.start(chain('first'), {})).done).toMatchObject({
      state: 'completed',
    })
    writeFileSync(file, whole.replace('"v":1', '"v":9'))
    await expect(open(root)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('newer version'),
    })
    writeFileSync(file, whole)
    const engine = await open(root)
    await expect.poll(async () => (await engine.get('r-00000000aa'))?.state).toBe('completed')
  })

  test('with its last record cut at any byte goes on [9.light-torn]', async () => {
    const root = newRoot()
    await leaveBehind(root)
    const [file] = segmentsOf(root) as [string]
    const whole = readFileSync(file)
    const begin = whole.lastIndexOf(0x0a, whole.length - 2) + 1
    for (let length = begin; length <= whole.length; length += 7) {
      writeFileSync(file, whole.subarray(0, length))
      rmSync(indexOf(root), { force: true })
      const performed: string[] = []
      const engine = await open(root, {
        perform: ({ step }) => {
          performed.push(step)
          return Promise.resolve(ok(step))
        },
      })
      await expect.poll(async () => (await engine.get('r-00000000aa'))?.state).toBe('completed')
      expect(performed).toEqual(
        length < whole.length ? ['first', 'second', 'third'] : ['second', 'third'],
      )
      await engine.close()
    }
  })
})

describe('the lock of a segment', () => {
  test('is looked at again after a sleep of the machine, in which the lease ran out and somebody on another one took it [9.light-one-owner]', () => {
    const paths = getSegmentPaths(getInlinePaths(makeFolder()), 'j-1-00000000')
    mkdirSync(dirname(paths.lock))
    const lock = lockSegment(paths)
    onTestFinished(lock.release)
    lock.check()
    const other = '{"pid":1,"start":"1","machine":"elsewhere","boot":"x"}\n'
    writeFileSync(paths.lock, other)
    // What counts only while the machine is awake stands still meanwhile.
    const woken = Date.now() + LEASE_MS + 1
    const clock = vi.spyOn(Date, 'now').mockReturnValue(woken)
    onTestFinished(() => clock.mockRestore())
    expect(() => lock.check()).toThrow(expect.objectContaining({ code: 'CONFLICT' }))
    expect(readFileSync(paths.lock, 'utf8')).toBe(other)
  })
})

describe('the index', () => {
  async function fill(root: string, count: number): Promise<EmbeddedEngine> {
    const engine = await open(root)
    await Promise.all(
      Array.from(
        { length: count },
        async (_, n) => (await engine.start(chain('first'), { n })).done,
      ),
    )
    return engine
  }
  const ids = async (engine: EmbeddedEngine): Promise<string[]> =>
    (await engine.list()).map(({ id, state }) => `${id} ${state}`).sort()

  test('that is deleted, torn, behind, or ahead of what is there is made anew [9.light-index]', async () => {
    const root = newRoot()
    await (await fill(root, 10)).close()
    const engine = await fill(root, 10)
    const whole = await ids(engine)
    expect(whole).toHaveLength(20)
    await engine.close()
    const index = readFileSync(indexOf(root), 'utf8')
    const lines = index.split('\n')
    const damages: { readonly [what: string]: () => void } = {
      deleted: () => rmSync(indexOf(root)),
      torn: () => writeFileSync(indexOf(root), index.slice(0, -20)),
      garbage: () => writeFileSync(indexOf(root), index.replace('\n', '\nrubbish\n')),
      empty: () => writeFileSync(indexOf(root), ''),
      'with a gap': () =>
        writeFileSync(
          indexOf(root),
          lines.slice(lines.findIndex((line) => line.startsWith('{"j"')) + 1).join('\n'),
        ),
      behind: () =>
        writeFileSync(
          indexOf(root),
          ''.concat(
            ...lines
              .slice(0, 3)
              .filter((line) => line.includes('"w"'))
              .map((line) => `${line}\n`),
          ),
        ),
      ahead: () =>
        appendFileSync(
          indexOf(root),
          `{"j":"${segmentsOf(root)[0]!.split('/').at(-1)!.replace('.jsonl', '')}","from":0,"to":99999999}\n`,
        ),
    }
    for (const [what, damage] of Object.entries(damages)) {
      damage()
      const again = await open(root)
      expect([what, await ids(again)]).toEqual([what, whole])
      await again.close()
      expect([
        what,
        readFileSync(indexOf(root), 'utf8')
          .split('\n')
          .filter((line) => line.includes('"w"')).length >= 20,
      ]).toEqual([what, true])
    }
  })

  test('shows the newest first, by name and state, and so many [9.light-index]', async () => {
    const root = newRoot()
    let time = Date.parse('2026-01-01T00:00:00Z')
    const engine = await open(root, { now: () => (time += 1000) })
    for (const name of ['a', 'b', 'a'])
      await (
        await engine.start({ ...chain('first'), name }, {})
      ).done
    const listed = await engine.list()
    expect(listed.map(({ name }) => name)).toEqual(['a', 'b', 'a'])
    expect(listed.map(({ created }) => created)).toEqual(
      [...listed.map(({ created }) => created)].sort().reverse(),
    )
    expect(await engine.list({ name: 'a' })).toHaveLength(2)
    expect(await engine.list({ limit: 1 })).toEqual([listed[0]])
  })

  test('lets processes that come one after the other share one file [9.light-index]', async () => {
    const root = newRoot()
    for (let round = 0; round < 4; round += 1) {
      const engine = await fill(root, 2)
      await engine.close()
    }
    expect(segmentsOf(root)).toHaveLength(1)
    expect(existsSync(segmentsOf(root)[0]!.replace('.jsonl', '.lock'))).toBe(false)
    expect(await ids(await open(root))).toHaveLength(8)
  })
})

describe('an engine that is closed', () => {
  test('starts nothing any more [9.light-executed]', async () => {
    const engine = await open(newRoot())
    await engine.close()
    await engine.close()
    await expect(engine.start(chain('first'), {})).rejects.toBeInstanceOf(ToolError)
  })
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { createDurableExecution } from '../../../src/workflow/embedded/durable-context.ts'
import type { DurableExecutionOptions } from '../../../src/workflow/embedded/durable-context.ts'
import { openJournal } from '../../../src/workflow/embedded/journal.ts'
import type { JournalRecord } from '../../../src/workflow/embedded/journal-records.ts'
import { ExecutionCancelledError } from '../../../src/workflow/engine.ts'
import type {
  PendingOperation,
  DurableContext,
  DurableOperation,
  OperationOutcome,
} from '../../../src/workflow/engine.ts'
import { makeFolder } from '../../support/run-program.ts'

const ID = 'r-0123456789'
const tool = (key: string): DurableOperation => ({
  kind: 'tool',
  key,
  call: { step: key, attempt: 1, tool: key, given: { input: {} } },
})
const sleep = (key: string, seconds: number): DurableOperation => ({
  kind: 'sleep',
  key,
  until: { seconds },
})
const question = (key: string): DurableOperation => ({
  kind: 'answer',
  key,
  question: { id: key, kind: 'input', prompt: 'Well?', action: 'input' },
})
const cancelled = { code: 'CANCELLED', message: 'enough', retryable: false }

type Opened = Awaited<ReturnType<typeof open>>

/** A tool that is ended by the test. */
function hands(): {
  perform: DurableExecutionOptions['perform']
  calls: string[]
  end(key: string, settled?: OperationOutcome): void
  begun(key: string): Promise<void>
} {
  const calls: string[] = []
  const ends = new Map<string, (settled: OperationOutcome) => void>()
  const heard = new Map<string, () => void>()
  return {
    calls,
    perform: ({ step, idempotencyKey }, signal) => {
      calls.push(idempotencyKey)
      return new Promise((resolve) => {
        ends.set(step, resolve)
        signal.addEventListener('abort', () =>
          resolve({
            ok: false,
            error: { code: 'CANCELLED', message: 'I was told to end', retryable: false },
          }),
        )
        heard.get(step)?.()
      })
    },
    end: (key, settled = { ok: true, value: key }) => ends.get(key)!(settled),
    begun: (key) =>
      ends.has(key)
        ? Promise.resolve()
        : new Promise((resolve) => {
            heard.set(key, resolve)
          }),
  }
}

async function open(file: string, options: Partial<DurableExecutionOptions> = {}) {
  const journal = await openJournal(file)
  const durable = createDurableExecution({
    id: ID,
    records: journal.records,
    journal,
    perform: ({ tool: name }) => Promise.resolve({ ok: true, value: `${name}!` }),
    ask: () => new Promise(() => undefined),
    now: Date.now,
    ...options,
  })
  return { journal, durable, context: durable.context }
}

const newFile = (): string => join(makeFolder(), 'journal.jsonl')
const recordsOf = (file: string): JournalRecord[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as JournalRecord)

// What an interpreter does with a parallel step: a window over a list, and what ended in which
// order.
async function window(
  context: DurableContext,
  keys: readonly string[],
  width: number,
): Promise<string[]> {
  const order: string[] = []
  const open: PendingOperation[] = []
  const left = [...keys]
  const fill = (): void => {
    while (open.length < width && left.length > 0) open.push(context.begin(tool(left.shift()!)))
  }
  for (fill(); open.length > 0; fill()) {
    try {
      const { begun, settled } = await context.first(open)
      open.splice(open.indexOf(begun), 1)
      order.push(
        `${begun.operation.key}=${settled.ok ? String(settled.value) : settled.error.code}`,
      )
    } catch (error) {
      if (!(error instanceof ExecutionCancelledError)) throw error
      order.push(`cancelled ${error.reason}`)
      left.length = 0
      for (const one of open) one.abort(cancelled)
    }
  }
  return order
}

describe('what an execution does', () => {
  test('is recorded once, and never done again [9.durable-once]', async () => {
    const file = newFile()
    const first = await open(file)
    expect(await window(first.context, ['a', 'b', 'c'], 1)).toEqual(['a=a!', 'b=b!', 'c=c!'])
    await first.journal.close()
    const again = await open(file, {
      perform: () => {
        throw new Error('again')
      },
    })
    expect(await window(again.context, ['a', 'b', 'c'], 1)).toEqual(['a=a!', 'b=b!', 'c=c!'])
    await again.journal.close()
    expect(recordsOf(file)).toHaveLength(3)
  })

  test('is launched only when everything that was recorded is on the disk [9.durable-before-launch]', async () => {
    const file = newFile()
    const seen: string[] = []
    const { context, journal } = await open(file, {
      perform: ({ step }) => {
        seen.push(
          `${step} after ${recordsOf(file)
            .map((record) => (record as { k: string }).k)
            .join()}`,
        )
        return Promise.resolve({ ok: true, value: null })
      },
    })
    await window(context, ['a', 'b', 'c'], 1)
    expect(seen).toEqual(['a after ', 'b after a', 'c after a,b'])
    await journal.close()
  })

  test('begins nothing before it is asked for, and tells the idempotency key [9.durable-before-launch]', async () => {
    const work = hands()
    const { context, journal } = await open(newFile(), { perform: work.perform })
    const a = context.begin(tool('a'))
    const b = context.begin(tool('b'))
    await journal.synced()
    expect(work.calls).toEqual([])
    const first = context.first([b])
    await work.begun('b')
    expect(work.calls).toEqual([`${ID}/b`])
    work.end('b')
    expect((await first).begun).toBe(b)
    a.abort(cancelled)
    expect(await context.first([a])).toMatchObject({ settled: { ok: false, error: cancelled } })
    expect(work.calls).toHaveLength(1)
    context.begin(sleep('unneeded', 10)).abort(cancelled)
    await journal.close()
  })

  test('is given as JSON has it, the first time as after a restart; what is no JSON is an error of the step [9.durable-json]', async () => {
    const file = newFile()
    const loop: { self?: unknown } = {}
    loop.self = loop
    const values: { [key: string]: unknown } = {
      date: new Date(0),
      nothing: undefined,
      nan: Number.NaN,
      zero: -0,
      object: { a: undefined, b: [undefined] },
      loop,
      big: 1n,
      text: '\u2028"',
      long: 'x'.repeat(17 * 1024 * 1024),
    }
    const keys = Object.keys(values)
    const read = async ({ context, journal }: Opened): Promise<OperationOutcome[]> => {
      const found: OperationOutcome[] = []
      for (const key of keys) found.push((await context.first([context.begin(tool(key))])).settled)
      await journal.close()
      return found
    }
    const once = await read(
      await open(file, {
        perform: ({ step }) => Promise.resolve({ ok: true, value: values[step] }),
      }),
    )
    expect(once.map((settled) => (settled.ok ? settled.value : settled.error.code))).toEqual([
      '1970-01-01T00:00:00.000Z',
      null,
      null,
      0,
      { b: [null] },
      'INTERNAL',
      'INTERNAL',
      '\u2028"',
      'OUTPUT_LIMIT',
    ])
    expect(await read(await open(file))).toEqual(once)
  })

  test('that throws where it should not is an error of the step [9.durable-json]', async () => {
    const { context, journal } = await open(newFile(), {
      perform: () => {
        throw new ToolError('DEPENDENCY', 'gone', { suggestion: 'Wait' })
      },
    })
    expect((await context.first([context.begin(tool('a'))])).settled).toEqual({
      ok: false,
      error: { code: 'DEPENDENCY', message: 'gone', retryable: true, hint: 'Wait' },
    })
    await journal.close()
  })
})

describe('the order in which things end', () => {
  test.each([
    ['b', 'a', 'd', 'c'],
    ['c', 'b', 'a', 'd'],
    ['a', 'b', 'c', 'd'],
  ])(
    'is the same after a restart at every record: %s %s %s %s [9.durable-order]',
    async (...ends) => {
      const file = newFile()
      const work = hands()
      const { context, journal } = await open(file, { perform: work.perform })
      const whole = window(context, ['a', 'b', 'c', 'd'], 3)
      for (const key of ends) {
        await work.begun(key)
        work.end(key)
      }
      const order = await whole
      await journal.close()
      const text = readFileSync(file, 'utf8')
      expect(order).toEqual(ends.map((key) => `${key}=${key}`))
      for (let kept = 0; kept <= 4; kept += 1) {
        const part = newFile()
        writeFileSync(
          part,
          text
            .split('\n')
            .slice(0, kept + 1)
            .map((line) => `${line}\n`)
            .join(''),
        )
        const performed: string[] = []
        const resumed = await open(part, {
          perform: ({ step }) => {
            performed.push(step)
            return Promise.resolve({ ok: true, value: step })
          },
        })
        expect((await window(resumed.context, ['a', 'b', 'c', 'd'], 3)).slice(0, kept)).toEqual(
          order.slice(0, kept),
        )
        expect(performed.sort()).toEqual(ends.slice(kept).sort())
        await resumed.journal.close()
      }
    },
  )

  test('holds for what ended while nobody asked [9.durable-order]', async () => {
    const file = newFile()
    const work = hands()
    const { context, journal } = await open(file, { perform: work.perform })
    const [a, b, c] = ['a', 'b', 'c'].map((key) => context.begin(tool(key))) as [
      PendingOperation,
      PendingOperation,
      PendingOperation,
    ]
    const first = context.first([a, b, c])
    await Promise.all(['a', 'b', 'c'].map((key) => work.begun(key)))
    for (const key of ['c', 'a', 'b']) work.end(key)
    expect((await first).begun).toBe(c)
    expect((await context.first([b, a])).begun).toBe(a)
    await journal.close()
    const again = await open(file)
    const [x, y, z] = ['a', 'b', 'c'].map((key) => again.context.begin(tool(key))) as [
      PendingOperation,
      PendingOperation,
      PendingOperation,
    ]
    expect((await again.context.first([x, y, z])).begun).toBe(z)
    expect((await again.context.first([y, x])).begun).toBe(x)
    await again.journal.close()
  })
})

describe('a cancellation', () => {
  test.each([0, 1, 2, 3])(
    'after %i ends is told once, and at the same place after a restart at every record [9.durable-cancel]',
    async (after) => {
      const file = newFile()
      const work = hands()
      const { context, journal, durable } = await open(file, { perform: work.perform })
      const whole = window(context, ['a', 'b', 'c', 'd'], 2)
      for (const key of ['a', 'b', 'c'].slice(0, after)) {
        await work.begun(key)
        work.end(key)
      }
      await work.begun(['a', 'b', 'c', 'd'][after]!)
      await expect.poll(() => recordsOf(file)).toHaveLength(after)
      durable.cancel('stop it')
      durable.cancel('twice')
      const order = await whole
      expect(order.filter((line) => line.startsWith('cancelled'))).toEqual(['cancelled stop it'])
      expect(order.indexOf('cancelled stop it')).toBe(after)
      expect(order.slice(after + 1).every((line) => line.endsWith('=CANCELLED'))).toBe(true)
      await journal.close()
      const again = await open(file, {
        perform: () => {
          throw new Error('again')
        },
      })
      expect(await window(again.context, ['a', 'b', 'c', 'd'], 2)).toEqual(order)
      await again.journal.close()
      expect(recordsOf(file).filter(({ t }) => t === 'cancel')).toHaveLength(1)
    },
  )

  test('that comes while nobody waits is told by the next first, after what ended before it [9.durable-cancel]', async () => {
    const file = newFile()
    const work = hands()
    const { context, journal, durable } = await open(file, { perform: work.perform })
    const [a, b] = ['a', 'b'].map((key) => context.begin(tool(key))) as [
      PendingOperation,
      PendingOperation,
    ]
    const first = context.first([a, b])
    await Promise.all(['a', 'b'].map((key) => work.begun(key)))
    work.end('a')
    work.end('b')
    await first
    durable.cancel('now')
    const next = async (one: DurableContext, begun: readonly PendingOperation[]): Promise<string> =>
      one.first(begun).then(
        ({ begun: { operation } }) => operation.key,
        (error: Error) => error.name,
      )
    const c = context.begin(tool('c'))
    expect([await next(context, [b, c]), await next(context, [c])]).toEqual(['b', 'Cancellation'])
    expect(work.calls).toHaveLength(2)
    await journal.close()
    const again = await open(file)
    const [x, y, z] = ['a', 'b', 'c'].map((key) => again.context.begin(tool(key))) as [
      PendingOperation,
      PendingOperation,
      PendingOperation,
    ]
    expect([
      await next(again.context, [x, y]),
      await next(again.context, [y, z]),
      await next(again.context, [z]),
      await next(again.context, [z]),
    ]).toEqual(['a', 'b', 'Cancellation', 'c'])
    await again.journal.close()
  })

  test('of one operation is its own error where it ended because of it, and what it had otherwise [9.durable-abort]', async () => {
    const work = hands()
    const { context, journal } = await open(newFile(), { perform: work.perform })
    const timeout = { code: 'TIMEOUT', message: 'too long', retryable: false }
    const a = context.begin(tool('a'))
    const first = context.first([a])
    await work.begun('a')
    a.abort(timeout)
    expect((await first).settled).toEqual({ ok: false, error: timeout })
    const b = context.begin(tool('b'))
    const second = context.first([b])
    await work.begun('b')
    work.end('b', { ok: true, value: 'just in time' })
    b.abort(timeout)
    expect((await second).settled).toEqual({ ok: true, value: 'just in time' })
    const c = context.begin(sleep('c', 3600))
    const third = context.first([c])
    await journal.synced()
    c.abort(cancelled)
    expect((await third).settled).toEqual({ ok: false, error: cancelled })
    await journal.close()
  })
})

describe('a pause', () => {
  test('goes on where it was after a restart, and is not begun anew [9.durable-sleep]', async () => {
    const file = newFile()
    let now = Date.parse('2026-01-01T00:00:00Z')
    const first = await open(file, { now: () => now })
    const waiting = first.context.first([first.context.begin(sleep('nap', 3600))])
    waiting.catch(() => undefined)
    await first.journal.synced()
    first.durable.stop(new ToolError('INTERRUPTED', 'killed'))
    await expect(waiting).rejects.toMatchObject({ code: 'INTERRUPTED' })
    await first.journal.close()
    expect(recordsOf(file)).toEqual([
      { t: 'sleep', w: ID, k: 'nap', until: '2026-01-01T01:00:00.000Z' },
    ])
    now += 3_600_000
    const again = await open(file, { now: () => now })
    expect((await again.context.first([again.context.begin(sleep('nap', 3600))])).settled).toEqual({
      ok: true,
      value: null,
    })
    await again.journal.close()
    expect(recordsOf(file).map(({ t }) => t)).toEqual(['sleep', 'done'])
  })

  test('is not longer than it was to be where the clock is set back [9.durable-sleep]', async () => {
    const file = newFile()
    const day = 24 * 3_600_000
    const first = await open(file)
    const waiting = first.context.first([first.context.begin(sleep('nap', 0.2))])
    waiting.catch(() => undefined)
    await first.journal.synced()
    first.durable.stop(new ToolError('INTERRUPTED', 'killed'))
    await first.journal.close()
    let now = Date.now() - day
    const again = await open(file, { now: () => now })
    const over = again.context.first([
      again.context.begin(sleep('nap', 0.2)),
      again.context.begin(sleep('other', 0.3)),
    ])
    now -= day
    expect((await over).begun.operation.key).toBe('nap')
    await again.journal.close()
  })

  test('until a moment that is past is over at once, and one that is no moment is an error [9.durable-sleep]', async () => {
    const { context, journal } = await open(newFile())
    expect(
      (
        await context.first([
          context.begin({ kind: 'sleep', key: 'past', until: { time: '2001-01-01T00:00:00Z' } }),
        ])
      ).settled,
    ).toMatchObject({ ok: true })
    expect(
      (
        await context.first([
          context.begin({ kind: 'sleep', key: 'none', until: { time: 'soon' } }),
        ])
      ).settled,
    ).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } })
    await journal.close()
  })
})

describe('a question', () => {
  test('is on record before it is asked, and asked again after a restart until it is answered [9.durable-answer]', async () => {
    const file = newFile()
    const asked: string[] = []
    const first = await open(file, {
      ask: ({ id }) => {
        asked.push(`${id} ${recordsOf(file).length}`)
        return new Promise(() => undefined)
      },
    })
    const waiting = first.context.first([first.context.begin(question('which'))])
    waiting.catch(() => undefined)
    await expect.poll(() => asked).toHaveLength(1)
    expect([asked, readFileSync(file, 'utf8')]).toEqual([
      ['which 1'],
      expect.stringMatching(/^[^\n]*\n[^\n]*\n$/),
    ])
    expect(first.durable.questions).toMatchObject([{ id: 'which' }])
    first.durable.stop(new ToolError('INTERRUPTED', 'killed'))
    await first.journal.close()
    const again = await open(file, {
      ask: () => Promise.resolve({ value: 'this one', by: 'somebody' }),
    })
    expect(again.durable.questions).toHaveLength(1)
    expect((await again.context.first([again.context.begin(question('which'))])).settled).toEqual({
      ok: true,
      value: 'this one',
    })
    expect(again.durable.questions).toEqual([])
    await again.journal.close()
    expect(recordsOf(file)).toMatchObject([
      { t: 'ask', k: 'which' },
      { t: 'done', k: 'which', v: 'this one', by: 'somebody' },
    ])
  })
})

describe('a question that nobody answers', () => {
  test('stays open, and gives the execution up when nothing else of it goes on [9.durable-answer]', async () => {
    const file = newFile()
    const work = hands()
    const first = await open(file, {
      perform: work.perform,
      ask: () => Promise.reject(new ToolError('ANSWER_REQUIRED', 'nobody is here')),
    })
    const [which, other] = [
      first.context.begin(question('which')),
      first.context.begin(tool('other')),
    ]
    const waiting = first.context.first([which, other])
    await work.begun('other')
    work.end('other')
    expect((await waiting).begun).toBe(other)
    await expect(first.context.first([which])).rejects.toMatchObject({ code: 'ANSWER_REQUIRED' })
    await first.journal.close()
    expect(recordsOf(file).map(({ t }) => t)).toEqual(['ask', 'done'])
    const again = await open(file, { ask: () => Promise.resolve({ value: 'here' }) })
    const [x, y] = [again.context.begin(question('which')), again.context.begin(tool('other'))]
    expect((await again.context.first([x, y])).begun).toBe(y)
    expect((await again.context.first([x])).settled).toEqual({ ok: true, value: 'here' })
    await again.journal.close()
  })
})

describe('events', () => {
  test('that are told again after a restart are marked [9.durable-told]', async () => {
    const file = newFile()
    const told: boolean[] = []
    const go = async (keys: readonly string[], { context, journal }: Opened): Promise<void> => {
      for (const key of keys) {
        context.emit!({ type: 'step_start', step: key, kind: 'tool' })
        await context.first([context.begin(tool(key))])
      }
      await journal.close()
    }
    const tell: DurableExecutionOptions['onEvent'] = (_event, again) => {
      told.push(again)
    }
    await go(['a', 'b'], await open(file, { onEvent: tell }))
    await go(['a', 'b', 'c'], await open(file, { onEvent: tell }))
    expect(told).toEqual([false, false, true, true, false])
  })
})

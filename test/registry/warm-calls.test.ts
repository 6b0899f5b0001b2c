import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../mcp/support/until.ts'
import { makeFolder } from '../support/run-program.ts'
import { isAlive } from '../support/processes.ts'
import { callWarm, openPool, targetOf } from './support/warm.ts'

type Where = {
  readonly pid: number
  readonly cwd: string
  readonly color: string | null
  readonly seconds: number | null
  readonly caller: string | null
}

describe('warm calls', () => {
  test('many calls at once share one process and never mix; a second one helps those who come later [6.warm-calls]', async () => {
    const pool = openPool({ maxCallsPerProcess: 50, maxProcesses: 3 })
    const target = targetOf('kept-warm.mjs')
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    const told: string[] = []
    const outcomes = await Promise.all(
      numbers.map((count) =>
        callWarm(
          pool,
          { ...target, tool: 'echo', input: { text: `t${count}`, count, after: (count * 7) % 30 } },
          {
            onEvent: (event) => {
              if (event.type === 'progress') told.push(`${count} ${event.message}`)
            },
          },
        ),
      ),
    )
    expect(outcomes.map((outcome) => outcome.ok && outcome.result)).toEqual(
      numbers.map((count) => ({ text: `t${count}`, count })),
    )
    expect(told.sort()).toEqual(numbers.map((count) => `${count} t${count}`).sort())
    const { pid } = pool.processes()[0]!
    await Promise.all(
      numbers.map((count) =>
        callWarm(pool, { ...target, tool: 'echo', input: { text: `t${count}`, after: 400 } }),
      ),
    )
    const running = pool.processes()
    expect(running.map((program) => [program.pid === pid, program.calls])).toEqual([
      [true, 0],
      [false, 0],
    ])
    await pool.close()
    expect(running.some(({ pid }) => isAlive(pid!))).toBe(false)
  })

  test('each directory and environment has a process of its own, and calls say who calls and how long they may take [6.warm-calls]', async () => {
    const pool = openPool()
    const target = targetOf('kept-warm.mjs')
    const where = async (more: object, options = {}): Promise<Where> => {
      const outcome = await callWarm(
        pool,
        { ...target, ...more, tool: 'where', input: {} },
        options,
      )
      return (outcome as { readonly result: Where }).result
    }
    const first = await where({}, { caller: 'me', timeout: 9 })
    expect(first).toMatchObject({ cwd: target.cwd, color: null, caller: 'me' })
    expect(first.seconds).toBeLessThanOrEqual(9)
    expect((await where({})).pid).toBe(first.pid)
    const cwd = makeFolder()
    const [elsewhere, colored] = await Promise.all([
      where({ cwd }),
      where({ env: { ...target.env, COLOR: 'red' } }),
    ])
    expect([elsewhere.cwd, colored.color]).toEqual([cwd, 'red'])
    expect(new Set([first.pid, elsewhere.pid, colored.pid]).size).toBe(3)
    await pool.close()
  })

  test('a refused input keeps its words [6.warm-calls]', async () => {
    const pool = openPool()
    const target = targetOf('kept-warm.mjs')
    expect(await callWarm(pool, { ...target, tool: 'echo', input: { text: 5 } })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'text' },
    })
    expect(pool.processes()).toHaveLength(1)
    await pool.close()
  })

  test('questions, completions, consent and events reach whoever made the call [6.warm-questions]', async () => {
    const pool = openPool()
    const talks = targetOf('talks.mjs')
    const asked: string[] = []
    const answers: { readonly [kind: string]: unknown } = {
      confirm: true,
      decision: 'right',
      input: 4,
    }
    const options = {
      answer: ({ kind }: { readonly kind: string }) => {
        asked.push(kind)
        return answers[kind]
      },
      sample: ({ prompt, max_tokens }: { readonly prompt: string; readonly max_tokens: number }) =>
        `${prompt} in ${max_tokens}`,
    }
    expect(await callWarm(pool, { ...talks, tool: 'ask', input: {} }, options)).toMatchObject({
      result: answers,
    })
    expect(asked).toEqual(['confirm', 'decision', 'input'])
    expect(await callWarm(pool, { ...talks, tool: 'complete', input: {} }, options)).toMatchObject({
      result: { texts: ['Write 0 in 5'] },
    })
    expect(
      await callWarm(pool, { ...talks, tool: 'ask', input: { only: 'decision' } }),
    ).toMatchObject({ error: { code: 'ANSWER_REQUIRED' } })
    expect(
      await callWarm(pool, { ...talks, tool: 'ask', input: { only: 'decision', fallback: 'x' } }),
    ).toMatchObject({ result: { decision: 'left' } })
    const lines = [{ text: 'hi' }, { text: 'you' }]
    expect(
      await callWarm(pool, { ...talks, tool: 'chat', input: {} }, { answer: () => lines.shift() }),
    ).toMatchObject({ result: { said: ['hi', 'you'] } })
    const events: unknown[] = []
    await callWarm(
      pool,
      { ...talks, tool: 'work', input: {} },
      { onEvent: (event) => void events.push(event) },
    )
    expect(events.slice(0, -1)).toEqual(
      [25, 50, 75]
        .map((percent) => ({ type: 'progress', message: `step ${percent / 25}`, percent }))
        .concat([
          { type: 'log', level: 'warn', message: 'nearly there' },
          { type: 'artifact', name: 'report', uri: 'file:///tmp/report.txt' },
          { type: 'item', value: { id: 1 } },
        ] as never),
    )
    const warm = targetOf('kept-warm.mjs')
    const removing = (confirmed: boolean, answer?: () => unknown) =>
      callWarm(
        pool,
        { ...warm, tool: 'remove', input: { what: 'it' }, confirmed },
        answer ? { answer } : {},
      )
    expect(await removing(true)).toMatchObject({ result: { removed: 'it' } })
    expect(await removing(false, () => true)).toMatchObject({ result: { removed: 'it' } })
    expect(await removing(false, () => false)).toMatchObject({ error: { code: 'PERMISSION' } })
    expect(await removing(false)).toMatchObject({ error: { code: 'CONFIRMATION_REQUIRED' } })
    await pool.close()
  })

  test('cancelling and deadlines reach the handler, and the process stays [6.warm-calls]', async () => {
    const pool = openPool()
    const target = targetOf('kept-warm.mjs')
    const marker = join(makeFolder(), 'wait')
    const controller = new AbortController()
    const waiting = callWarm(
      pool,
      { ...target, tool: 'wait', input: { marker } },
      { signal: controller.signal },
    )
    await until(() => existsSync(`${marker}.started`))
    controller.abort()
    expect(await waiting).toMatchObject({ error: { code: 'CANCELLED' } })
    await until(() => existsSync(`${marker}.aborted`))
    const late = join(makeFolder(), 'wait')
    expect(
      await callWarm(
        pool,
        { ...target, tool: 'wait', input: { marker: late } },
        { timeout: '300ms' },
      ),
    ).toMatchObject({ error: { code: 'TIMEOUT' } })
    await until(() => existsSync(`${late}.aborted`))
    const [{ pid } = { pid: 0 }, ...others] = pool.processes()
    expect(others).toEqual([])
    expect(await callWarm(pool, { ...target, tool: 'where', input: {} })).toMatchObject({
      result: { pid },
    })
    expect(
      await callWarm(
        pool,
        { ...target, tool: 'echo', input: { text: 'never' } },
        { signal: controller.signal },
      ),
    ).toMatchObject({ error: { code: 'CANCELLED' } })
    await pool.close()
  })

  test('large inputs and results pass whole [6.warm-calls]', async () => {
    const pool = openPool()
    const target = targetOf('kept-warm.mjs')
    const text = 'ä"\n'.repeat(700_000)
    const [echoed, big] = await Promise.all([
      callWarm(pool, { ...target, tool: 'echo', input: { text } }),
      callWarm(pool, { ...target, tool: 'big', input: { megabytes: 20 } }),
    ])
    expect((echoed as { readonly result: { readonly text: string } }).result.text === text).toBe(
      true,
    )
    expect((big as { readonly result: string }).result).toHaveLength(20 * 1024 * 1024)
    await pool.close()
  })
})

test('a directory that was made anew gets a process of its own [6.warm-change]', async () => {
  const pool = openPool()
  const cwd = join(makeFolder(), 'work')
  const make = async (): Promise<void> => {
    rmSync(cwd, { recursive: true, force: true })
    const { mkdirSync } = await import('node:fs')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'here'), '')
  }
  await make()
  const target = targetOf('kept-warm.mjs', { cwd })
  await callWarm(pool, { ...target, tool: 'where', input: {} })
  const [before] = pool.processes()
  await make()
  const outcome = await callWarm(pool, { ...target, tool: 'where', input: {} })
  expect(outcome).toMatchObject({ ok: true, result: { cwd } })
  expect((outcome as { readonly result: Where }).result.pid).not.toBe(before!.pid)
  expect(readFileSync(join(cwd, 'here'), 'utf8')).toBe('')
  await pool.close()
})

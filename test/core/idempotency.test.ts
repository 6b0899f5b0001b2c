import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, fail, tool } from 'toolable'
import { makeFolder } from '../support/run-program.ts'

const make = () => {
  const state = makeFolder()
  let runs = 0
  const counts = tool({
    name: 'counts',
    summary: 'Counts',
    input: z.object({ n: z.number().default(1), fail: z.boolean().default(false) }),
    run: (input) => {
      runs++
      return input.fail ? fail('CONFLICT', 'no') : { runs, n: input.n }
    },
  })
  const options = { idempotencyKey: 'k', env: { XDG_STATE_HOME: state } }
  return { counts, options, folder: join(state, 'toolable', 'idempotency'), runs: () => runs }
}
const warning = 'answered from an earlier call with the same idempotency key'

describe('an idempotency key', () => {
  test('[5.idempotency-key] gives the first outcome again, and says so', async () => {
    const { counts, options } = make()
    const first = await call(counts, { n: 1 }, options)
    expect(first).toMatchObject({ ok: true, result: { runs: 1 } })
    expect(await call(counts, {}, options)).toEqual({
      ...first,
      meta: { ...first.meta, warnings: [warning] },
    })
    await expect(counts({ n: 1 }, options)).resolves.toEqual({ runs: 1, n: 1 })
    expect(await call(counts, {}, { ...options, idempotencyKey: 'other' })).toMatchObject({
      result: { runs: 2 },
    })
    expect(await call(counts, {}, { env: options.env })).toMatchObject({ result: { runs: 3 } })
  })

  test('[5.idempotency-conflict] with another input is a CONFLICT', async () => {
    const { counts, options, runs } = make()
    await call(counts, { n: 1 }, options)
    expect(await call(counts, { n: 2 }, options)).toMatchObject({
      error: {
        code: 'CONFLICT',
        field: 'idempotency-key',
        message: "the idempotency key 'k' was used with another input",
      },
    })
    expect(runs()).toBe(1)
  })

  test('belongs to one tool', async () => {
    const { counts, options } = make()
    await call(counts, {}, options)
    expect(
      await call(tool({ name: 'other', summary: 'Other', run: () => 'mine' }), {}, options),
    ).toMatchObject({ result: 'mine' })
  })

  test('of a failure or a dry run is free again', async () => {
    const { counts, options } = make()
    expect(await call(counts, { fail: true }, options)).toMatchObject({ ok: false })
    expect(await call(counts, {}, { ...options, dryRun: true })).toMatchObject({
      result: { dry_run: true },
    })
    expect(await call(counts, {}, options)).toMatchObject({ result: { runs: 2 } })
  })

  test('of a call that is still running is a CONFLICT that may be retried', async () => {
    const { options } = make()
    let finish = (): void => undefined
    let begin = (): void => undefined
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const slow = tool({
      name: 'slow',
      summary: 'Slow',
      run: () =>
        new Promise<string>((resolve) => {
          finish = () => resolve('done')
          begin()
        }),
    })
    const first = call(slow, {}, options)
    await begun
    expect(await call(slow, {}, options)).toMatchObject({
      error: {
        code: 'CONFLICT',
        retryable: true,
        message: expect.stringContaining('still running'),
      },
    })
    finish()
    expect(await first).toMatchObject({ result: 'done' })
    expect(await call(slow, {}, options)).toMatchObject({
      result: 'done',
      meta: { warnings: [warning] },
    })
  })

  test('of a process that died, of a damaged entry and of yesterday counts no more', async () => {
    const { counts, options, folder } = make()
    await call(counts, {}, options)
    const [name] = readdirSync(folder)
    const file = join(folder, name!)
    const { outcome: _outcome, ...entry } = JSON.parse(readFileSync(file, 'utf8')) as {
      outcome: object
      at: number
    }
    let runs = 1
    for (const text of [
      JSON.stringify({ ...entry, pid: 2 ** 22 + 1 }),
      '{"half',
      'null',
      JSON.stringify({ ..._outcome, ...entry, outcome: _outcome, at: Date.now() - 25 * 3_600_000 }),
    ]) {
      writeFileSync(file, text)
      expect(await call(counts, {}, options)).toMatchObject({ ok: true, result: { runs: ++runs } })
    }
  })

  test('leaves one private file, and takes old ones along', async () => {
    const { counts, options, folder } = make()
    mkdirSync(folder, { recursive: true })
    const old = join(folder, 'old.json')
    writeFileSync(old, '{}')
    const yesterday = Date.now() / 1000 - 25 * 3600
    utimesSync(old, yesterday, yesterday)
    await call(counts, {}, options)
    await call(counts, {}, { ...options, idempotencyKey: 'next' })
    expect(readdirSync(folder)).toHaveLength(2)
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  })

  test('work that is done is no failure because it cannot be remembered', async () => {
    const { options, folder } = make()
    const removes = tool({
      name: 'removes',
      summary: 'Removes the memory',
      run: () => {
        rmSync(folder, { recursive: true })
        return 'done'
      },
    })
    expect(await call(removes, {}, options)).toMatchObject({
      ok: true,
      result: 'done',
      meta: { warnings: [expect.stringContaining('not remembered')] },
    })
  })

  test.each([[''], ['  '], ['x'.repeat(501)]])('%j is refused', async (idempotencyKey) => {
    const { counts, options } = make()
    expect(await call(counts, {}, { ...options, idempotencyKey })).toMatchObject({
      error: { code: 'INVALID_INPUT', field: 'idempotency-key' },
    })
  })

  test('with an input that becomes what JSON cannot carry is told apart by what was given', async () => {
    const { options } = make()
    const maps = tool({
      name: 'maps',
      summary: 'Maps',
      input: z.object({
        keys: z.array(z.string()).transform((keys) => new Map(keys.map((key) => [key, 1]))),
      }),
      run: ({ keys }) => keys.size,
    })
    expect(await call(maps, { keys: ['a'] }, options)).toMatchObject({ result: 1 })
    expect(await call(maps, { keys: ['a', 'b'] }, options)).toMatchObject({
      error: { code: 'CONFLICT' },
    })
  })

  test('of two calls at once lets one run', async () => {
    const { counts, options, runs } = make()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => call(counts, {}, options)))
    expect(runs()).toBe(1)
    expect(outcomes.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(1)
    for (const outcome of outcomes) if (!outcome.ok) expect(outcome.error.code).toBe('CONFLICT')
  })
})

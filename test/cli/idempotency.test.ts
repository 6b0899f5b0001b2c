import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, runProgram, startProgram } from '../support/run-program.ts'

function makeShop() {
  const folder = makeFolder()
  const marks = join(folder, 'marks')
  const env = { MARKS: marks, XDG_STATE_HOME: join(folder, 'state') }
  const store = join(folder, 'state', 'toolable', 'idempotency')
  return {
    store,
    start: (...args: string[]) => startProgram('counts-calls.mjs', args, { env }),
    call: (...args: string[]) => runProgram('counts-calls.mjs', args, { env }),
    runs: () => (existsSync(marks) ? readFileSync(marks, 'utf8').length : 0),
    entries: () => readdirSync(store).map((name) => join(store, name)),
  }
}

describe.concurrent('idempotency keys', () => {
  test('the same key and input give the first answer again without running [5.idempotency-key]', async () => {
    const shop = makeShop()
    const first = await shop.call('--amount', '5', '--idempotency-key', 'k1')
    const [second, byJson] = [
      await shop.call('--idempotency-key', 'k1', '--amount', '5'),
      await shop.call('{"amount":5}', '--idempotency-key', 'k1'),
    ]
    for (const { status, json } of [second, byJson]) {
      expect([status, json.result]).toEqual([0, first.json.result])
      expect(json.meta.warnings).toEqual([expect.stringContaining('earlier call')])
    }
    expect(shop.runs()).toBe(1)
    await shop.call('--amount', '5', '--idempotency-key', 'k2')
    expect(shop.runs()).toBe(2)
  })

  test('the same key with another input is a CONFLICT [5.idempotency-conflict]', async () => {
    const shop = makeShop()
    await shop.call('--amount', '5', '--idempotency-key', 'k')
    const { status, json } = await shop.call('--amount', '6', '--idempotency-key', 'k')
    expect([status, json.error]).toMatchObject([73, { code: 'CONFLICT', retryable: false }])
    expect(shop.runs()).toBe(1)
  })

  test('a failure is not remembered, a dry run neither [5.idempotency-key]', async () => {
    const shop = makeShop()
    for (const _attempt of [1, 2])
      expect((await shop.call('--fails', '--idempotency-key', 'k')).status).toBe(69)
    expect(shop.runs()).toBe(2)
    await shop.call('--amount', '1', '--dry-run', '--idempotency-key', 'd')
    expect((await shop.call('--amount', '2', '--idempotency-key', 'd')).json.result.amount).toBe(2)
  })

  test('of two at once one runs; a killed one is taken over [5.idempotency-key]', async () => {
    const shop = makeShop()
    const holder = shop.start('--hangs', '--idempotency-key', 'k')
    await holder.said('marked', 'stderr')
    const meanwhile = await shop.call('--hangs', '--idempotency-key', 'k')
    expect([meanwhile.status, meanwhile.json.error]).toMatchObject([
      73,
      { code: 'CONFLICT', retryable: true },
    ])
    expect(shop.runs()).toBe(1)
    holder.kill('SIGKILL')
    await holder.ended
    const next = shop.start('--hangs', '--idempotency-key', 'k')
    await next.said('marked', 'stderr')
    next.kill('SIGTERM')
    expect((await next.ended).status).toBe(143)
    const after = await shop.call('--idempotency-key', 'k')
    expect([after.status, shop.runs()]).toEqual([0, 3])
  })

  test('many at once run once [5.idempotency-key]', async () => {
    const shop = makeShop()
    const ended = await Promise.all(
      Array.from({ length: 4 }, () => shop.call('--amount', '1', '--idempotency-key', 'k')),
    )
    expect(shop.runs()).toBe(1)
    const answers = ended.filter(({ status }) => status === 0)
    expect(new Set(answers.map(({ json }) => json.result.pid)).size).toBe(1)
    expect(
      ended
        .filter(({ status }) => status !== 0)
        .every(({ json }) => json.error.code === 'CONFLICT' && json.error.retryable),
    ).toBe(true)
  })

  test('after 24 hours the key is free again [5.idempotency-key]', async () => {
    const shop = makeShop()
    await shop.call('--amount', '1', '--idempotency-key', 'k')
    const [file] = shop.entries()
    const entry = JSON.parse(readFileSync(file!, 'utf8'))
    writeFileSync(file!, JSON.stringify({ ...entry, at: entry.at - 25 * 3_600_000 }))
    const { status, json } = await shop.call('--amount', '2', '--idempotency-key', 'k')
    expect([status, json.result.amount, shop.runs()]).toEqual([0, 2, 2])
  })

  test('what is kept is private, and a damaged entry is no obstacle [5.idempotency-key]', async () => {
    const shop = makeShop()
    await shop.call('--amount', '1', '--idempotency-key', 'k')
    expect(statSync(shop.store).mode & 0o777).toBe(0o700)
    expect(shop.entries().map((file) => statSync(file).mode & 0o777)).toEqual([0o600])
    writeFileSync(shop.entries()[0]!, '{"half')
    expect((await shop.call('--amount', '1', '--idempotency-key', 'k')).status).toBe(0)
    expect(shop.runs()).toBe(2)
    expect(shop.entries()).toHaveLength(1)
  })

  test('an unusable key is refused [5.idempotency-key]', async () => {
    const { status, json } = await makeShop().call('--idempotency-key', ' ')
    expect([status, json.error.code]).toEqual([2, 'INVALID_INPUT'])
  })
})

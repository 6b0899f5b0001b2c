import { test } from 'vitest'
import { z } from 'zod'
import { compileSchema } from '../../../src/define/schema/compile.ts'
test('p', async () => {
  const s = compileSchema(z.object({ rows: z.array(z.object({ a: z.string(), b: z.number(), c: z.object({ d: z.boolean() }) })) }), 'input')
  const value = { rows: Array.from({ length: 100_000 }, (_, i) => ({ a: 'x', b: i, c: { d: true } })) }
  let t = performance.now(); let r: any = await s.check(value); console.log('zod big', r.ok, performance.now() - t)
  t = performance.now(); r = (z.object({ rows: z.array(z.object({ a: z.string(), b: z.number(), c: z.object({ d: z.boolean() }) })) })).safeParse(value); console.log('zod alone', performance.now() - t)
  const p = compileSchema({ type: 'object', properties: { rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' }, c: { type: 'object', properties: { d: { type: 'boolean' } } } } } } } }, 'input')
  await p.check({})
  t = performance.now(); r = await p.check(value); console.log('plain big', r.ok, performance.now() - t)
  const small = { rows: [{ a: 'x', b: 1, c: { d: true } }] }
  for (let i = 0; i < 2000; i++) { s.check(small); p.check(small) }
  t = performance.now(); for (let i = 0; i < 10000; i++) s.check(small); console.log('zod small us', (performance.now() - t) / 10)
  t = performance.now(); for (let i = 0; i < 10000; i++) p.check(small); console.log('plain small us', (performance.now() - t) / 10)
  t = performance.now(); for (let i = 0; i < 100; i++) { compileSchema(z.object({ a: z.string(), b: z.int().optional() }), 'input').json } console.log('compile+json ms', (performance.now() - t) / 100)
  value.rows.forEach((row: any) => { row.b = 'x' })
  t = performance.now(); r = await s.check(value); console.log('zod all bad', r.issues.length, performance.now() - t)
}, 120000)

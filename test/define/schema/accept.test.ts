import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acceptPlainValue } from '../../../src/define/tool.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import type { JsonSchema } from '../../../src/util/values.ts'
import { rounds } from '../../support/rounds.ts'

const scalar = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      minLength: fc.nat(3),
      maxLength: fc.integer({ min: 2, max: 6 }),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constantFrom('number', 'integer'),
      minimum: fc.integer({ min: -5, max: 2 }),
      exclusiveMaximum: fc.integer({ min: 1, max: 9 }),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constant('string'), enum: fc.constant(['a', 'bb', 'c']) }),
  fc.constantFrom<JsonSchema>(
    { enum: ['a', 1, true] },
    { const: 'bb' },
    { enum: ['a', 'bb'], minLength: 2 },
    { enum: [{}, null] },
    { const: 1, default: 1 },
  ),
  fc.constant({ type: 'boolean' }),
  fc.constant({ type: 'string', format: 'path', description: 'A path' }),
  fc.constant({ type: 'integer', default: 1 }),
  // More than can be read quickly: never accepted plainly, whatever the value.
  fc.constantFrom<JsonSchema>(
    { type: 'string', pattern: '^a' },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { type: ['string', 'null'] },
    {},
  ),
)
const { object } = fc.letrec<{ object: JsonSchema; node: JsonSchema }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.record(
      { type: fc.constant('array'), items: scalar, minItems: fc.nat(2) },
      { requiredKeys: ['type', 'items'] },
    ),
    tie('object'),
  ),
  object: fc.record(
    {
      type: fc.constant('object'),
      properties: fc.record({ a: tie('node'), b: scalar, c: scalar }, { requiredKeys: [] }),
      required: fc.subarray(['a', 'b']),
      additionalProperties: fc.boolean(),
    },
    { requiredKeys: ['type', 'properties'] },
  ),
}))
const leaf = fc.oneof(
  fc.constantFrom('', 'a', 'bb', 'abcdef', '\u{1f600}\u{1f600}'),
  fc.integer({ min: -6, max: 10 }),
  fc.constantFrom(1.5, Number.NaN, true, false, null, undefined),
)
const fields = {
  a: fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.record({ a: leaf, b: leaf, z: leaf }, { requiredKeys: [] }),
  ),
  b: leaf,
  c: leaf,
}
const value = fc.oneof(
  { arbitrary: fc.record(fields, { requiredKeys: [] }), weight: 5 },
  {
    arbitrary: fc.record({ ...fields, ['__proto__']: leaf, extra: leaf }, { requiredKeys: [] }),
    weight: 1,
  },
)

test('what is accepted plainly is accepted by the compiled schema, with the same value', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(object, value, async (schema, given) => {
      const quick = acceptPlainValue(schema, given)
      if (!quick) return
      accepted++
      expect(await compileSchema(schema, 'input').check(given)).toEqual({
        ok: true,
        value: quick.value,
      })
    }),
    { numRuns: rounds(12_000) },
  )
  expect(accepted).toBeGreaterThan(20)
})

test('one of some plain values, and fields that are all described, need no validator', () => {
  expect(acceptPlainValue({ enum: ['a', 1] }, 1)).toEqual({ ok: true, value: 1 })
  expect(acceptPlainValue({ enum: ['a', 1] }, '1')).toBeUndefined()
  const open = {
    type: 'object',
    properties: { text: { type: 'string' } },
    additionalProperties: true,
  }
  expect(acceptPlainValue(open, { text: 'a' })).toEqual({ ok: true, value: { text: 'a' } })
  expect(acceptPlainValue(open, { text: 'a', more: 1 })).toBeUndefined()
})

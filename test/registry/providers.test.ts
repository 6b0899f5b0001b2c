import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../src/util/values.ts'
import {
  FIELD_NAME_RULES,
  toProviderFieldNames,
} from '../../src/protocol/providers/object-input.ts'
import { restoreArguments } from '../../src/protocol/providers/tool-messages.ts'
import { toProvider } from '../../src/protocol/providers/export-tools.ts'
import { compileSchema } from '../../src/define/schema/compile.ts'
import { providerProblems } from './support/provider-rules.ts'
import { rounds } from '../support/rounds.ts'

const exported = (inputSchema: JsonSchema) => {
  const tools = [{ name: 'find', manifest: { summary: 'Find', inputSchema, annotations: {} } }]
  const notes: string[] = []
  const [chat] = toProvider('openai', tools)
  const [strict] = toProvider('openai', tools, {
    strict: true,
    onNote: ({ message }) => notes.push(message),
  })
  return {
    notes,
    openai: chat!.function.parameters,
    strict: strict!.function.strict ? strict!.function.parameters : undefined,
    anthropic: toProvider('anthropic', tools)[0]!.input_schema,
    gemini: toProvider('gemini', tools).functionDeclarations[0]!.parameters,
    geminiJson: toProvider('gemini', tools, { schema: 'json' }).functionDeclarations[0]!
      .parametersJsonSchema,
  }
}

const field = fc.constantFrom('a', 'b', 'c', 'max-size', 'x y', '\u00e4', '9', '__proto__', 'b_')
// A closed part forbids the fields of the others, and the whole means nothing.
const leftOpen = ({ additionalProperties, ...part }: JsonSchema): JsonSchema => ({
  ...part,
  ...(additionalProperties !== undefined &&
    additionalProperties !== false && { additionalProperties }),
})
const { schema } = fc.letrec<{ schema: JsonSchema; object: JsonSchema }>((tie) => ({
  object: fc
    .record({
      properties: fc.dictionary(field, tie('schema'), { maxKeys: 4 }),
      required: fc.array(field, { maxLength: 2 }),
      additionalProperties: fc.constantFrom(true, false, undefined, { type: 'string' }),
      description: fc.constantFrom(undefined, 'Words'),
    })
    .map(({ properties, required, additionalProperties, description }) => ({
      type: 'object',
      properties,
      required: required.filter((key) => Object.hasOwn(properties, key)),
      ...(additionalProperties !== undefined && { additionalProperties }),
      ...(description && { description }),
    })),
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonSchema>(
      { type: 'string', minLength: 1, pattern: '^x' },
      { type: 'integer', minimum: 0, default: 1 },
      { type: 'number', multipleOf: 0.5 },
      { type: 'boolean' },
      { enum: ['a', '', 'b'] },
      { enum: [1, 2, null] },
      { const: 'x' },
      { type: ['string', 'null'] },
      { type: ['integer', 'array'] },
      {},
      { type: 'string', format: 'uri' },
      { enum: [{ a: 1 }] },
      { $ref: '#/nowhere' },
    ),
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      maxItems: fc.constantFrom(2, 5),
    }),
    // Without `items: false` anything may follow, which nobody means and no provider is told.
    fc.record({
      type: fc.constant('array'),
      prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      items: fc.constant(false),
    }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      oneOf: fc.array(tie('object'), { minLength: 1, maxLength: 2 }),
      description: fc.constant('One of'),
    }),
    fc.record({ allOf: fc.array(tie('object').map(leftOpen), { minLength: 1, maxLength: 2 }) }),
    tie('object'),
  ),
}))
const input = schema.map((inner): JsonSchema =>
  inner['type'] === 'object' || Array.isArray(inner['allOf']) || Array.isArray(inner['oneOf'])
    ? inner
    : { type: 'object', properties: { a: inner, b: inner } },
)

describe('exported schemas', () => {
  test('[6.exported-schemas] obey the rules of each provider', () => {
    fc.assert(
      fc.property(input, (given) => {
        const { openai, strict, anthropic, gemini, geminiJson, notes } = exported(given)
        expect(providerProblems.openai(openai)).toEqual([])
        expect(providerProblems.anthropic(anthropic)).toEqual([])
        if (strict) expect(providerProblems.strict(strict)).toEqual([])
        else expect(notes).toEqual([expect.stringContaining('without strict mode')])
        if (gemini) expect(providerProblems.gemini(gemini as JsonSchema)).toEqual([])
        if (geminiJson) expect(providerProblems.openai(geminiJson as JsonSchema)).toEqual([])
      }),
      { numRuns: rounds(100) },
    )
  })

  test('[6.exported-schemas] allow whatever the tool allows, and strict arguments come back as they were', async () => {
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>('x', 'a', '', 1, 2, 0.5, true, null),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(field, tie('value'), { maxKeys: 3 }),
      ),
    })).value
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
    // Ajv knows no field of the name __proto__.
    let fitting = 0
    await fc.assert(
      fc.asyncProperty(
        input.filter((given) => !/\$ref|__proto__/.test(JSON.stringify(given))),
        fc.dictionary(field, value, { maxKeys: 3 }),
        async (given, arguments_) => {
          const checked = await compileSchema(given, 'input').check(arguments_)
          if (!checked.ok) return
          fitting += 1
          const published = compileSchema(given, 'input').json
          const { openai, strict } = exported(published)
          expect(ajv.validate(openai, arguments_), ajv.errorsText()).toBe(true)
          if (!strict) return
          const filled = {
            ...Object.fromEntries(
              Object.keys(strict['properties'] as object).map((key) => [key, null]),
            ),
            ...arguments_,
          }
          expect(
            await compileSchema(given, 'input').check(restoreArguments(published, filled)),
          ).toMatchObject({ ok: true })
        },
      ),
      { numRuns: rounds(150) },
    )
    expect(fitting).toBeGreaterThan(15)
  })

  test('a union at the root becomes one object whose description tells the forms', () => {
    const { openai, anthropic } = exported({
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'file' }, path: { type: 'string' } },
          required: ['kind', 'path'],
        },
        {
          type: 'object',
          properties: { kind: { const: 'url' }, url: { type: 'string' } },
          required: ['kind', 'url'],
        },
      ],
    })
    expect(openai).toEqual({
      type: 'object',
      description: 'Needs one of these sets of fields: {path} or {url}.',
      properties: {
        kind: { type: 'string', enum: ['file', 'url'] },
        path: { type: 'string' },
        url: { type: 'string' },
      },
      required: ['kind'],
    })
    expect(anthropic).toEqual(openai)
  })

  test('"at least one of" is said in words', () => {
    expect(
      exported({
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      }).anthropic,
    ).toMatchObject({ type: 'object', description: 'Needs a, or b.' })
  })

  test.each([
    ['open', { type: 'object', properties: { a: {} } }, "'a' may hold anything"],
    [
      'open inside',
      { type: 'object', properties: { a: { type: 'object', additionalProperties: true } } },
      "'a' is open",
    ],
    [
      'too deep',
      (() => {
        let inner: JsonSchema = { type: 'string' }
        for (let level = 0; level < 12; level += 1)
          inner = { type: 'object', properties: { a: inner }, additionalProperties: false }
        return inner
      })(),
      'deeper than 10 levels',
    ],
    [
      'too many fields',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 3900 }, (_, index) => [
            `a-rather-long-name-for-a-field-${index}`,
            { type: 'string' },
          ]),
        ),
      },
      'characters',
    ],
    [
      'too many values',
      {
        type: 'object',
        properties: { a: { enum: Array.from({ length: 1001 }, (_, index) => `v${index}`) } },
      },
      '1000 enum values',
    ],
  ])(
    '[6.to-openai-strict] what cannot be strict is exported without it: %s',
    (_name, given, reason) => {
      const { strict, openai, notes } = exported(given)
      expect(strict).toBeUndefined()
      expect(openai).toMatchObject({ type: 'object' })
      expect(notes.join()).toContain(reason)
    },
  )

  test('the description of a tool is cut where OpenAI takes no more, and does not repeat its summary', () => {
    const tool = (summary: string, description: string) => [
      {
        name: 'x',
        manifest: { summary, description, inputSchema: { type: 'object' }, annotations: {} },
      },
    ]
    expect(
      toProvider('openai', tool('Sum', 'd'.repeat(5000)))[0]!.function.description,
    ).toHaveLength(1024)
    expect(toProvider('anthropic', tool('Sum', 'd'.repeat(5000)))[0]!.description).toHaveLength(
      5005,
    )
    expect(toProvider('anthropic', tool('Finds...', 'Finds files'))[0]!.description).toBe(
      'Finds files',
    )
  })
})

describe('arguments on their way back', () => {
  const given: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      n: { type: ['string', 'null'] },
      r: { type: 'string' },
      deep: {
        type: 'array',
        items: {
          type: 'object',
          properties: { o: { type: 'integer' }, 'x y': { type: 'string' } },
        },
      },
    },
    required: ['r'],
  }

  test('null is taken out where the field is optional and cannot be null, and stays otherwise', () => {
    expect(
      restoreArguments(given, {
        a: null,
        n: null,
        r: null,
        deep: [{ o: null, 'x y': 'k' }],
        other: null,
      }),
    ).toEqual({ n: null, r: null, deep: [{ 'x y': 'k' }], other: null })
  })

  test('renamed fields get their own names again, at every depth', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(field, fc.string()), { maxLength: 6 }),
        fc.constantFrom(...Object.values(FIELD_NAME_RULES)),
        (given, rule) => {
          const properties = Object.fromEntries(given.map((key) => [key, { type: 'integer' }]))
          // An object has its own order: numbers come first.
          const keys = Object.keys(properties)
          const names = toProviderFieldNames(keys, rule)
          expect(new Set(names.values()).size).toBe(keys.length)
          for (const name of names.values()) expect(name).toMatch(rule.accepts)
          const sent = Object.fromEntries([...names.values()].map((name, index) => [name, index]))
          expect(
            restoreArguments(
              { type: 'object', properties: { deep: { type: 'object', properties } } },
              { deep: sent },
            ),
          ).toEqual({ deep: Object.fromEntries(keys.map((key, index) => [key, index])) })
        },
      ),
    )
  })
})

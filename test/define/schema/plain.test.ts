import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../../src/util/values.ts'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'

const messagesOf = async (schema: JsonSchema, value: unknown) => {
  const checked = await compileSchema(schema, 'output').check(value)
  return checked.ok
    ? []
    : checked.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
}
const valueOf = async (schema: JsonSchema, value: unknown) => {
  const checked = await compileSchema(schema, 'output').check(value)
  if (!checked.ok) throw new Error(JSON.stringify(checked.issues))
  return checked.value
}
const problemOf = (schema: JsonSchema): string => {
  try {
    compileSchema(schema, 'output')
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFIG') return error.message
    throw error
  }
  return 'nothing was thrown'
}

const deepFreeze = <T extends object>(value: T): T => {
  for (const item of Object.values(value))
    if (typeof item === 'object' && item !== null) deepFreeze(item)
  return Object.freeze(value)
}

describe("the author's schema", () => {
  test('stays untouched, also when frozen', async () => {
    const schema = deepFreeze({
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'string', examples: [{ id: '::' }] } },
    })
    const compiled = compileSchema(schema, 'input')
    expect(await compiled.check({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } })
    expect(compiled.verbatim).toBe(schema)
    expect(Reflect.ownKeys(schema.$defs.A)).toEqual(['type', 'examples'])
  })

  test.each([
    ['a misspelt type', { type: 'objct' }, "did you mean 'object'?"],
    ['a pattern that does not compile', { type: 'string', pattern: '(' }, 'does not compile'],
    ['properties that are a list', { properties: [] }, "'properties'"],
    [
      'a property that is no schema',
      { properties: { a: 'string' } },
      'properties.a is not a schema',
    ],
    ['a list of required that is none', { required: 'a' }, "'required'"],
    ['a remote reference', { $ref: 'https://example.com/schema.json' }, 'never fetched'],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/Nope' } } }, 'nothing is there'],
    ['a reference to itself', { $ref: '#' }, 'back to itself'],
    [
      'a circle of references',
      { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } } },
      'back to itself',
    ],
    ['a reference through the prototype', { $ref: '#/constructor' }, 'nothing is there'],
  ])('%s is refused at once', (_name, schema, expected) => {
    expect(problemOf(schema as JsonSchema)).toContain(expected)
  })

  test('a schema that contains itself is refused', () => {
    const schema: Record<string, unknown> = { type: 'object' }
    schema['properties'] = { self: schema }
    expect(problemOf(schema)).toContain('contains itself')
  })
})

describe('references', () => {
  test.each([
    ['a pointer', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'integer' } } }],
    ['an anchor', { $ref: '#num', $defs: { x: { $anchor: 'num', type: 'integer' } } }],
    [
      'an embedded id',
      {
        $ref: 'https://example.com/num',
        $defs: { x: { $id: 'https://example.com/num', type: 'integer' } },
      },
    ],
    [
      'definitions of draft 07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/x',
        definitions: { x: { type: 'integer' } },
      },
    ],
  ])('%s', async (_name, schema) => {
    expect(await messagesOf(schema, 'x')).toEqual([': must be a whole number, got "x"'])
    expect(compileSchema(schema, 'output').json).toEqual({ type: 'integer' })
  })

  test('recursive data is checked at every depth', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' }, next: { $ref: '#' } } }
    let value: Record<string, unknown> = { n: 'x', z: 1 }
    for (let depth = 0; depth < 6; depth += 1) value = { n: depth, next: value }
    expect(await messagesOf(schema, value)).toEqual([
      "next.next.next.next.next.next.z: unknown key 'z'; known keys are n, next",
      'next.next.next.next.next.next.n: must be a whole number, got "x"',
    ])
  })

  test('dynamic references', async () => {
    const schema = {
      $dynamicAnchor: 'node',
      type: 'object',
      properties: {
        name: { type: 'string' },
        kids: { type: 'array', items: { $dynamicRef: '#node' } },
      },
    }
    expect(await valueOf(schema, { name: 'a', kids: [{ name: 'b' }] })).toEqual({
      name: 'a',
      kids: [{ name: 'b' }],
    })
    expect(await messagesOf(schema, { name: 'a', kids: [{ name: 5 }] })).toEqual([
      'kids.0.name: must be text, got 5',
    ])
  })
})

describe('drafts', () => {
  const old = { $schema: 'http://json-schema.org/draft-07/schema#' }

  test('tuples of draft 07', async () => {
    const schema = {
      ...old,
      type: 'array',
      items: [{ type: 'string' }, { type: 'integer' }],
      additionalItems: false,
    }
    expect(await messagesOf(schema, ['a', 'b'])).toEqual(['1: must be a whole number, got "b"'])
    expect(await messagesOf(schema, ['a', 1, 2])).toEqual(['2: is not allowed'])
    expect(compileSchema(schema, 'output').json).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'integer' }],
      items: false,
    })
  })

  test('what stands beside a $ref counts in 2020-12 and not in draft 07', async () => {
    const schema = {
      properties: { a: { $ref: '#/definitions/x', minLength: 3 } },
      definitions: { x: { type: 'string' } },
    }
    expect(await messagesOf({ ...old, ...schema }, { a: 'x' })).toEqual([])
    expect(await messagesOf(schema, { a: 'x' })).toEqual([
      'a: must be at least 3 characters long, got "x"',
    ])
  })

  test('exclusive limits of draft 04', async () => {
    expect(
      await messagesOf(
        {
          $schema: 'http://json-schema.org/draft-04/schema#',
          type: 'number',
          minimum: 1,
          exclusiveMinimum: true,
        },
        1,
      ),
    ).toEqual([': must be more than 1, got 1'])
  })
})

describe('defaults', () => {
  const schema = {
    type: 'object',
    properties: {
      root: { type: 'string', default: '.' },
      deep: { type: 'object', properties: { list: { type: 'array', items: {}, default: [1] } } },
      items: {
        type: 'array',
        items: { type: 'object', properties: { n: { type: 'integer', default: 7 } } },
      },
    },
    required: ['root'],
  }

  test('fill what is absent, at every depth, and create no objects', async () => {
    expect(await valueOf(schema, {})).toEqual({ root: '.' })
    expect(await valueOf(schema, { root: undefined, deep: {}, items: [{}, { n: 1 }] })).toEqual({
      root: '.',
      deep: { list: [1] },
      items: [{ n: 7 }, { n: 1 }],
    })
  })

  test('never change the given value, and are never shared', async () => {
    const given = deepFreeze({ deep: {} })
    const compiled = compileSchema(schema, 'output')
    const [one, two] = [await compiled.check(given), await compiled.check(given)] as {
      value: { deep: { list: number[] } }
    }[]
    one!.value.deep.list.push(2)
    expect(two!.value.deep.list).toEqual([1])
    expect(given).toEqual({ deep: {} })
  })

  test('come from the branch that fits', async () => {
    const union = {
      oneOf: [
        { properties: { k: { const: 'a' }, x: { type: 'integer', default: 1 } }, required: ['k'] },
        { properties: { k: { const: 'b' }, y: { type: 'integer', default: 2 } }, required: ['k'] },
      ],
    }
    expect(await valueOf(union, { k: 'b' })).toEqual({ k: 'b', y: 2 })
  })

  test('are checked too', async () => {
    expect(await messagesOf({ properties: { a: { type: 'integer', default: 'x' } } }, {})).toEqual([
      'a: must be a whole number, got "x"',
    ])
  })
})

describe('values', () => {
  const open = { type: 'object' }
  const circle: Record<string, unknown> = {}
  circle['self'] = circle

  test.each([
    ['a function', { a: () => 1 }, ['a: must be a JSON value, got a function']],
    ['a bigint', { a: 5n }, ['a: must be a JSON value, got 5n']],
    ['a symbol', { a: Symbol('x') }, ['a: must be a JSON value, got a symbol']],
    ['a hole', { a: [undefined] }, ['a.0: must be a JSON value, got nothing']],
    ['NaN', { a: NaN }, ['a: must be a JSON value, got NaN']],
    ['an instance', { a: new Map() }, ['a: must be a JSON value, got a Map']],
    ['a circle', circle, ['self: must not contain itself']],
    ['nothing', undefined, [': must be an object, got nothing']],
  ])('%s is an issue', async (_name, value, expected) => {
    expect(await messagesOf(open, value)).toEqual(expected)
  })

  test('the same object in two places is no circle', async () => {
    const shared = { x: 1 }
    expect(await messagesOf(open, { a: shared, b: shared })).toEqual([])
  })

  test('nesting without end is an issue', async () => {
    let value: unknown = {}
    for (let depth = 0; depth < 50_000; depth += 1) value = { a: value }
    expect(await messagesOf(open, value)).toEqual([': is nested too deeply'])
  })

  test('the format path and unknown formats accept any text', async () => {
    expect(
      await messagesOf(
        {
          type: 'object',
          properties: {
            a: { type: 'string', format: 'path' },
            b: { type: 'string', format: 'no-such-format' },
          },
        },
        { a: '../x', b: '?' },
      ),
    ).toEqual([])
  })

  test('what the explainer has no words for is refused all the same', async () => {
    expect(await messagesOf({ not: { type: 'string' } }, 'x')).toEqual([
      ': is what the schema excludes',
    ])
    expect(await messagesOf({ type: 'array', contains: { type: 'string' } }, [1])).toEqual([
      ': must have an item of the required kind',
    ])
    expect(await messagesOf({ oneOf: [{ type: 'integer' }, { minimum: 1 }] }, 5)).toEqual([
      ': fits more than one of the allowed forms',
    ])
    expect(
      await messagesOf(
        {
          if: { properties: { a: { const: 1 } } },
          then: { required: ['b'] },
          properties: { a: {}, b: {} },
        },
        { a: 1 },
      ),
    ).toEqual(['b: is required'])
    expect(
      await messagesOf({ properties: { a: {}, b: {} }, dependentRequired: { a: ['b'] } }, { a: 1 }),
    ).toEqual(["b: is required when 'a' is given"])
  })

  test('the second check answers at once', async () => {
    const compiled = compileSchema(open, 'input')
    expect(compiled.check({})).toBeInstanceOf(Promise)
    await compiled.check({})
    expect(compiled.check({})).toEqual({ ok: true, value: {} })
  })
})

import { createServer } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadEngine } from '../../src/core/tool.ts'
import type { Outcome } from '../../src/protocol/outcome.ts'
import { defineForeign } from '../../src/registry/foreign/define-foreign.ts'
import type { ForeignMetadata } from '../../src/registry/source.ts'
import { rounds } from '../support/rounds.ts'

const tame = (facts: unknown) => {
  const notes: string[] = []
  const calls: unknown[] = []
  const definition = defineForeign(
    'theirs',
    facts as ForeignMetadata,
    (input) => {
      calls.push(input)
      return { got: input }
    },
    (note) => notes.push(note),
  )
  const call = async (input: unknown): Promise<Outcome> =>
    (await (await loadEngine()).invoke(definition, input, {}, { tool: 'x.theirs' })).outcome
  const manifest = async () => (await definition.compiled()).manifest
  return { definition, notes, calls, call, manifest }
}
const withInput = (inputSchema: unknown) => tame({ inputSchema })
const ok = (outcome: Outcome) => (outcome.ok ? true : outcome.error)

describe('descriptions of somebody else', () => {
  test.each([
    ['nothing at all', undefined, { any: 1 }],
    ['true', true, { any: 1 }],
    ['false', false, { any: 1 }],
    ['a list', [], { any: 1 }],
    ['a text', 'object', { any: 1 }],
    ['a schema as text', '{"type":"object","properties":{"a":{"type":"integer"}}}', { a: 1 }],
    ['an empty object', {}, { any: 1 }],
    [
      'object or null',
      { type: ['object', 'null'], properties: { a: { type: 'string' } } },
      { a: 'x' },
    ],
    ['no type', { properties: { a: { type: 'string' } } }, { a: 'x' }],
    ['a root that is no object', { type: 'string' }, { any: 1 }],
    ['a root that is a list', { type: 'array', items: {} }, { any: 1 }],
    ['a root of values', { enum: [{ a: 1 }] }, { b: 2 }],
    [
      'a root union with null',
      { anyOf: [{ type: 'object', properties: { a: {} } }, { type: 'null' }] },
      { a: 1 },
    ],
    [
      'fields without an object',
      { city: { type: 'string' }, days: { type: 'int' } },
      { city: 'Oslo', days: 2 },
    ],
    [
      'types of Python',
      {
        type: 'dict',
        properties: {
          a: { type: 'str' },
          b: { type: 'List[int]' },
          c: { type: 'Optional[float]' },
          d: { type: 'bool' },
          e: { type: 'Dict[str, Any]' },
        },
      },
      { a: 'x', b: [1], c: null, d: true, e: { k: 1 } },
    ],
    ['types in capitals', { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, { a: 'x' }],
    [
      'fields that are only words',
      {
        type: 'object',
        properties: { a: 'string', b: 'The number of days', c: null, d: ['string', 'null'] },
      },
      { a: 'x', b: 7, c: 1, d: null },
    ],
    [
      'fields as a list',
      { type: 'object', properties: [{ name: 'a', type: 'string' }] },
      { a: 'x' },
    ],
    [
      'required on the field',
      { type: 'object', properties: { a: { type: 'string', required: true } } },
      { a: 'x' },
    ],
    ['required that is true', { type: 'object', required: true, properties: { a: {} } }, {}],
    [
      'required that nobody described',
      { type: 'object', properties: {}, required: ['a'] },
      { a: 1 },
    ],
    [
      'keywords of the wrong kind',
      {
        type: 'object',
        properties: { a: { type: 'string', minLength: 'x', pattern: 5, enum: 'a', format: 7 } },
        allOf: 5,
        anyOf: {},
        $defs: 3,
      },
      { a: 'x' },
    ],
    [
      'draft 4',
      {
        $schema: 'http://json-schema.org/draft-04/schema#',
        type: 'object',
        properties: { a: { minimum: 3, exclusiveMinimum: true } },
      },
      { a: 4 },
    ],
    [
      'numbers as text',
      { type: 'object', properties: { a: { type: 'integer', minimum: '3' } } },
      { a: 3 },
    ],
    [
      'nullable of OpenAPI',
      { type: 'object', properties: { a: { type: 'string', nullable: true, enum: ['x'] } } },
      { a: null },
    ],
    [
      'a default that does not fit',
      {
        type: 'object',
        properties: {
          a: { type: 'string', default: null },
          b: { anyOf: [{ type: 'integer' }], default: 'x' },
        },
      },
      {},
    ],
    [
      'a pattern of Python',
      { type: 'object', properties: { a: { type: 'string', pattern: '^(?P<n>\\d+)\\-x\\Z' } } },
      { a: '12-x' },
    ],
    [
      'a pattern of nobody',
      {
        type: 'object',
        properties: { a: { type: 'string', pattern: '(((' } },
        patternProperties: { '[': { type: 'integer' } },
      },
      { a: 'x', other: 1 },
    ],
    [
      'formats from Object.prototype',
      {
        type: 'object',
        properties: {
          a: { type: 'string', format: '__proto__' },
          b: { type: 'string', format: 'constructor' },
        },
      },
      { a: 'x', b: 'y' },
    ],
    [
      'keys of Object.prototype',
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"string"}},"required":["__proto__"]}',
      ) as unknown,
      JSON.parse('{"__proto__":"x","constructor":"y"}') as unknown,
    ],
    [
      'a reference to the web',
      {
        type: 'object',
        properties: { a: { $ref: 'https://example.com/schema.json' }, b: { type: 'string' } },
      },
      { a: { anything: 1 }, b: 'x' },
    ],
    [
      'a reference to nothing',
      { type: 'object', properties: { a: { $ref: '#/$defs/Nobody' } } },
      { a: 1 },
    ],
    [
      'a reference to components',
      {
        type: 'object',
        properties: { a: { $ref: '#/components/schemas/A' } },
        components: { schemas: { A: { type: 'int' } } },
      },
      { a: 1 },
    ],
    ['a reference to itself', { $ref: '#' }, { any: 1 }],
    [
      'references in a circle',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/A' } },
        $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } },
      },
      { a: 1 },
    ],
    [
      'a recursive type',
      {
        $ref: '#/definitions/Node',
        definitions: {
          Node: { type: 'object', properties: { next: { $ref: '#/definitions/Node' } } },
        },
      },
      { next: { next: { next: { next: { next: {} } } } } },
    ],
  ])('[6.foreign-schemas] %s: the tool works', async (_name, schema, input) => {
    const { call, calls, manifest } = withInput(schema)
    expect(ok(await call(input))).toBe(true)
    expect(calls).toEqual([input])
    expect((await manifest()).inputSchema['type']).toBe('object')
    expect(JSON.stringify((await manifest()).inputSchema)).not.toMatch(/"\$(ref|defs|id)"/)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('what they do say is held to', async () => {
    const { call, calls } = withInput({
      type: 'dict',
      properties: { a: { type: 'int', minimum: '3' }, b: { type: 'string', required: true } },
    })
    expect(await call({ a: 2, b: 'x' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect(await call({ a: 4 })).toMatchObject({ ok: false, error: { code: 'MISSING_PARAM' } })
    expect(await call({ a: 4, b: 'x', c: 1 })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect(calls).toEqual([])
  })

  test('[6.foreign-refs] nothing is fetched for a remote reference, and a note says so', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const { call, notes } = withInput({
      type: 'object',
      properties: { a: { $ref: `http://127.0.0.1:${port}/schema.json` } },
    })
    expect(ok(await call({ a: [1] }))).toBe(true)
    await new Promise((resolve) => server.close(resolve))
    expect(connections).toBe(0)
    expect(notes).toEqual([expect.stringContaining(`http://127.0.0.1:${port}/schema.json`)])
  })
})

describe('hostile descriptions', () => {
  const bomb = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/L0' } },
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `L${level}`,
        level === 39
          ? { type: 'string' }
          : { allOf: [{ $ref: `#/$defs/L${level + 1}` }, { $ref: `#/$defs/L${level + 1}` }] },
      ]),
    ),
  }
  const deep = (levels: number): unknown => {
    let schema: unknown = { type: 'string' }
    for (let level = 0; level < levels; level += 1)
      schema = { type: 'object', properties: { a: schema } }
    return schema
  }
  const laughs = (() => {
    let shared: unknown = { type: 'string' }
    for (let level = 0; level < 30; level += 1)
      shared = { type: 'object', properties: { a: shared, b: shared } }
    return shared
  })()
  const circle: { type: string; properties: Record<string, unknown> } = {
    type: 'object',
    properties: {},
  }
  circle.properties['self'] = circle

  test.each([
    ['a bomb of references', bomb, { a: 'x' }],
    ['100,000 levels', deep(100_000), { a: { a: {} } }],
    ['shared parts that multiply', laughs, { a: { b: {} } }],
    ['an object that contains itself', circle, { self: {} }],
    [
      '100,000 fields',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 100_000 }, (_, index) => [`f${index}`, { type: 'string' }]),
        ),
      },
      { f1: 'x' },
    ],
    [
      '100,000 values',
      {
        type: 'object',
        properties: { a: { enum: Array.from({ length: 100_000 }, (_, index) => `v${index}`) } },
      },
      { a: 'x' },
    ],
    ['10 MB of words', { type: 'object', description: 'x'.repeat(10_000_000), properties: {} }, {}],
  ])('[6.foreign-bounds] %s: the tool works, its schema is small', async (_name, schema, input) => {
    const { call, manifest } = withInput(schema)
    expect(ok(await call(input))).toBe(true)
    expect(JSON.stringify((await manifest()).inputSchema).length).toBeLessThan(1_500_000)
  })

  test.each([
    '(a+)+$',
    '^(a|a)*$',
    '(a|aa)+$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '^(.*a){20}$',
    '\\s+$',
    '^(?=(a+)+b)',
  ])('[6.foreign-patterns] the pattern %s blocks nobody', async (pattern) => {
    const { call, calls } = withInput({
      type: 'object',
      properties: { a: { type: 'string', pattern } },
    })
    const text = pattern === '\\s+$' ? `${' '.repeat(100_000)}x` : `${'a'.repeat(100_000)}!`
    expect(await call({ a: text })).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } })
    expect(calls).toEqual([])
  })

  test('a pattern that could be evil is still held to on ordinary text', async () => {
    const { call } = withInput({
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(\\w+\\s?)+$' } },
    })
    expect(ok(await call({ a: 'two words' }))).toBe(true)
    expect(await call({ a: '!' })).toMatchObject({ ok: false, error: { code: 'INVALID_INPUT' } })
  })

  test('escapes, control characters and invisible text are taken out of words', async () => {
    const { definition, manifest } = tame({
      title: '\u001b[31mRed\u001b[0m',
      summary: '\u001b]0;title\u0007Sum\u0000mary\u202e',
      description: 'a\u200bb\udb40\udc41c\r\nnext \ud800',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'string', description: '\u001b[2Jgone' } },
      },
    })
    expect(definition.metadata).toMatchObject({
      title: 'Red',
      summary: 'Summary',
      description: 'abc\nnext \ufffd',
    })
    expect((await manifest()).inputSchema).toMatchObject({
      properties: { a: { description: 'gone' } },
    })
  })

  test('facts of the wrong kind are left out, long ones cut', () => {
    const { definition } = tame({
      title: 5,
      summary: ['x'],
      description: 'd'.repeat(100_000),
      tags: ['a', 5, 'a', null],
      annotations: { readOnly: 'yes', destructive: true, other: true },
      timeout: 'soon',
      dryRun: 1,
      streaming: 'no',
      examples: [{ input: { a: 'x' } }, { input: { a: 5 } }, 'x', { args: [1] }, {}],
      errors: { E1: 'text', bad: 'x', E2: 5, E3: { message: 'm', category: 'nobody' } },
      mcp: { task: 'x' },
      permissions: 5,
      unknown: 1,
      inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
    })
    const { description, ...facts } = definition.metadata
    expect(description).toHaveLength(16_000)
    expect(facts).toEqual({
      name: 'theirs',
      summary: `${'d'.repeat(197)}...`,
      tags: ['a'],
      streaming: false,
      session: false,
      annotations: { destructive: true },
      examples: [{ input: { a: 'x' } }],
      errors: { E1: { message: 'text' }, E3: { message: 'm' } },
      positional: [],
      flags: {},
      dryRun: false,
    })
    for (const nothing of [null, undefined, 5, 'x', []])
      expect(tame(nothing).definition.metadata.summary).toBe('theirs')
  })

  test('nothing that JSON can say makes a tool that cannot be defined, compiled or called', async () => {
    const words = fc.constantFrom(
      'type',
      'properties',
      'required',
      'items',
      'anyOf',
      'allOf',
      'oneOf',
      '$ref',
      '$defs',
      'definitions',
      'enum',
      'const',
      'default',
      'pattern',
      'patternProperties',
      'additionalProperties',
      'not',
      'if',
      'then',
      'minimum',
      'exclusiveMinimum',
      'format',
      '$id',
      '$anchor',
      '$dynamicRef',
      'prefixItems',
      'dependencies',
      'nullable',
      'a',
      'timeout',
      'output',
      'no-a',
      '__proto__',
    )
    const leaf = fc.oneof(
      fc.constantFrom(
        'object',
        'string',
        'int',
        'array',
        'null',
        '#',
        '#/$defs/a',
        '#/properties/a',
        'https://x.example/y',
        '[',
        '(a+)+$',
        '',
        'a',
      ),
      fc.integer({ min: -2, max: 5 }),
      fc.boolean(),
      fc.constant(null),
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5, depthSize: 'medium' },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(words, tie('tree'), { maxKeys: 5 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(
        tree,
        tree,
        fc.dictionary(words, tree, { maxKeys: 3 }),
        async (inputSchema, outputSchema, flags) => {
          const { definition, call } = tame({
            inputSchema,
            outputSchema,
            flags,
            positional: Object.keys(flags),
            examples: [flags],
            errors: flags,
            annotations: flags,
          })
          const { manifest } = await definition.compiled()
          // What stands in a value is data, whatever it is called.
          expect(
            JSON.stringify(manifest.inputSchema, (key, value: unknown) =>
              ['default', 'const', 'enum', 'examples'].includes(key) ? undefined : value,
            ),
          ).not.toMatch(/"\$ref":"/)
          expect(['success', 'error']).toContain((await call({ a: 1 })).status)
        },
      ),
      { numRuns: rounds(150) },
    )
  })
})

describe('fields that are called like flags', () => {
  test('the flag gets another name, the field keeps its own and means what its owner means', async () => {
    const { definition, call, calls } = withInput({
      type: 'object',
      properties: {
        output: { type: 'string' },
        timeout: { type: 'integer' },
        dry_run: { type: 'boolean' },
        working_dir: { type: 'string' },
        verbose: { type: 'boolean' },
        json: { type: 'boolean' },
        a_b: {},
        'a-b': {},
        '\u0007': {},
        color: { type: 'boolean' },
        'no-color': {},
      },
    })
    const input = {
      output: 'x',
      timeout: 60_000,
      dry_run: true,
      working_dir: '/nobody/has/this',
      verbose: true,
    }
    expect(ok(await call(input))).toBe(true)
    expect(calls).toEqual([input])
    const flags = definition.flagNames()
    expect(flags.size).toBe(11)
    for (const taken of ['output', 'timeout', 'dry-run', 'verbose', 'json', 'no-color', 'color'])
      expect(flags).not.toContain(taken)
    expect(flags).toContain('out-file')
  })

  test('short names, positions and environment are taken where they can be', () => {
    const { definition } = tame({
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'array' }, b: {}, c: {} },
        required: ['c'],
      },
      flags: {
        a: { short: 'o' },
        b: { short: 'b', env: 'B', name: 'bee' },
        c: { short: 'b', env: '1 2', name: '--' },
        nobody: { short: 'n' },
      },
      positional: ['b', 'b', 'c', 'a', 'nobody'],
    })
    expect(definition.metadata.flags).toEqual({ b: { name: 'bee', short: 'b', env: 'B' } })
    expect(definition.metadata.positional).toEqual(['b', 'a'])
  })
})

describe('output schemas of somebody else', () => {
  const output = async (outputSchema: unknown, result: unknown) => {
    const definition = defineForeign('theirs', { outputSchema } as ForeignMetadata, () => result)
    return (await (await loadEngine()).invoke(definition, {}, {}, { tool: 'x.theirs' })).outcome
  }

  test('results may have more fields than were described, unless their owner closed them', async () => {
    expect(
      ok(await output({ type: 'object', properties: { a: { type: 'int' } } }, { a: 1, more: 2 })),
    ).toBe(true)
    expect(
      (
        await output(
          { type: 'object', properties: { a: {} }, additionalProperties: false },
          { a: 1, more: 2 },
        )
      ).ok,
    ).toBe(false)
    expect(
      (await output({ type: 'object', properties: { a: { type: 'int' } } }, { a: 'x' })).ok,
    ).toBe(false)
  })

  test.each([true, {}, 'x', 5, { $ref: 'https://x.example/y' }, null])(
    '%j holds nobody to anything',
    async (schema) => expect(ok(await output(schema, 'text'))).toBe(true),
  )
})

import { call, functionTools } from 'toolable'
import type { AnyTool, FunctionManifest, ModuleManifest, Tool } from 'toolable'
import { describe, expect, test } from 'vitest'

const base = {
  summary: 'Does',
  positional: [],
  flags: {},
  annotations: {},
  examples: [],
  errors: {},
  tags: [],
  file: 'tools.ts',
  line: 1,
} as const

function manifestOf(
  given: Pick<FunctionManifest, 'name' | 'export' | 'input' | 'parameters'> &
    Partial<FunctionManifest>,
): ModuleManifest {
  return { name: 'tools', functions: [{ ...base, ...given }], problems: [] }
}

// Through JSON, as a cache or a built program carries it.
function toolOf(manifest: ModuleManifest, load: () => Promise<object>): Tool {
  const [tool] = functionTools(
    JSON.parse(JSON.stringify(manifest)) as ModuleManifest,
    load,
  ) as readonly AnyTool[]
  return tool as Tool
}

const open = { type: 'object', properties: { value: {} } } as const

describe('tools of a manifest', () => {
  test('nothing is imported before a call, and a failed import is tried again [3.functions-manifest]', async () => {
    let imports = 0
    const tool = toolOf(
      manifestOf({
        name: 'give',
        export: 'give',
        input: open,
        parameters: [{ from: 'field', field: 'value' }],
        deprecated: 'use take',
      }),
      async () => {
        imports += 1
        if (imports === 1) throw new Error('not yet')
        return { give: (value: unknown) => value }
      },
    )
    expect((await tool.manifest()).description).toBe('Deprecated: use take')
    expect(imports).toBe(0)
    expect(await call(tool, { value: 1 })).toMatchObject({
      ok: false,
      error: { message: 'not yet' },
    })
    expect(await call(tool, { value: 1 })).toMatchObject({ ok: true, result: 1 })
    expect(await call(tool, { value: 2 })).toMatchObject({ ok: true, result: 2 })
    expect(imports).toBe(2)
  })

  test('an export that is gone is told [3.functions-manifest]', async () => {
    const tool = toolOf(
      manifestOf({ name: 'give', export: 'default.give', input: open, parameters: [] }),
      async () => ({ default: {} }),
    )
    expect(await call(tool, {})).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', message: "the module exports no function 'default.give' any more" },
    })
  })

  test('members of a default export are called on it, and found there where they have no name of their own [3.functions-manifest]', async () => {
    const counter = {
      from: 5,
      next() {
        return this.from + 1
      },
    }
    const inside = toolOf(
      manifestOf({ name: 'next', export: 'default.next', input: open, parameters: [] }),
      async () => ({ default: counter }),
    )
    expect(await call(inside, {})).toMatchObject({ result: 6 })
    const unnamed = toolOf(
      manifestOf({ name: 'next', export: 'next', input: open, parameters: [] }),
      async () => ({ default: { next: () => 7 } }),
    )
    expect(await call(unnamed, {})).toMatchObject({ result: 7 })
  })

  test('arguments that nobody gives are not there [3.functions-parameters]', async () => {
    const tool = toolOf(
      manifestOf({
        name: 'count',
        export: 'count',
        input: { type: 'object', properties: { first: {}, root: {}, files: { type: 'array' } } },
        parameters: [
          { from: 'field', field: 'first' },
          { from: 'nothing' },
          { from: 'fields', fields: [{ property: 'where', field: 'root' }], optional: true },
          { from: 'rest', field: 'files' },
        ],
      }),
      async () => ({ count: (...args: unknown[]) => args }),
    )
    expect(await call(tool, {})).toMatchObject({ result: [] })
    expect(await call(tool, { first: 1 })).toMatchObject({ result: [1] })
    expect(await call(tool, { first: 1, root: '.' })).toMatchObject({
      result: [1, null, { where: '.' }],
    })
    expect(await call(tool, { first: 1, files: ['a', 'b'] })).toMatchObject({
      result: [1, null, null, 'a', 'b'],
    })
  })

  test('texts become what the function takes, at every depth, or are refused by their place [3.functions-types]', async () => {
    const tool = toolOf(
      manifestOf({
        name: 'take',
        export: 'take',
        input: open,
        conversions: {
          Tree: {
            object: {
              fields: { at: { text: 'date' }, inner: { list: { items: { ref: 'Tree' } } } },
            },
          },
        },
        parameters: [
          {
            from: 'field',
            field: 'value',
            convert: {
              object: {
                fields: {
                  tree: { ref: 'Tree' },
                  url: { text: 'url' },
                  regexp: { text: 'regexp' },
                  big: { text: 'bigint', number: 'bigint' },
                  bytes: { text: 'bytes' },
                  buffer: { text: 'buffer' },
                  set: { list: { to: 'set' } },
                  map: { object: { to: 'map', values: { text: 'date' } } },
                  pairs: {
                    list: { to: 'map', items: { list: { first: [null, { text: 'bigint' }] } } },
                  },
                  shape: {
                    object: {
                      variants: [
                        {
                          property: 'kind',
                          values: ['dated'],
                          convert: { fields: { at: { text: 'date' } } },
                        },
                        { property: 'kind', values: ['plain'], convert: {} },
                      ],
                    },
                  },
                },
              },
            },
          },
        ],
      }),
      async () => ({
        take: (given: { [name: string]: unknown }) =>
          Object.fromEntries(
            Object.entries(given).map(([name, value]) => [name, describeValue(value)]),
          ),
      }),
    )
    expect(
      await call(tool, {
        value: {
          tree: { at: '2026-01-01', inner: [{ at: '2026-01-02T00:00:00Z', inner: [] }] },
          url: 'https://example.org/a',
          regexp: '/A+/gi',
          big: '12',
          bytes: 'AQI=',
          buffer: 'AQI=',
          set: ['a', 'a'],
          map: { a: '2026-01-01' },
          pairs: [[1, '2']],
          shape: { kind: 'dated', at: '2026-01-01' },
          other: 'as it is',
        },
      }),
    ).toMatchObject({
      result: {
        tree: { at: 'Date', inner: [{ at: 'Date', inner: [] }] },
        url: 'URL',
        regexp: 'RegExp',
        big: 'bigint',
        bytes: 'Uint8Array',
        buffer: 'Buffer',
        set: 'Set',
        map: 'Map',
        pairs: 'Map',
        shape: { kind: 'string', at: 'Date' },
        other: 'string',
      },
    })
    expect(await call(tool, { value: { tree: { at: 'never', inner: [] } } })).toMatchObject({
      error: {
        code: 'INVALID_INPUT',
        field: 'value.tree.at',
        message: expect.stringContaining('must be a date such as'),
      },
    })
    expect(await call(tool, { value: { bytes: 'no!' } })).toMatchObject({
      error: { code: 'INVALID_INPUT', field: 'value.bytes' },
    })
    expect(
      await call(tool, { value: { shape: { kind: 'plain', at: '2026-01-01' } } }),
    ).toMatchObject({ result: { shape: { kind: 'string', at: 'string' } } })
  })

  test('results become JSON: classes of the language, of others, and what has none [3.functions-returns]', async () => {
    class Point {
      constructor(
        readonly x: number,
        readonly y: number,
      ) {}
      length(): number {
        return Math.hypot(this.x, this.y)
      }
    }
    const results: { [name: string]: () => unknown } = {
      date: () => new Date(0),
      url: () => new URL('https://example.org/'),
      regexp: () => /a/g,
      big: () => 2n ** 70n,
      bytes: () => new Uint8Array([1, 2]),
      buffer: () => Buffer.from('a'),
      floats: () => new Float64Array([0.5]),
      set: () => new Set([new Date(0)]),
      map: () => new Map([['a', 1n]]),
      pairs: () => new Map([[1, 'a']]),
      point: () => new Point(3, 4),
      error: () => new TypeError('bad'),
      nested: () => ({ list: [undefined, () => 1, { at: new Date(0), go: () => 1 }] }),
      nothing: () => undefined,
      parameters: () => new URLSearchParams('a=1'),
    }
    const expected: { [name: string]: unknown } = {
      date: '1970-01-01T00:00:00.000Z',
      url: 'https://example.org/',
      regexp: '/a/g',
      big: '1180591620717411303424',
      bytes: 'AQI=',
      buffer: 'YQ==',
      floats: [0.5],
      set: ['1970-01-01T00:00:00.000Z'],
      map: { a: '1' },
      pairs: [[1, 'a']],
      point: { x: 3, y: 4 },
      error: { name: 'TypeError', message: 'bad' },
      nested: { list: [null, null, { at: '1970-01-01T00:00:00.000Z' }] },
      nothing: null,
      parameters: 'a=1',
    }
    for (const [name, make] of Object.entries(results)) {
      const tool = toolOf(
        manifestOf({ name, export: name, input: open, parameters: [] }),
        async () => ({ [name]: make }),
      )
      expect(await call(tool, {}), name).toMatchObject({ ok: true, result: expected[name] })
    }
    const circle: { [key: string]: unknown } = {}
    circle['self'] = circle
    expect(
      await call(
        toolOf(
          manifestOf({ name: 'circle', export: 'circle', input: open, parameters: [] }),
          async () => ({ circle: () => circle }),
        ),
        {},
      ),
    ).toMatchObject({ ok: false, error: { code: 'INTERNAL' } })
  })

  test('leaving a stream ends the generator [3.functions-streams]', async () => {
    let ended = false
    const tool = toolOf(
      manifestOf({
        name: 'count',
        export: 'count',
        input: open,
        parameters: [],
        yields: 'items',
        collects: true,
      }),
      async () => ({
        async *count() {
          try {
            for (let at = 0; ; at++) yield at
          } finally {
            ended = true
          }
        },
      }),
    )
    const seen: unknown[] = []
    for await (const event of tool.stream({})) {
      if (event.type === 'item') seen.push(event.value)
      if (seen.length === 3) break
    }
    expect(seen).toEqual([0, 1, 2])
    await expect.poll(() => ended).toBe(true)
  })
})

function describeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(describeValue)
  if (typeof value !== 'object' || value === null) return typeof value
  const name = value.constructor.name
  return name === 'Object'
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, describeValue(item)]))
    : name
}

import { describe, expect, test } from 'vitest'
import { prompt, resource, tool, toolset } from 'toolable'
import { schemaSnapshot } from 'toolable/testing'
import { z } from 'zod'

const make = (fields: readonly ('b' | 'a')[]) =>
  tool({
    name: 'find',
    summary: 'Find',
    input: {
      type: 'object',
      properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])),
      required: fields,
      additionalProperties: false,
    },
    output: { type: 'array', items: { type: 'string', enum: ['z', 'a'] } },
    annotations: { readOnly: true },
    errors: { E3101: 'nothing found' },
    positional: ['a'],
    run: () => ['z' as const],
  })

describe('schemaSnapshot [2.kit-schema-snapshot]', () => {
  test('of a tool: names, schemas, annotations and errors, sorted', async () => {
    const snapshot = await schemaSnapshot(make(['b', 'a']))
    expect(JSON.stringify(snapshot)).toBe(
      JSON.stringify({
        annotations: { readOnly: true },
        errors: { E3101: { message: 'nothing found' } },
        flags: {},
        input: {
          additionalProperties: false,
          properties: { a: { type: 'string' }, b: { type: 'string' } },
          required: ['a', 'b'],
          type: 'object',
        },
        name: 'find',
        output: { items: { enum: ['z', 'a'], type: 'string' }, type: 'array' },
        positional: ['a'],
      }),
    )
    expect(await schemaSnapshot(make(['a', 'b']))).toEqual(snapshot)
  })

  test('of a toolset: everything by name, whatever the order and the version', async () => {
    const count = tool({
      name: 'count',
      summary: 'Count',
      input: z.object({ n: z.int() }),
      async *run() {
        yield 1 as never
      },
    })
    const notes = resource({ uri: 'notes://{id}', summary: 'Notes', read: () => '' })
    const review = prompt({
      name: 'review',
      summary: 'Review',
      arguments: { code: 'The code' },
      render: () => '',
    })
    const options = { name: 'prog', resources: [notes], prompts: [review] }
    const one = await schemaSnapshot(
      toolset({ ...options, version: '1.0.0', tools: [count, make(['a', 'b'])] }),
    )
    const other = await schemaSnapshot(
      toolset({ ...options, version: '2.0.0', tools: [make(['b', 'a']), count] }),
    )
    expect(JSON.stringify(one)).toBe(JSON.stringify(other))
    expect(one).toMatchObject({
      name: 'prog',
      tools: { count: { streaming: true }, find: { name: 'find' } },
      resources: ['notes://{id}'],
      prompts: { review: ['code'] },
    })
    expect(one).toEqual(JSON.parse(JSON.stringify(one)))
  })

  test('a change that callers can see changes it', async () => {
    const wide = tool({
      name: 'find',
      summary: 'Find',
      input: { type: 'object', properties: { a: { type: 'number' } } },
    })
    const narrow = tool({
      name: 'find',
      summary: 'Find',
      input: { type: 'object', properties: { a: { type: 'integer' } } },
    })
    expect(await schemaSnapshot(wide)).not.toEqual(await schemaSnapshot(narrow))
  })
})

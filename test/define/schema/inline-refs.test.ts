import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../../src/util/values.ts'
import { compileSchema } from '../../../src/define/schema/compile.ts'
import { inlineRefs } from '../../../src/define/schema/publish.ts'

const expectSelfContained = (schema: JsonSchema) =>
  expect(JSON.stringify(schema)).not.toMatch(
    /"\$(?:ref|defs|id|anchor|dynamicRef|dynamicAnchor)":|"definitions":/,
  )

describe('inlining', () => {
  test('puts definitions in place and keeps what stands beside the reference', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/A', description: 'Mine' },
        b: { $ref: '#/$defs/A', minLength: 2 },
      },
      $defs: { A: { type: 'string', description: 'Shared' } },
    }
    expect(inlineRefs(schema)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', description: 'Mine' },
        b: { minLength: 2, allOf: [{ type: 'string', description: 'Shared' }] },
      },
    })
  })

  test('follows references through references', () => {
    expect(
      inlineRefs({
        $ref: '#/$defs/A',
        $defs: { A: { $ref: '#/$defs/B' }, B: { type: 'integer' } },
      }),
    ).toEqual({ type: 'integer' })
  })

  test('properties that are named like keywords stay', () => {
    const schema = {
      type: 'object',
      properties: {
        $ref: { type: 'string' },
        definitions: { type: 'string' },
        $defs: { type: 'string' },
      },
    }
    expect(inlineRefs(schema)).toEqual(schema)
  })

  test('recursive types are written out three times and end open, with their type and a word about it', () => {
    const inlined = inlineRefs({
      $ref: '#/$defs/Node',
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    })
    const end = { type: 'object', description: 'Nests further in the same way as above' }
    const level = (next: unknown) => ({ type: 'object', properties: { next } })
    expect(inlined).toEqual(level(level(level(end))))
  })

  test('the end stays open when published, so that deep values fit what is shown', () => {
    const { json } = compileSchema(
      { type: 'object', properties: { next: { $ref: '#' }, n: { type: 'integer' } } },
      'input',
    )
    expectSelfContained(json)
    let here: unknown = json
    for (let depth = 0; depth < 3; depth += 1)
      here = (here as { properties: { next: unknown } }).properties.next
    expect(here).toEqual({ type: 'object', description: 'Nests further in the same way as above' })
  })

  test('a wide recursive type stays small', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`field${index}`, { $ref: '#' }]),
    )
    const inlined = inlineRefs({
      type: 'object',
      properties: { ...fields, list: { type: 'array', items: { $ref: '#' } } },
    })
    expectSelfContained(inlined)
    expect(JSON.stringify(inlined).length).toBeLessThan(500_000)
  })

  test('definitions that double at every step do not explode', () => {
    const $defs: Record<string, unknown> = { D40: { type: 'string' } }
    for (let index = 39; index >= 0; index -= 1)
      $defs[`D${index}`] = {
        type: 'object',
        properties: {
          left: { $ref: `#/$defs/D${index + 1}` },
          right: { $ref: `#/$defs/D${index + 1}` },
        },
      }
    const inlined = inlineRefs({ $ref: '#/$defs/D0', $defs })
    expectSelfContained(inlined)
    expect(JSON.stringify(inlined).length).toBeLessThan(2_000_000)
  })
})

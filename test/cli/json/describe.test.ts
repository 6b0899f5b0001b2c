import { describe, expect, test } from 'vitest'
import { ERROR_TABLE } from '../../../src/protocol/errors.ts'
import {
  buildDescribeDocument,
  buildToolsetDescribeDocument,
  describeErrors,
  describeInputs,
} from '../../../src/cli/tool-documents.ts'
import { findFiles, prList, toolset } from './toolset.ts'

test('one tool: the orchestration manifest in its order, then ours', () => {
  const document = buildDescribeDocument(findFiles, toolset)
  expect(Object.keys(document)).toEqual([
    'name',
    'version',
    'protocol_version',
    'inputs',
    'permissions',
    'resources',
    'env',
    'exit_codes',
    'health',
    'summary',
    'timeout',
    'errors',
  ])
  expect(document).toMatchObject({
    name: 'find_files',
    version: '1.2.0',
    protocol_version: 1,
    inputs: [
      { name: 'pattern', type: 'string', required: true, description: 'Glob' },
      { name: 'root', type: 'path', required: false },
    ],
    permissions: { filesystem: 'read-write', network: 'none' },
    resources: {},
    env: { require: [] },
    exit_codes: { ok: 0, retryable_error: 75, fatal_error: 1 },
    health: { selftest: ['--selftest'], describe: ['--describe'] },
  })
})

test('a tool’s own permissions win, and resources stand beside them', () => {
  expect(buildDescribeDocument(prList, toolset)).toMatchObject({
    permissions: {
      filesystem: { read: ['${WORKSPACE}/**'] },
      network: { egress_allow: ['api.example.com:443'] },
    },
    resources: { cpu_seconds: 60, memory_mb: 256 },
  })
  expect(
    (buildDescribeDocument(prList, toolset) as { permissions: object }).permissions,
  ).not.toHaveProperty('resources')
  expect(buildDescribeDocument(findFiles, { version: '1.0.0' })).toMatchObject({
    permissions: {},
    resources: {},
  })
})

test('a whole program lists its tools, and says once what is true of all', () => {
  const document = buildToolsetDescribeDocument(toolset) as {
    tools: { name: string; errors?: object }[]
    errors: object
  }
  expect(document).toMatchObject({
    name: 'file-tools',
    version: '1.2.0',
    protocol_version: 1,
    permissions: toolset.permissions,
    exit_codes: { ok: 0, fatal_error: 1, timeout: 124 },
  })
  expect(document.tools.map(({ name }) => name)).toEqual(['find_files', 'pr_list'])
  expect(Object.keys(document.tools[0]!.errors!)).toEqual(['E3101', 'NOT_FOUND'])
  expect(document.tools[1]).not.toHaveProperty('errors')
  expect(Object.keys(document.errors)).toEqual(Object.keys(ERROR_TABLE))
  expect(buildToolsetDescribeDocument(toolset)).not.toHaveProperty('entry')
})

test('every exit status that the table can give is named', () => {
  const { exit_codes: codes } = buildToolsetDescribeDocument(toolset) as {
    exit_codes: Record<string, number>
  }
  const named = Object.values(codes)
  for (const { exit } of Object.values(ERROR_TABLE)) expect(named).toContain(exit)
  expect(named).toEqual(expect.arrayContaining([0, 64, 65, 129, 130, 143]))
  expect(new Set(named).size).toBe(named.length)
})

describe('errors', () => {
  const described = describeErrors({
    ...findFiles.errors,
    E4102: { message: 'Busy', retryable: true },
    E_MY_THING: { message: 'Broken' },
  })

  test('each code of the table comes with its advice', () => {
    for (const [code, row] of Object.entries(ERROR_TABLE))
      expect(described[code]).toMatchObject({ exit: row.exit, advice: row.advice })
  })

  test('a tool changes the text of a code of the table, and nothing else', () => {
    expect(described.NOT_FOUND).toEqual({
      category: 'state',
      exit: 66,
      recoverable: true,
      retryable: false,
      message: 'No such folder',
      advice: ERROR_TABLE.NOT_FOUND.advice,
    })
    expect(described).not.toHaveProperty('E3001')
  })

  test('its own codes have facts and advice too', () => {
    expect(described.E3101).toEqual({
      category: 'state',
      exit: 1,
      recoverable: true,
      retryable: false,
      message: 'No files matched',
      advice: 'Change the request as the message says and call again',
    })
    expect(described.E4102).toMatchObject({
      exit: 75,
      retryable: true,
      advice: 'Retry with backoff, three times at most',
    })
    expect(described.E_MY_THING).toMatchObject({
      category: 'runtime',
      exit: 1,
      advice: 'Do not retry; tell the user',
    })
  })
})

describe('types of inputs', () => {
  test.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'path' }, 'path'],
    [{ type: 'string', format: 'date' }, 'string'],
    [{ type: 'integer', minimum: 1 }, 'integer'],
    [{ type: 'array', items: {} }, 'array'],
    [{ type: ['string', 'null'], format: 'path' }, 'path'],
    [{ type: ['string', 'number'] }, 'any'],
    [{ enum: ['a', 'b'] }, 'string'],
    [{ enum: ['a', 1] }, 'any'],
    [{ enum: [1, 2, null] }, 'integer'],
    [{ const: true }, 'boolean'],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number'],
    [{ anyOf: [{ type: 'number' }, { type: 'string' }] }, 'any'],
    [{ oneOf: [{ const: 'a' }, { const: 'b' }] }, 'string'],
    [{}, 'any'],
    [true, 'any'],
  ])('%j is %s', (schema, type) => {
    expect(describeInputs({ type: 'object', properties: { x: schema } })).toEqual([
      { name: 'x', type, required: false },
    ])
  })

  test('a schema without properties has no inputs', () => {
    expect(describeInputs({})).toEqual([])
    expect(describeInputs({ type: 'object', properties: null })).toEqual([])
  })
})

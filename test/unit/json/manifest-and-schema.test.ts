import { describe, expect, test } from 'vitest'
import { manifestDocument, toolsetManifestDocument } from '../../../src/surfaces/json/manifest.ts'
import { schemaDocument, toolsetSchemaDocument } from '../../../src/surfaces/json/schema.ts'
import { simpleSchemaDocument, simpleSchemasDocument } from '../../../src/surfaces/json/simple.ts'
import { SIMPLE_ANSWER, SIMPLE_PROBE } from '../../../src/surfaces/json/simple-probe.ts'
import { findFiles, prList, toolset } from './toolset.ts'

describe('--manifest', () => {
  test('the specification’s fields in its order, then ours', () => {
    const document = manifestDocument(findFiles)
    expect(Object.keys(document)).toEqual([
      'name',
      'summary',
      'description',
      'streaming',
      'session_mode',
      'schema',
      'examples',
      'tags',
      'output_schema',
      'annotations',
      'errors',
      'timeout',
    ])
    expect(document).toEqual({
      name: 'find_files',
      summary: 'Find files matching a glob',
      description: 'Find files matching a glob pattern in a directory tree.',
      streaming: true,
      session_mode: false,
      schema: findFiles.inputSchema,
      examples: findFiles.examples,
      tags: ['files'],
      output_schema: { type: 'array' },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      errors: findFiles.errors,
      timeout: 60,
    })
  })

  test('what a tool does not say is left out', () => {
    expect(JSON.stringify(manifestDocument(prList))).toBe(
      '{"name":"pr_list","summary":"List pull requests","description":"","streaming":false,"session_mode":true,"schema":{"type":"object","properties":{}}}',
    )
  })

  test('a whole program', () => {
    const document = toolsetManifestDocument(toolset) as { tools: object[] }
    expect(Object.keys(document)).toEqual([
      'name',
      'version',
      'description',
      'tools',
      'resources',
      'prompts',
    ])
    expect(document.tools).toEqual([manifestDocument(findFiles), manifestDocument(prList)])
  })
})

describe('--schema', () => {
  test('one tool', () => {
    const document = schemaDocument(findFiles)
    expect(Object.keys(document)).toEqual([
      'name',
      'title',
      'description',
      'input_schema',
      'output_schema',
      'annotations',
      'examples',
    ])
    expect(document).toMatchObject({
      name: 'find_files',
      input_schema: findFiles.inputSchema,
      output_schema: { type: 'array' },
      annotations: { readOnlyHint: true },
      examples: findFiles.examples,
    })
  })

  test('a tool that says little', () => {
    expect(schemaDocument(prList)).toEqual({
      name: 'pr_list',
      description: 'List pull requests',
      input_schema: prList.inputSchema,
      annotations: {},
      examples: [],
    })
  })

  test('all tools', () => {
    expect(toolsetSchemaDocument(toolset)).toEqual({
      name: 'file-tools',
      version: '1.2.0',
      tools: [schemaDocument(findFiles), schemaDocument(prList)],
    })
  })
})

describe('Simple JSON', () => {
  test('the probe and its answer, byte for byte', () => {
    expect(SIMPLE_PROBE).toBe('{"__test__": true}')
    expect(JSON.stringify(SIMPLE_ANSWER)).toBe('{"success":true,"_simple":true}')
  })

  test('one schema, or a list', () => {
    expect(JSON.stringify(simpleSchemaDocument(prList))).toBe(
      '{"name":"pr_list","description":"List pull requests","parameters":{"type":"object","properties":{}}}',
    )
    expect(simpleSchemasDocument(toolset)).toEqual([
      simpleSchemaDocument(findFiles),
      simpleSchemaDocument(prList),
    ])
  })
})

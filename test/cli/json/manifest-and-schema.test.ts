import { describe, expect, test } from 'vitest'
import {
  buildManifestDocument,
  buildSchemaDocument,
  buildSimpleSchemaDocument,
  buildSimpleSchemasDocument,
  buildToolsetManifestDocument,
  buildToolsetSchemaDocument,
} from '../../../src/cli/tool-documents.ts'
import { SIMPLE_JSON_ANSWER, SIMPLE_JSON_PROBE } from '../../../src/cli/discovery.ts'
import { findFiles, prList, toolset } from './toolset.ts'

describe('--manifest', () => {
  test('the specification’s fields in its order, then ours', () => {
    const document = buildManifestDocument(findFiles)
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
    expect(JSON.stringify(buildManifestDocument(prList))).toBe(
      '{"name":"pr_list","summary":"List pull requests","description":"","streaming":false,"session_mode":true,"schema":{"type":"object","properties":{}}}',
    )
  })

  test('a whole program', () => {
    const document = buildToolsetManifestDocument(toolset) as { tools: object[] }
    expect(Object.keys(document)).toEqual([
      'name',
      'version',
      'description',
      'tools',
      'resources',
      'prompts',
    ])
    expect(document.tools).toEqual([
      buildManifestDocument(findFiles),
      buildManifestDocument(prList),
    ])
  })
})

describe('--schema', () => {
  test('one tool', () => {
    const document = buildSchemaDocument(findFiles)
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
    expect(buildSchemaDocument(prList)).toEqual({
      name: 'pr_list',
      description: 'List pull requests',
      input_schema: prList.inputSchema,
      annotations: {},
      examples: [],
    })
  })

  test('all tools', () => {
    expect(buildToolsetSchemaDocument(toolset)).toEqual({
      name: 'file-tools',
      version: '1.2.0',
      tools: [buildSchemaDocument(findFiles), buildSchemaDocument(prList)],
    })
  })
})

describe('Simple JSON', () => {
  test('the probe and its answer, byte for byte', () => {
    expect(SIMPLE_JSON_PROBE).toBe('{"__test__": true}')
    expect(JSON.stringify(SIMPLE_JSON_ANSWER)).toBe('{"success":true,"_simple":true}')
  })

  test('one schema, or a list', () => {
    expect(JSON.stringify(buildSimpleSchemaDocument(prList))).toBe(
      '{"name":"pr_list","description":"List pull requests","parameters":{"type":"object","properties":{}}}',
    )
    expect(buildSimpleSchemasDocument(toolset)).toEqual([
      buildSimpleSchemaDocument(findFiles),
      buildSimpleSchemaDocument(prList),
    ])
  })
})

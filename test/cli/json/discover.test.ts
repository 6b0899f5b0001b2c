import { expect, test } from 'vitest'
import {
  buildDiscoverDocument,
  buildPromptsDocument,
  buildResourcesDocument,
  buildToolsDocument,
} from '../../../src/cli/discovery.ts'
import { toolset } from './toolset.ts'

const RESOURCES =
  '[{"uri_pattern":"notes://{id}","summary":"One note","mime_types":["text/markdown"],"tags":["notes"]},{"uri_pattern":"notes://all","summary":"All notes","mime_types":[],"tags":[]}]'
const PROMPTS =
  '[{"name":"review","summary":"Review a file","arguments":{"file":"The file","style":"","__proto__":"odd"},"tags":[]}]'

test('--discover is the specification’s document, key by key', () => {
  expect(JSON.stringify(buildDiscoverDocument(toolset))).toBe(
    '{"name":"file-tools","version":"1.2.0","tools":[' +
      '{"name":"find_files","summary":"Find files matching a glob","streaming":true,"session_mode":false},' +
      '{"name":"pr_list","summary":"List pull requests","streaming":false,"session_mode":true}' +
      `],"resources":${RESOURCES},"prompts":${PROMPTS}}`,
  )
})

test('--tools, --resources and --prompts', () => {
  expect(JSON.stringify(buildToolsDocument(toolset))).toBe(
    '{"tools":[{"name":"find_files","summary":"Find files matching a glob"},{"name":"pr_list","summary":"List pull requests"}]}',
  )
  expect(JSON.stringify(buildResourcesDocument(toolset))).toBe(`{"resources":${RESOURCES}}`)
  expect(JSON.stringify(buildPromptsDocument(toolset))).toBe(`{"prompts":${PROMPTS}}`)
})

test('a program with nothing in it has empty lists', () => {
  expect(buildDiscoverDocument({ ...toolset, tools: [], resources: [], prompts: [] })).toEqual({
    name: 'file-tools',
    version: '1.2.0',
    tools: [],
    resources: [],
    prompts: [],
  })
})

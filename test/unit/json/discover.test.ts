import { expect, test } from 'vitest'
import {
  discoverDocument,
  promptsDocument,
  resourcesDocument,
  toolsDocument,
} from '../../../src/surfaces/json/discover.ts'
import { toolset } from './toolset.ts'

const RESOURCES =
  '[{"uri_pattern":"notes://{id}","summary":"One note","mime_types":["text/markdown"],"tags":["notes"]},{"uri_pattern":"notes://all","summary":"All notes","mime_types":[],"tags":[]}]'
const PROMPTS =
  '[{"name":"review","summary":"Review a file","arguments":{"file":"The file","style":"","__proto__":"odd"},"tags":[]}]'

test('--discover is the specification’s document, key by key', () => {
  expect(JSON.stringify(discoverDocument(toolset))).toBe(
    '{"name":"file-tools","version":"1.2.0","tools":[' +
      '{"name":"find_files","summary":"Find files matching a glob","streaming":true,"session_mode":false},' +
      '{"name":"pr_list","summary":"List pull requests","streaming":false,"session_mode":true}' +
      `],"resources":${RESOURCES},"prompts":${PROMPTS}}`,
  )
})

test('--tools, --resources and --prompts', () => {
  expect(JSON.stringify(toolsDocument(toolset))).toBe(
    '{"tools":[{"name":"find_files","summary":"Find files matching a glob"},{"name":"pr_list","summary":"List pull requests"}]}',
  )
  expect(JSON.stringify(resourcesDocument(toolset))).toBe(`{"resources":${RESOURCES}}`)
  expect(JSON.stringify(promptsDocument(toolset))).toBe(`{"prompts":${PROMPTS}}`)
})

test('a program with nothing in it has empty lists', () => {
  expect(discoverDocument({ ...toolset, tools: [], resources: [], prompts: [] })).toEqual({
    name: 'file-tools',
    version: '1.2.0',
    tools: [],
    resources: [],
    prompts: [],
  })
})

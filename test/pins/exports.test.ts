import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// What stands here is public for years: a change of this list is a change for every user.
test('the names of toolable', async () => {
  expect(Object.keys(await import('toolable')).sort()).toEqual([
    'ToolError',
    'call',
    'fail',
    'jsonSchema',
    'ok',
    'partial',
    'prompt',
    'resource',
    'session',
    'stream',
    'tool',
    'toolset',
  ])
})

test('the names of toolable/zod', async () => {
  expect(Object.keys(await import('toolable/zod')).sort()).toEqual(['path'])
})

test('the entries of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { exports: object; type: string }
  expect(Object.keys(manifest.exports)).toEqual(['.', './zod', './package.json'])
  expect(manifest.type).toBe('module')
})

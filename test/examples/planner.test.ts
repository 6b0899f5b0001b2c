import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

const example = fileURLToPath(new URL('../../examples/planner/planner.mjs', import.meta.url))

test('a scripted model plans, lets the plan grow, and works through it [8.plan-section]', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [example], {
    encoding: 'utf8',
    timeout: HANG_MS,
    env: { PATH: process.env['PATH'], NODE_V8_COVERAGE: '' },
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout.split('\n')).toEqual([
    '0 of 3 steps done: Look at the pages',
    '0 of 3 steps done: Look at the pages',
    '  read_page {"page":"guide"}',
    '  read_page {"page":"faq"}',
    '1 of 3 steps done: Write the guide',
    '1 of 4 steps done: Write the guide',
    '1 of 4 steps done: Write the guide',
    '  write_page {"page":"guide","text":"Write a function, describe its input, run it."}',
    '2 of 4 steps done: Look at all of it once more',
    '2 of 4 steps done: Write the FAQ',
    '  write_page {"page":"faq","text":"Is it fast? Yes."}',
    '3 of 4 steps done: Look at all of it once more',
    '  read_page {"page":"guide"}',
    '  read_page {"page":"faq"}',
    '4 of 4 steps done: No page says TODO',
    'The manual is finished.',
    '1 Look at the pages: done',
    '2 Write the guide: done',
    '3 Look at all of it once more: done',
    '4 Write the FAQ: done',
    'completed',
    '',
  ])
})

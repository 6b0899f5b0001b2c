import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { HANG_MS } from '../support/limits.ts'

test('the example works offline: a mistake that is repaired, a call that is refused, an answer [8.agent-loop]', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('../../examples/agent/agent.mjs', import.meta.url))],
    { encoding: 'utf8', timeout: HANG_MS, env: { PATH: process.env['PATH'] } },
  )
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`Let me look.
  calls list_notes {}

  calls read_note {"name":"shoping"}
  gets ["shopping","ideas"]
  fails: there is no note 'shoping'
I mistyped it.
  calls read_note {"name":"shopping"}
  gets milk, bread

  calls delete_note {"name":"ideas"}
  delete_note is destructive. Run it with {"name":"ideas"}? No.
  fails: 'delete_note' was not run: its confirmation was declined
You need milk and bread. I did not delete your ideas, because you said no.
completed after 4 turns
`)
})

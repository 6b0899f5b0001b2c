import { expect, test } from 'vitest'
import { HttpSession } from '../../../src/surfaces/mcp/http/sessions.ts'

test('a session keeps the streams that run and the last that ended, not all it ever had', () => {
  const session = new HttpSession(undefined as never)
  session.caller = { ...session.caller, version: '2025-11-25' }
  const running = session.openStream()
  for (let index = 0; index < 500; index++) session.openStream().end()
  expect(session.streams.get(running.id!)).toBe(running)
  expect(session.streams.size).toBeLessThanOrEqual(60)
  expect([...session.streams.keys()].at(-1)).toBe('s501')
})

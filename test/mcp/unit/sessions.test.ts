import { expect, test } from 'vitest'
import { McpHttpSession } from '../../../src/mcp/http-legacy.ts'

test('a session keeps the streams that run and the last that ended, not all it ever had', () => {
  const session = new McpHttpSession({ stopping: new AbortController().signal } as never)
  session.client = { ...session.client, version: '2025-11-25' }
  let cancelled = false
  session.openStream(() => {
    cancelled = true
  })
  for (let index = 0; index < 500; index++) {
    const stream = session.openStream(() => undefined)
    stream.end()
    session.finish(stream)
  }
  const kept = Array.from({ length: 501 }, (_, index) => `s${index + 1}`).filter((id) =>
    session.resume(id, 0),
  )
  expect(kept.length).toBeLessThanOrEqual(101)
  expect([kept[0], kept.at(-1), cancelled]).toEqual(['s1', 's501', false])
  session.close()
  expect(session.resume('s501', 0)).toBeUndefined()
})

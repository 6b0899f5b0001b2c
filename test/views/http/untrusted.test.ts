import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { toolable } from '../../commands/support.ts'
import { startDashboard } from '../../dashboard/support/dashboard.ts'
import type { Dashboard } from '../../dashboard/support/dashboard.ts'
import { SAFE, ask } from './support/ask.ts'
import { SCRIPT, SCRIPT_FILE, makeProject } from './support/project.ts'

const folder = makeProject()
let dashboard: Dashboard
let run: string
beforeAll(async () => {
  await toolable(['run', 'says-script'], { cwd: folder })
  dashboard = await startDashboard(folder)
  run = readdirSync(join(folder, '.runs')).find((name) => name.startsWith('r-'))!
})

describe('what a tool says and leaves [10.ui-untrusted]', () => {
  test.each(['', '/events', '/log?file=stderr'])(
    'is JSON at runs/<run>%s, whatever it says',
    async (rest) => {
      const { status, headers, body } = await ask(
        dashboard.port,
        'GET',
        `/api/runs/${run}${rest}`,
        { authorization: `Bearer ${dashboard.token}`, accept: 'text/html' },
      )
      expect([status, headers['content-type'], headers]).toEqual([
        200,
        'application/json',
        expect.objectContaining(SAFE),
      ])
      expect(JSON.stringify(JSON.parse(body))).toContain(JSON.stringify(SCRIPT).slice(1, -1))
    },
  )

  test('is an attachment of no type, under a name that cannot break out of its header', async () => {
    const { status, headers, body } = await ask(
      dashboard.port,
      'GET',
      `/api/runs/${run}/artifacts/0`,
      { authorization: `Bearer ${dashboard.token}` },
    )
    expect([status, headers['content-type'], headers, body]).toEqual([
      200,
      'application/octet-stream',
      expect.objectContaining(SAFE),
      SCRIPT,
    ])
    expect(headers['content-security-policy']).toMatch(/; sandbox$/)
    expect(headers['content-disposition']).toBe(
      `attachment; filename="__img src=x onerror=alert(1)_.html"; filename*=UTF-8''%22%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E.html`,
    )
    expect((await dashboard.get(`/api/runs/${run}`)).artifacts[0].name).toBe(SCRIPT_FILE)
  })
})

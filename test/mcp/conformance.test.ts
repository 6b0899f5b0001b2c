import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  extras,
  runRequirements,
  runScenarios,
  summarise,
} from '../../scripts/conformance/suite.mjs'
import type { Scenario } from '../../scripts/conformance/suite.mjs'
import { serveHttp } from './support/serve.ts'
import type { HttpServer } from './support/serve.ts'

const LONG = 180_000
let server: HttpServer
let found: { readonly [set: string]: readonly Scenario[] }

// The two revisions wait most of the time, so they run side by side on one server, which has to
// keep their clients apart.
beforeAll(async () => {
  server = await serveHttp('conformance.mjs', ['--no-progressive'], { longest: LONG })
  const [older, newer] = await Promise.all([
    runRequirements(server.url, '2025-11-25'),
    runRequirements(server.url, '2026-07-28'),
  ])
  found = {
    '2025-11-25': older,
    '2026-07-28': newer,
    skills: await runScenarios(server.url, extras),
  }
  for (const [set, scenarios] of Object.entries(found))
    console.log(summarise(`conformance ${set}`, scenarios))
}, LONG)
afterAll(() => server?.stop())

describe('the official conformance suite [5.mcp-conformance]', () => {
  test.each([
    ['2025-11-25', 30, 3],
    ['2026-07-28', 37, 13],
    ['skills', 0, 3],
  ])('%s: all %i scored and %i unscored scenarios pass', (set, scored, unscored) => {
    const scenarios = found[set] ?? []
    expect(scenarios.filter((scenario) => scenario.scored).length).toBe(scored)
    expect(scenarios.filter((scenario) => !scenario.scored).length).toBe(unscored)
    expect(listChecks(scenarios, 'FAILURE')).toEqual([])
  })

  test('nothing that the specification only recommends is left out', () => {
    expect(Object.values(found).flatMap((scenarios) => listChecks(scenarios, 'WARNING'))).toEqual(
      [],
    )
  })
})

function listChecks(scenarios: readonly Scenario[], status: string): string[] {
  return scenarios.flatMap(({ name, checks }) =>
    checks
      .filter((check) => check.status === status)
      .map(({ id, errorMessage }) => `${name} ${id}: ${errorMessage}`),
  )
}

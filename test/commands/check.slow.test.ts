import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fixture, makeFolder } from '../support/run-program.ts'
import { toolable } from './support.ts'

type Checked = {
  readonly id: string
  readonly status: string
  readonly found?: string
  readonly fix?: string
}

const examples = [
  'hello/hello.mjs',
  'file-tools/file-tools.mjs',
  'plain-json-schema/roll-dice.mjs',
  'tested-tool/tidy.mjs',
].map((name) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)))

async function check(
  path: string,
  args: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
) {
  const { status, json } = await toolable(['check', path, ...args], { longest: 110_000, env })
  return {
    status,
    json,
    byId: Object.fromEntries<Checked>(
      (json.result?.checks ?? []).map((one: Checked) => [one.id, one]),
    ),
  }
}

// How long a program takes is a measurement of this machine too, and no test stands on it but the
// one of a program that is slow on purpose.
function findingsOf(checks: readonly Checked[]): readonly Checked[] {
  return checks.filter(
    ({ id, status }) => id !== 'discovery-time' && (status === 'fail' || status === 'warn'),
  )
}

describe('toolable check', () => {
  test('finds nothing to say about the examples of this house [6.check-examples]', async () => {
    const { status, json } = await toolable(['check', ...examples, '--min', '90'], {
      longest: 110_000,
    })
    for (const { path, checks } of json.result.programs)
      expect({ path, findings: findingsOf(checks) }).toEqual({ path, findings: [] })
    expect(json.result.programs).toHaveLength(examples.length)
    expect(json.result).toMatchObject({ enough: true, min: 90 })
    expect(status).toBe(0)
  })

  test('finds everything that is wrong with a program, says how to mend it, and lets it change nothing [6.check-findings]', async () => {
    const TMPDIR = makeFolder()
    const { status, byId, json } = await check(
      fixture('check/bad-manners.py'),
      ['--run-seconds', '4'],
      { TMPDIR },
    )
    expect(status).toBe(1)
    expect(json.ok).toBe(true)
    const wrong = findingsOf(json.result.checks)
    expect(wrong.map(({ id }) => id)).toEqual([
      'discovery-deterministic',
      'summary',
      'input-schema',
      'described-fields',
      'examples',
      'bad-json',
      'missing-field',
      'wrong-type',
      'unknown-key',
      'unknown-flag',
      'unknown-tool',
      'flag-as-value',
      'readable-help',
      'closed-pipe',
      'no-prompts',
      'no-escapes',
    ])
    expect(wrong.every(({ found, fix }) => found && fix)).toBe(true)
    expect(byId['no-prompts']?.found).toContain('did not end within 4 seconds')
    expect(json.result.percent).toBeLessThan(60)
    expect(existsSync('happened')).toBe(false)
    expect(readdirSync(TMPDIR)).toEqual([])
  })

  test('finds a program that is slow to tell what it is, and how many times slower than its interpreter [6.check-findings]', async () => {
    const { byId } = await check(fixture('check/slow-to-tell.sh'))
    expect(byId).toMatchObject({
      discovery: { status: 'pass' },
      'discovery-time': {
        status: 'fail',
        found: expect.stringMatching(/^it takes \d+\.\d times as long as its interpreter alone$/),
        fix: expect.stringContaining('Load heavy modules where they are used'),
      },
    })
  })

  test('knows scripts of the Simple JSON kind [6.check-findings]', async () => {
    const { byId, json } = await check(fixture('check/simple-json.py'), ['--min', '60'])
    expect(json.result.programs[0]).toMatchObject({
      speaks: '--fractalic-dump-schema',
      tools: ['simple-json'],
    })
    expect(byId).toMatchObject({
      discovery: { status: 'pass' },
      'described-fields': { status: 'pass' },
      'bad-json': { status: 'warn', fix: expect.stringContaining('"code"') },
      'unknown-flag': { status: 'skip' },
      help: { status: 'fail' },
    })
  })

  test('has advice for a program that has only help, as a report for a person [6.check-report]', async () => {
    const { status, stdout } = await toolable([
      'check',
      fixture('check/only-help.sh'),
      '-o',
      'text',
    ])
    expect(status).toBe(1)
    expect(stdout).toContain('✗ tells what it is, as JSON')
    expect(stdout).toContain('✓ --help prints help on stdout and exits 0')
    expect(stdout).toMatch(/^discovery: .*\n {2}fix: Write it with tool\(\)/m)
    expect(stdout).toMatch(/\n\d+ % ready for agents \(80 % wanted\)\n$/)
  })

  test('checks every program of a folder, and refuses what is none [6.check-report]', async () => {
    const [missing, nothing] = await Promise.all([
      toolable(['check', 'no-such-program']),
      toolable(['check', fixture('commands/project/deeper')]),
    ])
    expect(missing).toMatchObject({
      status: 66,
      json: { error: { code: 'INVALID_PATH', field: 'path' } },
    })
    expect(nothing).toMatchObject({
      status: 66,
      json: {
        error: { code: 'INVALID_PATH', message: expect.stringContaining('holds no programs') },
      },
    })
  })
})

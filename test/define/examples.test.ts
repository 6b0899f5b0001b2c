import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tool, toolset } from 'toolable'
import type { Example } from 'toolable'
import { refusalOf } from '../support/refusal.ts'

const input = z.object({
  pattern: z.string(),
  root: z.string().default('.'),
  maxDepth: z.int().optional(),
  kinds: z.array(z.enum(['file', 'folder'])).optional(),
  token: z.string().optional(),
})
const find = (...examples: Example[]) =>
  tool({
    name: 'find',
    summary: 'Find',
    input,
    positional: ['pattern'],
    flags: { root: { short: 'r' } },
    examples,
    run: () => null,
  })
const program = (...examples: Example[]) => toolset({ name: 'prog', tools: [find(...examples)] })

describe('examples by input', () => {
  test('an example that fits is kept in the manifest', async () => {
    const examples = [{ description: 'All', input: { pattern: '*' } }]
    expect((await find(...examples).manifest()).examples).toEqual(examples)
  })

  test('one that does not fit is refused with its place and the reason', async () => {
    const error = await refusalOf(() =>
      find({ input: { pattern: '*' } }, { input: { patern: '*' } }),
    )
    expect(error.code).toBe('CONFIG')
    expect(error.message).toMatch(/^example 2 of tool 'find' does not fit its input: .*pattern/)
  })

  test('one with neither input nor args is refused', async () => {
    expect((await refusalOf(() => find({ description: 'Nothing' }))).message).toBe(
      "example 1 of tool 'find' needs 'input' or 'args'",
    )
  })

  test('one whose check has to wait does not disturb', async () => {
    const slow = tool({
      name: 'slow',
      summary: 'Slow',
      input: z.object({ a: z.string().refine(async () => false) }),
      examples: [{ input: { a: 'x' } }],
      run: () => 1,
    })
    expect((await slow.manifest()).examples).toHaveLength(1)
  })
})

describe('examples by args', () => {
  test.each([
    [['*.ts']],
    [['*.ts', '--root', '/src', '--max-depth', '3', '--kinds', 'file', '--kinds', 'folder']],
    [['*.ts', '-r', '/src', '--output', 'json', '-v', '--dry-run']],
    [['--pattern=*.ts', '--json']],
    [['{"pattern":"*.ts","maxDepth":3}']],
    [['--', '--odd']],
    [['-']],
    [['@input.json']],
    [['--help']],
    [['--schema']],
  ])('[3.examples-args] %j is taken', (args) => {
    expect(() => program({ args })).not.toThrow()
  })

  test.each([
    [['*.ts', '--rot', '/src'], 'unknown flag --rot; did you mean --root?'],
    [['*.ts', '--max-depth', 'deep'], '--max-depth'],
    [['*.ts', '--max-depth'], '--max-depth needs a value'],
    [['*.ts', '--kinds', 'link'], '--kinds'],
    [['*.ts', 'more'], "unexpected argument 'more'"],
    [[], 'pattern'],
    [['--output', 'xml', '*.ts'], '--output must be one of'],
    [['{"patern":"*"}'], 'pattern'],
    [['{"pattern":'], 'JSON'],
    [['*.ts', 5], "'args' must be a list of texts"],
  ])('[3.examples-args] %j is refused, naming tool and example', async (args, words) => {
    const error = await refusalOf(() =>
      program({ input: { pattern: 'x' } }, { args: args as string[] }),
    )
    expect(error.code).toBe('CONFIG')
    expect(error.message).toContain("example 2 of tool 'find'")
    expect(error.message).toContain(words)
  })

  test('[3.examples-args] a field that the environment may give can be left out', () => {
    const login = tool({
      name: 'login',
      summary: 'Log in',
      input: z.object({ user: z.string(), token: z.string() }),
      flags: { token: { env: 'TOKEN' } },
      examples: [{ args: ['--user', 'me'] }],
      run: () => 1,
    })
    expect(() => toolset(login)).not.toThrow()
  })

  test('[3.examples-args] a schema behind a thunk is not built for the sake of its examples', async () => {
    let built = 0
    const lazy = tool({
      name: 'lazy',
      summary: 'Lazy',
      input: () => {
        built++
        return z.object({ a: z.string() })
      },
      examples: [{ args: ['--b', 'x'] }],
      run: () => 1,
    })
    const set = toolset(lazy)
    expect(built).toBe(0)
    expect(await set.call('lazy', { a: 'x' })).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', message: expect.stringContaining("example 1 of tool 'lazy'") },
    })
  })

  test('[3.examples-args] a tool that is added or renamed is checked under its new name', () => {
    expect(() => toolset({ name: 'prog' }).add(find({ args: [] }), 'search')).toThrow(
      /example 1 of tool 'search'/,
    )
  })
})

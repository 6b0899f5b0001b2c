import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, makeFolder, runProgram } from '../support/run-program.ts'

// What a start may not load: packages, our own chunks by name, and built-in modules that cost
// milliseconds.
const HEAVY =
  /node_modules\/(yaml|@toon-format|zod|ajv)\/|\/(bare|table|completion[^/]*|idempotency|token-budget|shape|sample-http|terminal|live|selftest)-[\w-]+\.js$|^builtin:(crypto|child_process|http|https|net|readline|tls|internal\/crypto\/.*)$/

async function loadedBy(args: string[], program = 'workbench.mjs'): Promise<string[]> {
  const file = join(makeFolder(), 'modules')
  const { status } = await runProgram(program, args, {
    nodeArgs: ['--no-warnings', '--import', fixture('record-modules.mjs')],
    env: { MODULES_FILE: file },
  })
  expect(status).toBe(0)
  return readFileSync(file, 'utf8').split('\n')
}

describe('heavy things load late', () => {
  test.each([
    [['--help']],
    [['--discover']],
    [['echo', '--help']],
    [['echo', '{"text":"a"}']],
    [['echo', 'a', '--count', '3', '--json']],
    [['search', '--schema']],
  ])('%j loads nothing heavy [5.lazy-loading]', async (args) => {
    const modules = await loadedBy(args)
    expect(modules.some((url) => url.includes('/dist/'))).toBe(true)
    expect(modules.filter((url) => HEAVY.test(url))).toEqual([])
  })

  test('a server on stdin loads no HTTP, no help, and nothing of other commands [5.lazy-loading]', async () => {
    const modules = await loadedBy(['--serve-mcp', 'stdio'])
    expect(modules.some((url) => /\/mcp-[\w-]+\.js$/.test(url))).toBe(true)
    // A few bytes that only hand on what another file has are no cost.
    const isMore = (url: string): boolean =>
      url.startsWith('file:') && statSync(new URL(url)).size > 200
    expect(
      modules.filter(
        (url) =>
          HEAVY.test(url) ||
          (isMore(url) &&
            /\/(help|commands|serve-http|http|adapter|server|serve|document|jsonc)-[\w-]+\.js$/.test(
              url,
            )),
      ),
    ).toEqual([])
  })

  test('what a start reads is ASCII, which node reads at half the cost [5.lazy-loading]', async () => {
    const read = new Set(
      (
        await Promise.all([
          loadedBy(['echo', '{"text":"a"}']),
          loadedBy(['--discover']),
          loadedBy(['echo', '--help']),
        ])
      )
        .flat()
        .filter((url) => url.includes('/dist/inside/')),
    )
    expect(read.size).toBeGreaterThan(1)
    expect(
      [...read].filter((url) => /[^\0-\x7f]/.test(readFileSync(new URL(url), 'utf8'))),
    ).toEqual([])
  })

  test('and the recorder sees what is heavy when it is asked for [5.lazy-loading]', async () => {
    const [yaml, text, key, completion] = await Promise.all([
      loadedBy(['scalar', '-o', 'yaml']),
      loadedBy(['files', '-o', 'text']),
      loadedBy(['echo', 'a', '--idempotency-key', 'k']),
      loadedBy(['completion', 'bash']),
    ])
    expect(yaml.some((url) => url.includes('node_modules/yaml/'))).toBe(true)
    expect(text.some((url) => /\/text-[\w-]+\.js$/.test(url))).toBe(true)
    expect(key).toContain('builtin:crypto')
    expect(completion.some((url) => /\/completion-scripts-[\w-]+\.js$/.test(url))).toBe(true)
  })
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { fixtures, toolable, writeProject } from './support.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

describe('a module of functions is a program', () => {
  test('help, discovery and completion come from types and comments [3.functions-program] [3.functions-comments]', async () => {
    const { status, stdout } = await toolable(['./tools.ts', '--help'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/find-files +Finds files whose name ends in something\n/)
    expect(stdout).toMatch(/wipe +Removes nothing, but could/)
    expect(stdout).toMatch(/greet +Greet\n/)
    expect(stdout).not.toContain('inner')
    expect((await toolable(['./tools.ts', '--discover'])).json).toMatchObject({
      name: 'toolable',
      tools: expect.arrayContaining([
        expect.objectContaining({
          name: 'find_files',
          summary: 'Finds files whose name ends in something',
        }),
      ]),
    })
    const help = await toolable(['./tools.ts', 'find-files', '--help'])
    // What can be pasted is what was typed.
    expect(help.stdout).toContain('toolable ./tools.ts find-files .ts --root src')
    expect(help.stdout).toContain('find-files .md --most 3')
    expect(help.stdout).toMatch(/-n, --most <integer> +How many at most/)
    expect(help.stdout).toMatch(/--order <name\|size> +\[default: name\]/)
    expect(help.stdout).toContain('Folders are left out.')
    expect(
      (await toolable(['__complete', '--', './tools.ts', 'find-files', '--or'])).stdout,
    ).toContain('--order')
  })

  test('words, flags, JSON and the environment give the arguments [3.functions-program] [3.functions-parameters]', async () => {
    const found = await toolable(
      ['./tools.ts', 'find-files', 'order.ts', '--since', '2020-01-01'],
      { env: { FIND_ROOT: fixtures } },
    )
    expect(found.json).toMatchObject({
      ok: true,
      result: [{ path: 'order.ts', modified: expect.stringMatching(/^\d{4}-.*Z$/) }],
    })
    expect(
      (await toolable(['./tools.ts', 'find_files', '{"ending":".ts","most":1,"order":"size"}']))
        .json,
    ).toMatchObject({ ok: true, result: [expect.anything()] })
    expect((await toolable(['./tools.ts', 'sum', '1', '2', '3.5'])).json).toMatchObject({
      result: 6.5,
    })
    expect(
      (await toolable(['./tools.ts', 'greet', 'Ada', '--greeting', 'goodbye'])).json,
    ).toMatchObject({ result: 'goodbye Ada' })
  })

  test('bad input is refused before the function runs, with the codes of every tool [3.functions-program]', async () => {
    expect(await toolable(['./tools.ts', 'find-files', '.ts', '--most', '0'])).toMatchObject({
      status: 2,
      json: { error: { code: 'INVALID_INPUT', field: 'most' } },
    })
    expect(await toolable(['./tools.ts', 'find-files', '{"ending":".ts","root":5}'])).toMatchObject(
      { status: 65, json: { error: { code: 'INVALID_INPUT', field: 'root' } } },
    )
    expect(await toolable(['./tools.ts', 'find-files', '.nowhere'])).toMatchObject({
      status: 1,
      json: { error: { code: 'E3101', message: 'no file ends in .nowhere' } },
    })
    expect(await toolable(['./tools.ts', 'wipe', '2026-01-31'])).toMatchObject({
      status: 77,
      json: {
        error: {
          code: 'CONFIRMATION_REQUIRED',
          suggestion: { example: 'toolable ./tools.ts wipe 2026-01-31 --yes' },
        },
      },
    })
    expect((await toolable(['./tools.ts', 'wipe', '2026-01-31', '--yes'])).json).toMatchObject({
      result: '2026-01-31T00:00:00.000Z',
    })
  })

  test('a generator hands out items, and its context tells of progress [3.functions-streams] [3.functions-context]', async () => {
    const { lines } = await toolable(['./tools.ts', 'count', '2', '--stream'])
    expect(lines).toMatchObject([
      { type: 'progress', percent: 50 },
      { type: 'item', value: { at: 1 } },
      { type: 'progress', percent: 100 },
      { type: 'item', value: { at: 2 } },
      { type: 'result', result: [{ at: 1 }, { at: 2 }] },
    ])
  })

  test('it serves MCP [3.functions-program]', async () => {
    const requests = [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'greet', arguments: { name: 'Ada' } },
      },
    ]
    const { lines } = await toolable(['./tools.ts', '--serve-mcp', 'stdio'], {
      input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    })
    expect(lines.find(({ id }) => id === 2)).toMatchObject({
      result: { content: [{ type: 'text', text: 'hello Ada' }] },
    })
    // And agents are told to start it so.
    const { json } = await toolable([
      './tools.ts',
      'mcp',
      'add',
      '--agent',
      'claude-code',
      '--dry-run',
    ])
    expect(json.result.plan[0].details.entry.args).toEqual([
      TOOLABLE_PATH,
      join(fixtures, 'tools.ts'),
      '--serve-mcp',
      'stdio',
    ])
  })

  test('JavaScript with types in its comments is read too [3.functions-jsdoc]', async () => {
    const [say, later, loose] = await Promise.all([
      toolable(['./described.mjs', 'say', 'hi', '--times', '2', '--voice', 'loud']),
      toolable(['./described.mjs', 'later', '2026-01-01']),
      toolable(['./described.mjs', 'loose', '{"value":[1]}']),
    ])
    expect(say.json).toMatchObject({ result: 'HI HI', meta: { tool: 'described.say' } })
    expect(later.json).toMatchObject({ result: '2026-01-08T00:00:00.000Z' })
    expect(loose.json).toMatchObject({ result: 'object' })
    expect(
      (await toolable(['./described.mjs', 'say', 'hi', '--voice', 'shrill'])).json,
    ).toMatchObject({ error: { code: 'INVALID_INPUT' } })
  })
})

describe('what cannot be a tool is named', () => {
  test('with file, line and reason: on stderr when asked, as an error in strict mode [3.functions-problems] [3.functions-examples]', async () => {
    const line = `${join(fixtures, 'tools.ts')}:96: 'each': the parameter 'callback' cannot be given: a function cannot be written as JSON`
    const told = await toolable(['./tools.ts', '--verbose', '--tools'])
    expect(told.status).toBe(0)
    expect(told.stderr).toContain(`warning: ${line}`)
    expect(told.stderr).toContain(
      "the example 'toolable ./tools.ts find-files .ts --colour red' cannot be read: unknown flag --colour",
    )
    const strict = await toolable(['./tools.ts', '--strict', '--tools'])
    expect(strict.status).toBe(78)
    expect(strict.json.error.message).toContain(line)
    expect(
      (await toolable(['./described.mjs', '--strict', '--tools'])).json.error.message,
    ).toContain(
      "'loose': the parameter 'value' cannot be given: nothing is known about its type (any)",
    )
  })

  test('a module without any tool says why for each export [3.functions-problems]', async () => {
    const { status, json } = await toolable(['./nothing.ts', '--help'])
    expect(status).toBe(78)
    expect(json.error).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("nothing.ts:1: 'answer' is no function"),
    })
    expect(json.error.message).toContain("nothing.ts:2: 'Engine' is a class")
    expect(json.error.message).toContain(
      "nothing.ts:3: 'each': the parameter 'callback' cannot be given",
    )
  })

  test('who asks for an export that is no tool hears why; types and imports that cannot be found are told [3.functions-problems]', async () => {
    const folder = writeProject({
      'package.json': '{"name":"newcomer","type":"module"}',
      'tools.ts':
        "import type { Size } from './sizes.ts'\nexport function fine(name: string): string { return name }\nexport function sized(size: Size): string { return size }\nexport function misspelt(name: Nmae): string { return name }\nexport const helpers = { help(name: string): string { return name } }\nexport default class Engine {}\n",
      'throws.ts':
        "export function fine(name: string): string { return name }\n\nthrow new TypeError('not today')\n",
    })
    const file = join(folder, 'tools.ts')
    const told = await toolable(['./tools.ts', '--verbose', '--tools'], { cwd: folder })
    expect(told.stderr).toContain(
      `warning: ${file}:1: the import './sizes.ts' leads nowhere. Check the path\n`,
    )
    expect(told.stderr).toContain(
      `warning: ${file}:4: 'misspelt': the parameter 'name' cannot be given: its type cannot be found. Declare or import the type`,
    )
    expect(told.stderr).toContain(
      `note: ${file}:5: 'helpers' is no function but an object with functions. Export the functions themselves, or make it the default export\n`,
    )
    expect(told.stderr).toContain(
      "'Engine' is a class. Export a function that makes the object and does the work",
    )
    expect(await toolable(['./tools.ts', 'misspelt', 'a'], { cwd: folder })).toMatchObject({
      status: 78,
      json: {
        error: { code: 'CONFIG', message: expect.stringContaining(`${file}:4: 'misspelt'`) },
      },
    })
    const thrown = await toolable(['./throws.ts', 'fine', 'a'], { cwd: folder })
    expect(thrown.json.error).toMatchObject({
      message: `importing ${join(folder, 'throws.ts')} failed: TypeError: not today (${join(folder, 'throws.ts')}:3)`,
      suggestion: { fix: `Look at ${join(folder, 'throws.ts')}:3` },
    })
  })

  test('what a class keeps to itself, what has no name for a tool, and what needs an object is no tool, and the others are [3.functions-problems]', async () => {
    const folder = writeProject({
      'package.json': '{"name":"store","type":"module"}',
      'store.ts':
        'class Store { get(key: string): string { return key } private wipe(path: string): string { return path } protected move(path: string): string { return path } #burn(path: string): string { return path } all(): unknown { return [this.wipe, this.move, this.#burn] } }\nexport default new Store()\n',
      'odd.ts':
        'export const $ = (a: string): string => a\nexport const fine = (a: string): string => a\nexport function method(this: { k: number }, a: string): string { return a + this.k }\n',
      'broken.ts': "export type Letter = 'a' |\n",
      'uses.ts':
        "import type { Letter } from './broken.ts'\nexport const pick = (letter: Letter): string => letter\n",
    })
    const names = async (file: string) =>
      (await toolable([file, '--tools'], { cwd: folder })).json.tools.map(
        ({ name }: { name: string }) => name,
      )
    expect(await names('./store.ts')).toEqual(['get', 'all'])
    expect(await names('./odd.ts')).toEqual(['fine'])
    expect((await toolable(['./odd.ts', '--help'], { cwd: folder })).status).toBe(0)
    expect(
      (await toolable(['./odd.ts', 'method', 'a'], { cwd: folder })).json.error.message,
    ).toContain("odd.ts:3: 'method': it is a method: it needs an object as 'this'")
    expect((await toolable(['./uses.ts', 'pick', 'a'], { cwd: folder })).json.error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/broken\.ts:1: Type expected/),
    })
  })

  test('names of the platform are known where a signature speaks of them, and where they hide in what another type is made of [3.functions-types]', async () => {
    const folder = writeProject({
      'package.json': '{"name":"platform","type":"module"}',
      'plain.ts':
        'export function shout(text: string): string { return process.cwd() && text.toUpperCase() }\n',
      'deep.ts':
        "interface Wishes extends RequestInit { extra: number }\nexport function ask(url: URL, wishes: Pick<Wishes, 'extra' | 'method'>): string { return `${url.host} ${wishes.method}` }\nexport function here() { return { at: new URL('https://example.com').host } }\n",
    })
    const schema = async (file: string, tool: string) =>
      (await toolable([file, tool, '--schema'], { cwd: folder })).json
    expect((await schema('./plain.ts', 'shout')).input_schema.properties).toEqual({
      text: { type: 'string' },
    })
    expect((await schema('./deep.ts', 'ask')).input_schema.properties).toMatchObject({
      url: { type: 'string', format: 'uri' },
      extra: { type: 'number' },
      method: { type: 'string' },
    })
    expect((await schema('./deep.ts', 'here')).output_schema.properties).toEqual({
      at: { type: 'string' },
    })
    expect(
      (
        await toolable(
          ['./deep.ts', 'ask', 'https://example.com/', '--extra', '1', '--method', 'PUT'],
          { cwd: folder },
        )
      ).json.result,
    ).toBe('example.com PUT')
  })

  test('missing files, missing packages and broken syntax [3.functions-problems]', async () => {
    const folder = makeFolder()
    writeFileSync(
      join(folder, 'broken.ts'),
      'export const fine = 1\nexport function broken(name: string {\n',
    )
    expect(await toolable(['./broken.ts'], { cwd: folder })).toMatchObject({
      status: 65,
      json: { error: { message: expect.stringMatching(/broken\.ts:2: /) } },
    })
    expect(await toolable(['./nowhere.ts'], { cwd: folder })).toMatchObject({
      status: 66,
      json: { error: { code: 'INVALID_PATH' } },
    })
    expect(await toolable(['no-such-package'], { cwd: folder })).toMatchObject({
      status: 2,
      json: {
        error: {
          code: 'USAGE',
          message: expect.stringContaining("unknown command 'no-such-package'"),
        },
      },
    })
  })
})

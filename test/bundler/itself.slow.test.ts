import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/commands/table.ts'
import { bin } from '../support/build.ts'
import { launch, makeFolder } from '../support/run-program.ts'
import type { Ended, RunOptions } from '../support/run-program.ts'
import '../support/without-coverage.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = join(root, 'dist/toolable.cjs')
const project = makeFolder()

const FILES = {
  'toolable.yaml': 'folders: [./tools]\nworkflows: [./workflows]\n',
  'tools/hello.sh':
    '#!/bin/sh\n# toolable: {"name":"hello","summary":"Greet somebody","input":{"type":"object","properties":{"name":{"type":"string","description":"Whom"}},"required":["name"]}}\necho \'{"text":"Hello"}\'\n',
  'typed.ts':
    '/** Adds two numbers. */\nexport function add(a: number, b: number): number { return a + b }\n',
  'made.mjs':
    "import { tool } from 'toolable'\nexport const shout = tool({ name: 'shout', summary: 'Shout', input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }, run: ({ text }) => text.toUpperCase() })\n",
  // What modules define is checked when they define it, in a program that was built too.
  'wrong.mjs':
    "import { tool } from 'toolable'\nexport const wrong = tool({ name: 'wrong', summary: 'Wrong', input: 7, run: () => 1 })\n",
  'lies.mjs':
    "import { tool } from 'toolable'\nexport const lies = tool({ name: 'lies', summary: 'Lie', examples: [{ args: ['--nothing', '1'] }], run: () => 1 })\n",
  'workflows/twice.yaml':
    'summary: Greet somebody twice\ninput: {name: string}\nsteps:\n  - name: first\n    command: hello --name "${{ input.name }}"\n  - name: again\n    command: hello --name "${{ steps.first.result.text }}"\n',
}

beforeAll(async () => {
  for (const folder of ['tools', 'workflows', 'node_modules']) mkdirSync(join(project, folder))
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(project, path), text)
  chmodSync(join(project, 'tools/hello.sh'), 0o755)
  symlinkSync(root, join(project, 'node_modules/toolable'))
  // The registry and the readers of types know the project from here on.
  await Promise.all(
    [
      ['list'],
      ['./typed.ts', '--help'],
      ['./made.mjs', '--help'],
      ['./wrong.mjs', '--help'],
      ['./lies.mjs', '--help'],
    ].map((words) => unbuilt(words)),
  )
})

const unbuilt = (words: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  launch(process.execPath, [bin, ...words], { cwd: project, ...options }).ended
const built = (words: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  launch(program, words, { cwd: project, ...options }).ended

// Times, names of runs, and the processes that took part differ from one start to the next.
const steady = ({ status, signal, stdout, stderr }: Ended): object => ({
  status,
  signal,
  stdout: mask(stdout),
  stderr: mask(stderr),
})
function mask(text: string): string {
  return text
    .replace(/\b[\w-]*[a-z]-[0-9a-f]{10}\b/g, '<run>')
    .replace(/\b[0-9a-f]{32}(-[0-9a-f]{16})?\b/g, '<trace>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(
      /("?(?:duration_ms|duration_s|duration|elapsed|pid|supervisor|bytes)"?: ?)[\d.]+/g,
      '$1<n>',
    )
    .replace(/\b\d+(\.\d+)? ?m?s\b/g, '<n> s')
    .replace(/(TOOLABLE_INSTALLED":"toolable )[0-9a-f]+/g, '$1<hash>')
    .replace(/\d+ MB free/g, '<n> MB free')
    .replaceAll(bin, '<toolable>')
    .replaceAll(program, '<toolable>')
}

async function expectSame(words: readonly string[], options: RunOptions = {}): Promise<void> {
  const [wanted, given] = await Promise.all([unbuilt(words, options), built(words, options)])
  expect([words, steady(given)]).toEqual([words, steady(wanted)])
}

async function expectAllSame(
  lines: readonly (readonly string[])[],
  options: RunOptions = {},
): Promise<void> {
  for (let at = 0; at < lines.length; at += 2)
    await Promise.all(lines.slice(at, at + 2).map((words) => expectSame(words, options)))
}

describe('toolable, built by itself', () => {
  test('answers what is asked about it as its modules do, to people and to agents [11.build-itself]', async () => {
    await expectAllSame([
      [],
      ['--help'],
      ['--version'],
      ['--discover'],
      ['--tools'],
      ['--manifest'],
      ['call', '--help'],
      ['runs', 'show', '--manifest'],
    ])
    for (const env of [
      { CLAUDECODE: '1' },
      { TOOLABLE_CALLER: 'agent' },
      { AI_AGENT: 'no' },
      { FORCE_COLOR: '1' },
    ])
      await expectSame(['--help'], { env })
  })

  test('has written down the help of every command, as people and as agents get it [11.build-itself]', () => {
    const text = readFileSync(program, 'latin1')
    const missing = COMMANDS.flatMap(({ path }) =>
      ['', 'agent '].map((who) => `'${who}${path.length + 1} ${path.join(' ')} --help'`),
    ).filter((question) => !text.includes(question))
    expect(missing).toEqual([])
  })

  test('leaves to its code what only looks like such a question [11.build-itself]', async () => {
    await expectAllSame([
      ['help', 'list'],
      ['hello', '--help'],
      ['nonsense', '--help'],
      ['call', 'hello', '--manifest'],
      ['--config', 'toolable.yaml', 'list', '--help'],
      ['mcp', 'serve', '--help'],
      ['--list'],
      ['--describe', 'hello'],
      ['--describe', 'nobody'],
      ['./typed.ts', '--help'],
      ['./made.mjs', 'shout', '--manifest'],
      ['--help', 'list'],
      ['runs', '--help'],
      ['--version', 'list'],
    ])
  })

  test('completes commands, tools and functions alike [11.build-itself]', async () => {
    await expectAllSame(
      [[''], ['li'], ['call', ''], ['call', 'hello', '--'], ['runs', ''], ['./typed.ts', '']].map(
        (words) => ['__complete', '--', ...words],
      ),
    )
  })

  test('lists, describes, calls, checks and refuses alike [11.build-itself]', async () => {
    await expectAllSame([
      ['list'],
      ['list', '-o', 'yaml'],
      ['describe', 'hello', '-o', 'toon'],
      ['doctor'],
      ['call', 'hello', '--name', 'Ada', '-o', 'text'],
      ['call', 'hello', '{}'],
      ['call', 'nobody'],
      ['call', 'hello', 'not json'],
      ['lst'],
      ['list', '--bogus'],
      ['list', '--config', 'nowhere.yaml'],
      ['build', 'nowhere.ts'],
      ['runs', 'show', 'nobody'],
      ['./typed.ts', 'add', '1', '2'],
      ['./typed.ts', 'add', '{"a":1,"b":"x"}'],
      ['./made.mjs', 'shout', '--text', 'hey'],
      ['./wrong.mjs', '--help'],
      ['./lies.mjs', '--help'],
      ['./nowhere.mjs'],
    ])
  })

  test('keeps runs, in processes of their own too, and goes through workflows alike [11.build-itself]', async () => {
    const [wanted, given] = await Promise.all(
      [unbuilt, built].map(async (start) => {
        const cwd = makeFolder()
        cpSync(project, cwd, { recursive: true })
        const ran = await start(['run', 'hello', '{"name":"Ada"}'], { cwd })
        const detached = await start(['run', '--detach', 'hello', '{"name":"Ada"}'], { cwd })
        const { run_id: id } = detached.json.result as { readonly run_id: string }
        const watched = await start(['watch', id], { cwd })
        const shown = await start(['runs', 'show', id], { cwd })
        const flow = await start(['call', 'twice', '--name', 'Ada'], { cwd })
        expect([ran, detached, watched, shown, flow].map(({ status }) => status)).toEqual([
          0, 0, 0, 0, 0,
        ])
        return [ran, detached, shown, flow].map(
          (ended) =>
            JSON.parse(JSON.stringify(steady(ended)).replaceAll(cwd, '<folder>')) as object,
        )
      }),
    )
    expect(given).toEqual(wanted)
  })

  test('ends quietly when nobody reads on, and is served by stdin as before [11.build-itself]', async () => {
    const script = (file: string): Promise<Ended> =>
      launch(
        '/bin/sh',
        [
          '-c',
          `for words in --manifest list; do node "${file}" $words; echo "$?" >&2; done | head -c 5`,
        ],
        { cwd: project },
      ).ended
    expect(steady(await script(program))).toEqual(steady(await script(bin)))
    const input =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
    await expectSame(['serve', 'mcp'], { input })
  })

  test('writes what it writes without it: projects, programs, settings of agents [11.build-itself]', async () => {
    await expectAllSame([
      ['init', '--dry-run', 'new'],
      ['mcp', 'add', '--dry-run', '--agent', 'claude-code'],
    ])
    const [cwd, out] = [makeFolder(), makeFolder()]
    expect((await built(['init', '.', '--language', 'python'], { cwd })).status).toBe(0)
    expect(
      readdirSync(cwd, { recursive: true })
        .map(String)
        .some((name) => name.endsWith('toolable.py')),
    ).toBe(true)
    expect(
      (await built(['build', './typed.ts', '--out', out, '--name', 'typed'], { longest: 300_000 }))
        .status,
    ).toBe(0)
    expect((await launch(join(out, 'typed'), ['{"a":1,"b":2}'], {}).ended).json.result).toBe(3)
  })
})

// What npm installs, as far as a call needs it.
describe('toolable, built and installed', () => {
  const home = makeFolder()
  const installed = join(home, 'node_modules/toolable')
  const link = join(home, 'node_modules/.bin/toolable')
  const call = ['call', 'hello', '{"name":"Ada"}']

  beforeAll(() => {
    for (const folder of [join(installed, 'dist'), join(home, 'node_modules/.bin')])
      mkdirSync(folder, { recursive: true })
    for (const name of ['package.json', 'dist/toolable.cjs', 'dist/toolable.files'])
      cpSync(join(root, name), join(installed, name), { recursive: true })
    symlinkSync('../toolable/dist/toolable.cjs', link)
  })

  const start = (words: readonly string[], options: RunOptions = {}): Promise<Ended> =>
    launch(link, words, { cwd: project, ...options }).ended
  const files = (): string[] => readdirSync(join(installed, 'dist/toolable.files'))

  test('runs through the link of npm, and carries no path of the machine that built it [11.build-itself] [11.build-portable]', async () => {
    expect((await start(call)).json.result).toEqual({ text: 'Hello' })
    const shipped = [
      ...files().map((name) => `dist/toolable.files/${name}`),
      'dist/toolable.cjs',
    ].map((name) => readFileSync(join(installed, name), 'latin1'))
    expect(shipped.filter((text) => text.includes(root.slice(1)))).toEqual([])
  })

  test('runs without its compiled code, keeps its own, and goes on where that cannot be kept [11.build-itself] [11.build-cache]', async () => {
    for (const name of files().filter((each) => each.endsWith('.cache')))
      rmSync(join(installed, 'dist/toolable.files', name))
    const cache = makeFolder()
    for (let round = 0; round < 2; round += 1)
      expect((await start(call, { env: { XDG_CACHE_HOME: cache } })).json.result).toEqual({
        text: 'Hello',
      })
    expect(readdirSync(join(cache, 'toolable/code'))).toHaveLength(1)
    // No folder can be made below a file, not even by root.
    const nowhere = join(home, 'file')
    writeFileSync(nowhere, '')
    for (const env of [
      { XDG_CACHE_HOME: nowhere },
      { HOME: '', XDG_STATE_HOME: '', XDG_CONFIG_HOME: '' },
    ])
      expect((await start(call, { env })).json.result).toEqual({ text: 'Hello' })
    expect(files().some((name) => name.endsWith('.cache'))).toBe(false)
  })
})

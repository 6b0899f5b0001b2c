import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { build, run } from '../support/build.ts'
import { launch, makeFolder } from '../support/run-program.ts'
import '../support/without-coverage.ts'

const out = makeFolder()
const project = makeFolder()
const [much, tools] = [join(out, 'much'), join(out, 'tools')]
const bundleOf = (program: string): string =>
  readFileSync(
    join(
      `${program}.files`,
      readdirSync(`${program}.files`).find((name) => name.endsWith('.bundle'))!,
    ),
    'latin1',
  )

beforeAll(async () => {
  mkdirSync(join(project, 'tools'))
  writeFileSync(
    join(project, 'tools', 'shout.sh'),
    '#!/bin/sh\n# toolable: {"name": "shout", "summary": "Say it loudly", "call": "flags", "input": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}\necho "$2" | tr a-z A-Z\n',
    { mode: 0o755 },
  )
  const built = await Promise.all([
    build('uses-much.mjs', out),
    build('exports-tools.mjs', out, '--name', 'tools'),
  ])
  expect(built.map(({ status }) => status)).toEqual([0, 0])
}, 300_000)

test('what a program uses of the package besides the command line works [11.build-carries]', async () => {
  const ends = await Promise.all(
    [
      ['ask'],
      ['list'],
      ['flow'],
      ['start'],
      ['plans', 'planning-setup-plan', '{"objective":"Ship it"}'],
    ].map((words) => run(much, words, { cwd: project })),
  )
  expect(ends.map(({ json }) => json.result ?? json.error)).toEqual([
    'Done.',
    { tools: ['greet', 'shout'], called: 'AFAR' },
    'hello Grace',
    'completed',
    expect.objectContaining({ objective: 'Ship it' }),
  ])
})

test('every program has its servers, documents and completion [11.build-carries]', async () => {
  const hello =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n'
  const [mcp, lines, docs, skill, completion, words, selftest, added] = await Promise.all([
    run(tools, ['--serve-mcp', 'stdio'], { input: hello }),
    run(tools, ['--serve'], { input: '{"call":"hello","id":"1","input":{}}\n' }),
    run(tools, ['docs', 'markdown']),
    run(tools, ['docs', 'skill']),
    run(tools, ['completion', 'bash']),
    run(tools, ['__complete', '']),
    run(tools, ['--selftest']),
    run(tools, ['mcp', 'add', '--agent', 'cursor', '--agent', 'codex', '--agent', 'vscode'], {
      cwd: project,
    }),
  ])
  expect(mcp.lines[0].result.serverInfo.name).toBe('toolable')
  expect(lines.stdout).toContain('hello')
  for (const end of [docs, skill, completion, words, selftest, added])
    expect([end.status, end.stderr]).toEqual([0, ''])
  const server = launch(tools, ['serve', 'http', '--port', '0'], {})
  await server.said('http://', 'stderr')
  server.kill('SIGTERM')
  await server.ended
})

test('what is imported by an address that no build can know is found, with compiled code and without, in one executable too [11.build-carries]', async () => {
  const place = makeFolder()
  const built = await Promise.all([
    build('imports-by-address.mjs', place, '--name', 'usual'),
    build('imports-by-address.mjs', place, '--name', 'single', '--single'),
  ])
  expect(built.map(({ status }) => status)).toEqual([0, 0])
  writeFileSync(join(place, 'other.mjs'), 'export default 5')
  const ask = async (program: string): Promise<unknown[]> => {
    const ends = await Promise.all(
      [
        ['load', '{"file":"./other.mjs"}'],
        ['name', '{"file":"fs"}'],
        ['say', '{}'],
        ['load', '{"file":"./nosuch.mjs"}'],
        ['find', '{}'],
        ['names', '{}'],
      ].map((words) => run(join(place, program), words)),
    )
    return ends.map(({ json, stderr }) => [
      json.result ?? json.error.message,
      json.ok ? stderr : '',
    ])
  }
  const wanted = [
    [5, ''],
    ['object', ''],
    ['const { x } = await import(name)', ''],
    [expect.stringContaining('nosuch.mjs'), ''],
    [
      [
        pathToFileURL(join(place, 'nothing.txt')).href,
        'file:///a/b.mjs',
        'node:fs',
        'node:fs',
        'file:///a.mjs',
      ],
      '',
    ],
    [['Foo', 'bar'], ''],
  ]
  expect(await ask('usual')).toEqual(wanted)
  expect(await ask('single')).toEqual(wanted)
  const [code] = readdirSync(join(place, 'usual.files')).filter((name) => name.endsWith('.cache'))
  rmSync(join(place, 'usual.files', code!))
  expect(await ask('usual')).toEqual(wanted)
})

test('a program of a few tools leaves the rest behind [11.build-carries]', () => {
  // Words of the builder, of the dashboard, of the loop of an agent and of workflows.
  const words = [
    "building needs the package 'esbuild'",
    '/index.html',
    'the model was not done after',
    'compensat',
  ]
  const carried = (program: string): boolean[] =>
    words.map((each) => bundleOf(program).includes(each))
  expect(carried(tools)).toEqual([false, false, false, false])
  expect(carried(much)).toEqual([false, false, true, true])
})

test('every public name is in the table of what it can load [11.build-carries]', async () => {
  const { names, files } = JSON.parse(
    readFileSync(new URL('../../dist/reach.json', import.meta.url), 'utf8'),
  ) as { names: { [entry: string]: { [name: string]: number[] } }; files: string[] }
  expect(Object.keys(names['toolable']!).toSorted()).toEqual(
    Object.keys(await import('toolable')).toSorted(),
  )
  expect(Object.keys(names['toolable/testing']!).toSorted()).toEqual(
    Object.keys(await import('toolable/testing')).toSorted(),
  )
  expect(
    names['toolable']!['registry']!.every((index) =>
      existsSync(new URL(`../../dist/${files[index]}`, import.meta.url)),
    ),
  ).toBe(true)
})

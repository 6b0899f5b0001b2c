import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, launch, makeFolder } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const REPOSITORY = fixture('../..')
const toolable = (cwd: string, ...args: readonly string[]): Promise<Ended> =>
  launch(process.execPath, [TOOLABLE_PATH, ...args], { cwd }).ended
const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()

// What npm install would do: a copy, because a sandbox sees no links that leave the project.
function install(folder: string): void {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(TOOLABLE_PATH, join(folder, 'node_modules/.bin/toolable'))
  for (const part of ['package.json', 'dist'])
    cpSync(join(REPOSITORY, part), join(folder, 'node_modules/toolable', part), {
      recursive: true,
      filter: (source) => !/\.map$|\/types$/.test(source),
    })
}

describe.each([
  ['ts', 'cli.mjs', []],
  ['python', 'cli.py', ['toolable.py']],
  ['sh', 'cli.sh', ['toolable.sh']],
])('[7.init] a project in %s', (language, entry, beside) => {
  test('is written whole, is ready for agents, and runs its tool', async () => {
    const folder = makeFolder()
    const written = await toolable(
      folder,
      'init',
      '--language',
      language,
      '--name',
      'first_one',
      'new/project',
    )
    const project = join(folder, 'new/project')
    const files = [
      'tool',
      'toolable.yaml',
      'tools/registry/first_one/tool.yaml',
      ...[entry, ...beside].map((file) => `tools/first_one/${file}`),
    ].sort()
    expect(written).toMatchObject({
      status: 0,
      json: {
        ok: true,
        result: {
          folder: project,
          unchanged: [],
          next: expect.arrayContaining([
            'cd new/project',
            './tool --list',
            './tool first_one --who World',
          ]),
        },
      },
    })
    expect([...written.json.result.written].sort()).toEqual(files)
    expect(filesOf(project)).toEqual(files)
    expect(statSync(join(project, 'tool')).mode & 0o111).toBe(0o111)
    install(project)
    // Programs of our own are checked elsewhere.
    if (language !== 'ts')
      expect(
        (await toolable(project, 'check', '--min', '100', `tools/first_one/${entry}`)).json.result,
      ).toMatchObject({ percent: 100, enough: true })
    const run = await launch('./tool', ['first_one', '--who', 'Wörld'], { cwd: project }).ended
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.lines.find(({ type }) => type === 'result')).toMatchObject({
      result: { greeting: 'Hello Wörld' },
    })
    expect(run.lines[0]).toMatchObject({ type: 'runner_start', level: 'L3' })
    const missing = await launch('./tool', ['first_one'], { cwd: project }).ended
    expect(missing.status).toBe(2)
  })
})

describe('[7.init] what is there already', () => {
  test('is never overwritten: nothing is written then, and the files are named', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'tools/hello'), { recursive: true })
    writeFileSync(join(folder, 'tools/hello/cli.sh'), 'mine')
    symlinkSync('/nowhere', join(folder, 'tool'))
    const end = await toolable(folder, 'init', '--language', 'sh')
    expect(end).toMatchObject({
      status: 73,
      json: {
        ok: false,
        error: { code: 'CONFLICT', details: { files: ['tool', 'tools/hello/cli.sh'] } },
      },
    })
    expect(readFileSync(join(folder, 'tools/hello/cli.sh'), 'utf8')).toBe('mine')
    expect(existsSync(join(folder, 'toolable.yaml'))).toBe(false)
  })

  test('stays as it is where it is the same: a second tool is added to a project', async () => {
    const folder = makeFolder()
    await toolable(folder, 'init', '--language', 'sh')
    const more = await toolable(
      folder,
      'init',
      '--language',
      'python',
      '--name',
      'second',
      '--agent',
      'claude',
    )
    expect(more.json.result).toMatchObject({
      unchanged: ['tool', 'toolable.yaml'],
      written: expect.arrayContaining([
        'tools/second/cli.py',
        '.claude/commands/run-tool.md',
        '.claude/agents/tool-runner.md',
      ]),
    })
    expect((await toolable(folder, '--list')).stdout).toBe('hello\nsecond\n')
  })
})

test('[7.init] a dry run tells what it would write, and writes nothing', async () => {
  const folder = makeFolder()
  const end = await toolable(folder, 'init', '--dry-run', '--language', 'python')
  expect(end).toMatchObject({ status: 0, json: { ok: true, meta: { dry_run: true } } })
  expect(end.stdout).toContain('tools/hello/cli.py')
  expect(readdirSync(folder)).toEqual([])
})

test.each([
  [['--name', '../evil'], 2, 'INVALID_INPUT'],
  [['--name', 'Class'], 2, 'INVALID_INPUT'],
  [['--language', 'cobol'], 2, 'INVALID_INPUT'],
  [['a-file'], 66, 'INVALID_PATH'],
])('[7.init] refuses %j', async (args, status, code) => {
  const folder = makeFolder()
  writeFileSync(join(folder, 'a-file'), '')
  expect(await toolable(folder, 'init', ...args)).toMatchObject({
    status,
    json: { ok: false, error: { code } },
  })
  expect(readdirSync(folder)).toEqual(['a-file'])
})

test('[7.list-and-describe] describes in the same form what has no manifest of that form, and invents nothing', async () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'tools'))
  writeFileSync(
    join(folder, 'tools/plain.sh'),
    '# toolable: {"name": "plain", "summary": "Say it", "call": "json", "input": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}}\n',
  )
  const end = await toolable(folder, '--folder', 'tools', '--no-cache', '--describe', 'plain')
  expect(end.json).toEqual({
    name: 'plain',
    summary: 'Say it',
    inputs: [{ name: 'word', type: 'string', required: true }],
  })
  expect(end.status).toBe(0)
  expect((await toolable(folder, '--config', 'nowhere.yaml', '--list')).status).toBe(78)
  expect((await toolable(folder, '--describe')).json).toMatchObject({ name: 'toolable' })
})

test('[7.orchestrators-only] a manifest that wants both is refused, and a confined tool tells of no tasks', async () => {
  const folder = makeFolder()
  const write = (name: string, manifest: string): void => {
    mkdirSync(join(folder, `tools/${name}`), { recursive: true })
    mkdirSync(join(folder, `tools/registry/${name}`), { recursive: true })
    writeFileSync(
      join(folder, `tools/registry/${name}/tool.yaml`),
      `name: ${name}\nentry: cli.sh\nprotocol_version: 1\n${manifest}`,
    )
    writeFileSync(
      join(folder, `tools/${name}/cli.sh`),
      `echo '{"type":"task_submitted","task_id":"t-1","payload":{"command":"x"}}'\necho '{"type":"result","status":"ok"}'\n`,
    )
  }
  write('both', 'orchestrator: true\npermissions: {}\n')
  write('leaf', 'permissions: {}\n')
  write('boss', 'orchestrator: true\n')
  expect((await toolable(folder, 'list', '--problems')).stdout).toContain('orchestrator')
  const leaf = await toolable(folder, 'run', 'leaf')
  expect(leaf.lines.map(({ type }) => type)).toEqual([
    'runner_start',
    'diagnostic',
    'result',
    'runner_end',
  ])
  const boss = await toolable(folder, 'run', 'boss')
  expect(boss.lines.map(({ type }) => type)).toEqual([
    'runner_start',
    'task_submitted',
    'result',
    'runner_end',
  ])
})

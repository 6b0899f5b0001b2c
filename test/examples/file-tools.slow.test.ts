import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeSampleFolder } from '../../scripts/sample-folder.mjs'
import type { Toolset } from 'toolable'
import { runExample } from './run-example.ts'
import type { Run } from './run-example.ts'
import '../support/without-coverage.ts'

let sample: ReturnType<typeof makeSampleFolder>
beforeEach(() => {
  sample = makeSampleFolder()
})
afterEach(() => sample.remove())

function run(argv: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Run {
  return runExample('file-tools', argv, { folder: sample.folder, input, env })
}

type Answer = {
  readonly ok: boolean
  readonly result: never
  readonly error: {
    readonly code: string
    readonly message: string
    readonly suggestion?: { readonly example?: string; readonly fix: string }
  }
}

function answer(
  argv: readonly string[],
  input = '',
  env: NodeJS.ProcessEnv = {},
): Answer & { readonly status: number | null } {
  const { status, stdout } = run(argv, input, env)
  return { ...(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Answer), status }
}

describe('finding and reading', () => {
  test('by flags, by JSON and on stdin it is the same answer', () => {
    const expected = ['app.js', 'app.test.js', 'ask.js']
    const paths = (given: { result: readonly { path: string }[] }) =>
      given.result.map(({ path }) => path)
    expect(paths(answer(['find-files', '*.js', '-r', 'src']))).toEqual(expected)
    expect(paths(answer(['find_files', '{"pattern":"*.js","root":"src"}']))).toEqual(expected)
    expect(paths(answer(['find-files', '-'], '{"pattern":"*.js","root":"src"}'))).toEqual(expected)
    expect(paths(answer(['find-files', '*.js'], '', { FILE_TOOLS_ROOT: 'src' }))).toEqual(expected)
  })

  test('a pattern with a slash is compared with the whole path; depth and hidden files', () => {
    expect(answer(['find-files', 'src/*.{test,x}.js']).result).toMatchObject([
      { path: 'src/app.test.js' },
    ])
    expect(answer(['find-files', '**/gu?de.m[a-d]']).result).toMatchObject([
      { path: 'docs/guide.md' },
    ])
    expect(answer(['find-files', '*.md', '--max-depth', '1']).result).toMatchObject([
      { path: 'README.md' },
    ])
    expect(answer(['find-files', '.env', '--include-hidden']).result).toMatchObject([
      { path: '.env' },
    ])
  })

  test('nothing found: the suggestion looks at what is there, and works when it is pasted [3.suggestion-input]', () => {
    const { status, error } = answer(['find-files', '*.ts', '--max-depth', '3'])
    expect(status).toBe(1)
    expect(error).toMatchObject({
      code: 'E3101',
      details: { available_extensions: ['.js', '.md', '.png', '.tmp'] },
    })
    expect(error.suggestion?.example).toBe("file-tools find-files '*.js' --max-depth 3")
    expect(answer(['find-files', '*.js', '--max-depth', '3']).ok).toBe(true)
  })

  test('an empty folder, a missing folder, and a link that leads in a circle', () => {
    mkdirSync(join(sample.folder, 'empty'))
    symlinkSync('..', join(sample.folder, 'src/loop'))
    expect(answer(['find-files', '*', '-r', 'empty'])).toMatchObject({
      status: 1,
      error: { code: 'E3101', suggestion: { action: 'abort' } },
    })
    expect(answer(['find-files', '*', '-r', 'nowhere'])).toMatchObject({
      status: 66,
      error: { code: 'INVALID_PATH', field: 'root' },
    })
    expect(answer(['find-files', 'ask.js']).result).toHaveLength(1)
  })

  test('some lines of a file; a long file says where to read on', () => {
    expect(answer(['read-file', 'docs/guide.md', '--from', '3', '--to', '3']).result).toEqual({
      path: 'docs/guide.md',
      from: 3,
      to: 3,
      text: 'Ask for a town.',
    })
    writeFileSync(join(sample.folder, 'long.txt'), `${'x'.repeat(999)}\n`.repeat(300))
    expect(answer(['read-file', 'long.txt']).result).toMatchObject({ from: 1, to: 200, next: 201 })
    expect(answer(['read-file', 'long.txt', '--from', '201']).result).not.toHaveProperty('next')
  })

  test('what is not a text file in the root is refused', () => {
    symlinkSync('/etc/passwd', join(sample.folder, 'src/leads-out'))
    expect(answer(['read-file', 'logo.png'])).toMatchObject({
      status: 1,
      error: { code: 'E3102', recoverable: false },
    })
    expect(answer(['read-file', 'src'])).toMatchObject({
      status: 66,
      error: { code: 'INVALID_PATH' },
    })
    expect(answer(['read-file', 'nothing.md'])).toMatchObject({
      status: 66,
      error: { code: 'NOT_FOUND', field: 'path' },
    })
    expect(answer(['read-file', '../..'])).toMatchObject({
      status: 77,
      error: { code: 'PERMISSION' },
    })
    expect(answer(['read-file', 'src/leads-out'])).toMatchObject({
      status: 77,
      error: { code: 'PERMISSION' },
    })
  })

  test('text in files, as a table for people', () => {
    expect(answer(['search-text', 'fixme', '-i', '--most', '1']).result).toEqual([
      { path: 'docs/guide.md', line: 4, text: 'FIXME: say which towns are known.' },
    ])
    expect(run(['search-text', 'FIXME', '--files', '*.js', '-o', 'text']).stdout).toBe(
      'path        line  text\nsrc/ask.js     1  // FIXME: ask a real service\n',
    )
    expect(answer(['search-text', 'nobody wrote this']).result).toEqual([])
  })
})

describe('writing and asking', () => {
  test('the index is streamed with true percentages and left behind as an artifact', () => {
    const events = run(['index-files', '--stream'])
      .stdout.trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; percent?: number })
    expect(events.map(({ type }) => type)).toEqual([
      ...Array<string>(8).fill('progress'),
      'artifact',
      'result',
    ])
    expect(events.slice(0, 8).map(({ percent }) => percent)).toEqual([
      0, 12, 25, 37, 50, 62, 75, 87,
    ])
    expect(events.at(-1)).toMatchObject({
      ok: true,
      result: { files: 8, lines: 15 },
      meta: { artifacts: [{ name: 'index' }] },
    })
    expect(JSON.parse(readFileSync(join(sample.folder, 'file-index.json'), 'utf8'))).toHaveLength(8)
    expect(answer(['index-files', '--index', '../out.json'])).toMatchObject({ status: 77 })
  })

  test('a file that exists is changed only after an answer', () => {
    expect(answer(['write-file', 'new/note.md', 'one\n']).result).toEqual({
      path: 'new/note.md',
      action: 'created',
    })
    expect(answer(['write-file', 'new/note.md', 'two\n'])).toMatchObject({
      status: 77,
      error: {
        code: 'ANSWER_REQUIRED',
        suggestion: { example: "file-tools write-file new/note.md 'two\n' --session" },
      },
    })
    expect(
      answer(['write-file', 'new/note.md', 'two\n', '--session'], '{"value":"appended"}\n').result,
    ).toEqual({ path: 'new/note.md', action: 'appended' })
    expect(readFileSync(join(sample.folder, 'new/note.md'), 'utf8')).toBe('one\ntwo\n')
  })

  test('nothing is written through a link that leads out', () => {
    symlinkSync(`${sample.folder}-elsewhere`, join(sample.folder, 'link'))
    expect(answer(['write-file', 'link', 'x']).ok).toBe(false)
    expect(existsSync(`${sample.folder}-elsewhere`)).toBe(false)
  })

  test('a session asks on until the name can be used, and its end is its result [3.run-generator-session]', () => {
    const answers = [
      { text: '../out.tmp' },
      { text: 'old.tmp' },
      { text: 'new.tmp' },
      { text: 'skip' },
    ]
    const { stdout, status } = run(
      ['rename-files', '*.tmp', '--session'],
      answers.map((given) => `${JSON.stringify(given)}\n`).join(''),
    )
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { prompt?: string })
    expect(lines.map(({ prompt }) => prompt).filter(Boolean)).toEqual([
      'build.tmp -> ',
      '../out.tmp cannot be used; build.tmp -> ',
      'old.tmp is taken; build.tmp -> ',
      'old.tmp -> ',
    ])
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      result: { renamed: [{ from: 'build.tmp', to: 'new.tmp' }] },
    })
    expect(status).toBe(0)
    expect(existsSync(join(sample.folder, 'new.tmp'))).toBe(true)
  })

  test('the end of the answers ends a session', () => {
    expect(answer(['rename-files', '*.tmp', '--session'], '{"text":"a.tmp"}\n')).toMatchObject({
      status: 0,
      result: { renamed: [{ to: 'a.tmp' }] },
    })
  })

  test('a summary is asked of the model of the caller', () => {
    const asked = run(['summarize-file', 'README.md', '--words', '10'])
    expect(JSON.parse(asked.stdout.split('\n')[0] ?? '')).toMatchObject({
      type: 'sample_request',
      max_tokens: 30,
      prompt: expect.stringContaining('Tells the weather') as string,
    })
    expect(asked.status).toBe(77)
  })

  test('files are deleted only with a yes, and a dry run shows the plan [4.destructive-needs-confirmation]', () => {
    expect(answer(['delete-files', '*.tmp'])).toMatchObject({
      status: 77,
      error: {
        code: 'CONFIRMATION_REQUIRED',
        suggestion: { example: "file-tools delete-files '*.tmp' --yes" },
      },
    })
    expect(answer(['delete-files', '*.tmp', '--dry-run']).result).toEqual({
      plan: [
        { action: 'delete', target: 'build.tmp', details: { size: 10 } },
        { action: 'delete', target: 'old.tmp', details: { size: 14 } },
      ],
    })
    expect(answer(['delete-files', '*.tmp', '--yes']).result).toEqual({
      deleted: ['build.tmp', 'old.tmp'],
    })
    expect(answer(['delete-files', '*.tmp', '--yes'])).toMatchObject({
      status: 1,
      error: { code: 'E3101' },
    })
  })
})

describe('notes, a resource and a prompt', () => {
  test('a group of commands and the resource behind it [3.groups]', () => {
    expect(answer(['note', 'list']).result).toEqual([])
    expect(answer(['note', 'add', 'Buy milk', '--text', 'Two litres']).result).toEqual({
      id: 'buy-milk',
      title: 'Buy milk',
      uri: 'notes://buy-milk',
    })
    expect(answer(['note', 'add', 'Buy Milk!'])).toMatchObject({
      status: 73,
      error: { code: 'CONFLICT' },
    })
    expect(answer(['note_list']).result).toEqual([
      { id: 'buy-milk', title: 'Buy milk', uri: 'notes://buy-milk' },
    ])
    expect(JSON.parse(run(['--resource', 'notes://buy-milk']).stdout)).toEqual({
      mimeType: 'text/markdown',
      text: '# Buy milk\n\nTwo litres\n',
    })
    expect(answer(['--resource', 'notes://..%2fREADME'])).toMatchObject({
      status: 66,
      error: { code: 'NOT_FOUND' },
    })
  })

  test('the prompt names what it misses', () => {
    expect(
      JSON.parse(run(['--prompt', 'review', '{"path":"src/ask.js","focus":"errors"}']).stdout),
    ).toHaveLength(2)
    expect(answer(['--prompt', 'review', '{"path":"src/ask.js"}'])).toMatchObject({
      error: { code: 'MISSING_PARAM', field: 'focus' },
    })
  })

  test('discovery shows all of it', () => {
    const found = JSON.parse(run(['--discover']).stdout) as {
      tools: { name: string; streaming: boolean; session_mode: boolean }[]
      resources: unknown[]
      prompts: unknown[]
    }
    expect(found.tools.map(({ name }) => name)).toEqual([
      'find_files',
      'read_file',
      'search_text',
      'index_files',
      'summarize_file',
      'write_file',
      'rename_files',
      'delete_files',
      'note_add',
      'note_list',
    ])
    expect(found.tools.filter(({ streaming }) => streaming).map(({ name }) => name)).toEqual([
      'index_files',
    ])
    expect(found.tools.filter((tool) => tool.session_mode).map(({ name }) => name)).toEqual([
      'rename_files',
    ])
    expect(found).toMatchObject({
      resources: [{ uri_pattern: 'notes://{id}' }],
      prompts: [{ name: 'review' }],
    })
  })
})

test('the example can be imported as a library: nothing runs, and a tool is a function [3.run-only-as-entry]', async () => {
  const file: string = '../../examples/file-tools/file-tools.mjs'
  const { default: tools } = (await import(file)) as { default: Toolset }
  expect(
    await tools.call('find_files', { pattern: 'README.md' }, { cwd: sample.folder }),
  ).toMatchObject({ ok: true, result: [{ path: 'README.md' }] })
})

import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { probeAll } from '../../src/registry/folder/probe-candidates.ts'
import { probe } from '../../src/registry/probe/probe.ts'
import type { ProbeCandidate, ProbeOptions, ProbeVerdict } from '../../src/registry/probe/ask.ts'
import { isLastingVerdict } from '../../src/registry/probe/ask.ts'
import { listNaming } from '../support/processes.ts'
import { HANG_MS } from '../support/limits.ts'

const originals = fileURLToPath(new URL('../fixtures/probes', import.meta.url))
const example = fileURLToPath(new URL('../../examples/file-tools/file-tools.mjs', import.meta.url))
// A place that the sandbox hides, so that tools are seen only because they are shown.
const folder = mkdtempSync(join(tmpdir(), 'probe-'))
const options: ProbeOptions = { unsandboxed: false, concurrency: 2, env: process.env }
const files = readdirSync(originals)
const at = (file: string): string => join(folder, file)

const candidateOf = (file: string): ProbeCandidate => {
  const interpreter = file.endsWith('.py') ? 'python3' : file.endsWith('.sh') ? 'sh' : undefined
  return interpreter
    ? { path: at(file), command: [interpreter, at(file)], kind: 'script' }
    : { path: at(file), command: [at(file)], kind: 'executable' }
}
const snapshot = (): unknown =>
  readdirSync(folder).map((name) => [
    name,
    lstatSync(at(name)).mtimeMs,
    readFileSync(at(name), 'latin1'),
  ])

const verdicts = new Map<string, ProbeVerdict>()
let before: unknown

beforeAll(async () => {
  cpSync(originals, folder, { recursive: true })
  for (const file of ['cannot-be-executed', 'dumps-one-schema.py']) chmodSync(at(file), 0o644)
  before = snapshot()
  const candidates: ProbeCandidate[] = [
    ...files.map(candidateOf),
    { path: example, command: [example], kind: 'executable' },
    { path: '/bin/ls', command: ['/bin/ls'], kind: 'executable' },
  ]
  await probeAll(candidates, options, ({ path }, verdict) => verdicts.set(path, verdict))
})

afterAll(() => rmSync(folder, { recursive: true }))

const verdictOf = (file: string): ProbeVerdict =>
  verdicts.get(file.startsWith('/') ? file : at(file))!
const toolsOf = (file: string): Extract<ProbeVerdict, { kind: 'tools' }> => {
  const verdict = verdictOf(file)
  if (verdict.kind !== 'tools') throw new Error(`${file}: ${verdict.reason}: ${verdict.message}`)
  return verdict
}

describe('what is a tool', () => {
  test('[6.probe-forms] every candidate gets one verdict', () => {
    expect(verdicts.size).toBe(files.length + 2)
  })

  test('[6.probe-forms] Simple JSON is called with one JSON argument, and a schema dump makes it richer', () => {
    expect(toolsOf('simple-without-schema.sh')).toMatchObject({
      form: 'simple',
      tools: [
        {
          name: 'simple-without-schema',
          facts: {},
          call: { form: 'json', command: ['sh', at('simple-without-schema.sh')] },
        },
      ],
    })
    expect(toolsOf('simple-json.py')).toMatchObject({
      form: 'schema',
      tools: [
        {
          name: 'simple-json',
          facts: { description: 'Count the words of a text', inputSchema: { required: ['text'] } },
          call: { form: 'json', command: ['python3', at('simple-json.py')] },
        },
      ],
    })
  })

  test('[6.probe-forms] a script that only dumps its schema is called with flags, under the name that it gives itself', () => {
    expect(toolsOf('dumps-one-schema.py')).toMatchObject({
      form: 'schema',
      tools: [
        {
          name: 'weather',
          facts: { inputSchema: { required: ['lat'] } },
          call: { form: 'flags', command: ['python3', at('dumps-one-schema.py')] },
        },
      ],
    })
  })

  test('[6.probe-forms] a script of several tools is called with the name of the tool, or with --function where its dump says so', () => {
    const commands = (file: string): unknown =>
      toolsOf(file).tools.map(({ name, call }) => [name, call.form, ...call.command.slice(2)])
    expect(commands('dumps-many-schemas.py')).toEqual([
      ['add', 'flags', 'add'],
      ['negate', 'flags', 'negate'],
    ])
    expect(commands('dumps-a-list-of-one.sh')).toEqual([['only', 'flags', 'only']])
    expect(commands('dumps-with-function-flag.sh')).toEqual([
      ['telegram_get_chats', 'flags', '--function', 'get_chats'],
      ['telegram_send', 'flags', '--function', 'telegram_send'],
    ])
  })

  test('[6.probe-forms] an executable that answers --discover brings tools with schemas, resources and prompts', () => {
    expect(toolsOf('discovers-tool-by-tool.py')).toMatchObject({
      form: 'discover',
      program: 'files',
      version: '1.2.0',
      tools: [
        {
          name: 'find',
          facts: {
            description: 'All about find',
            inputSchema: { required: ['pattern'] },
            streaming: true,
          },
          call: { form: 'toolable', tool: 'find', streaming: true },
        },
        { name: 'count', facts: { inputSchema: { required: ['pattern'] } } },
      ],
      resources: [{ uri: '/files/{id}', summary: 'A file', mimeTypes: ['text/plain'] }],
      prompts: [{ name: 'review', arguments: [{ name: 'path', description: 'The file' }] }],
    })
    const { program, tools, warnings } = toolsOf(example)
    expect(program).toBe('file-tools')
    expect(tools.find(({ name }) => name === 'delete_files')).toMatchObject({
      facts: { annotations: { destructive: true }, inputSchema: { type: 'object' } },
      call: {
        form: 'toolable',
        command: [example],
        tool: 'delete_files',
        warm: true,
        stdin: true,
        destructive: true,
      },
    })
    expect(warnings.filter(({ reason }) => reason === 'no-schema')).toEqual([])
  })

  test('[6.probe-slow] a late answer counts, with a warning', () => {
    expect(toolsOf('answers-late.sh')).toMatchObject({
      form: 'simple',
      warnings: [
        {
          reason: 'slow',
          message: expect.stringMatching(/^It answered after \d+ ms; 200 ms are wanted$/),
          fix: expect.any(String),
        },
      ],
    })
  })

  test('[6.probe-forms] --help is asked only where it is wanted, and read by whoever can', async () => {
    const candidate: ProbeCandidate = {
      path: '/bin/ls',
      command: ['/bin/ls'],
      kind: 'executable',
      help: true,
    }
    const readHelp: ProbeOptions['readHelp'] = (text, name) =>
      text.includes('--all') ? { facts: { summary: name }, program: { fields: [] } } : undefined
    expect(await probe(candidate, { ...options, readHelp })).toMatchObject({
      kind: 'tools',
      form: 'help',
      tools: [
        {
          name: 'ls',
          facts: { summary: 'ls' },
          call: { form: 'program', command: ['/bin/ls'], program: { fields: [] } },
        },
      ],
    })
    expect(verdictOf('/bin/ls')).toMatchObject({ kind: 'not-a-tool' })
  })
})

describe('what is not a tool', () => {
  test.each([
    [
      'misses-a-module.py',
      'crashed',
      /^missing module no_such_module_at_all/,
      /shared_venv\/bin\/pip install no_such_module_at_all && toolable rescan$/,
    ],
    [
      'misses-a-package.mjs',
      'crashed',
      /^missing module no-such-package-at-all/,
      /npm install --prefix \S+ no-such-package-at-all/,
    ],
    ['cannot-be-read.py', 'crashed', /SyntaxError/, /py_compile/],
    ['logs-to-stdout.sh', 'not-json', /text besides JSON: INFO starting/, /stderr/],
    ['prints-two-documents.sh', 'two-documents', /several JSON documents/, /one JSON document/],
    ['answers-null.sh', 'not-json', /describes nothing: null/, /_simple/],
    ['answers-a-number.sh', 'not-json', /describes nothing: 42/, /_simple/],
    ['says-nothing.sh', 'no-answer', /does not answer/, /__test__/],
    ['refuses-everything.sh', 'refused', /exit status 1: a name is wanted/, /_simple/],
    ['prints-too-much.sh', 'too-much-output', /more than 4 MiB/, /stdout/],
    ['hangs.sh', 'slow', /no answer to .+ within 2 s/, /arguments first/],
    ['writes-everywhere.py', 'needs-permission', /writes files/, /before it does anything else/],
    ['connects.py', 'needs-permission', /network/, /before it does anything else/],
    ['asks-for-input.py', 'wants-input', /asks for input/, /arguments first/],
    ['cannot-be-executed', 'needs-permission', /may not be executed/, /^chmod \+x /],
    ['missing-interpreter', 'not-started', /\/no\/such\/interpreter/, /Install/],
    ['/bin/ls', 'no-answer', /exit status 2/, /_simple/],
  ])('[6.probe-reasons] %s: %s', (file, reason, message, fix) => {
    expect(verdictOf(file)).toEqual({
      kind: 'not-a-tool',
      reason,
      message: expect.stringMatching(message),
      fix: expect.stringMatching(fix),
    })
  })
})

describe('what a probe leaves', () => {
  test('[6.probe-leaves-nothing] [12.probe-without-side-effects] no file is written, none is changed', () => {
    expect(snapshot()).toEqual(before)
    for (const place of [folder, tmpdir(), homedir(), '/tmp', '/var/tmp', '/root', '/home'])
      expect(existsSync(join(place, 'written-by-a-probe'))).toBe(false)
  })

  test('[6.probe-leaves-nothing] no process is left, not of those that hang and not of daemons', async () => {
    expect(toolsOf('forks-a-daemon.sh').form).toBe('simple')
    await vi.waitFor(() => expect(listNaming(folder)).toEqual([]), HANG_MS)
  })

  test('[6.probe-leaves-nothing] a probe that is cancelled ends at once and is not remembered', async () => {
    const abort = new AbortController()
    const running = probe(candidateOf('hangs.sh'), { ...options, signal: abort.signal })
    setTimeout(() => abort.abort(), 100)
    const verdict = await running
    expect(verdict).toMatchObject({ kind: 'not-a-tool', reason: 'cancelled' })
    expect([
      isLastingVerdict(verdict),
      isLastingVerdict(verdictOf('hangs.sh')),
      isLastingVerdict(verdictOf('simple-json.py')),
    ]).toEqual([false, true, true])
    await vi.waitFor(() => expect(listNaming(at('hangs.sh'))).toEqual([]), HANG_MS)
  })
})

describe('a machine without sandbox', () => {
  const bin = mkdtempSync(join(tmpdir(), 'no-sandbox-'))
  writeFileSync(
    join(bin, 'bwrap'),
    '#!/bin/sh\necho "bwrap: no permissions to create a new namespace" >&2\nexit 1\n',
    { mode: 0o755 },
  )
  const broken: ProbeOptions = {
    ...options,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
  }
  afterAll(() => rmSync(bin, { recursive: true }))
  const listProbeFolders = (): string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith('toolable-probe-'))

  test('[6.probe-no-sandbox] nothing is run, and it is said what to do', async () => {
    const verdict = await probe(candidateOf('simple-without-schema.sh'), broken)
    expect(verdict).toEqual({
      kind: 'not-a-tool',
      reason: 'no-sandbox',
      message: expect.stringMatching(/no permissions to create a new namespace/),
      fix: expect.stringMatching(/--probe-unsandboxed$/),
    })
    expect(isLastingVerdict(verdict)).toBe(false)
  })

  test('[6.probe-no-sandbox] where it is allowed, the questions are the same, in an empty folder that is removed, and nothing stays running', async () => {
    // Of this test alone: others leave and take theirs meanwhile.
    vi.stubEnv('TMPDIR', mkdtempSync(join(folder, 'temporary-')))
    onTestFinished(() => void vi.unstubAllEnvs())
    const folders = listProbeFolders()
    expect(
      await probe(candidateOf('simple-without-schema.sh'), { ...broken, unsandboxed: true }),
    ).toMatchObject({ kind: 'tools', form: 'simple' })
    expect(
      await probe(candidateOf('forks-a-daemon.sh'), { ...broken, unsandboxed: true }),
    ).toMatchObject({ kind: 'tools', form: 'simple' })
    expect(listProbeFolders()).toEqual(folders)
    await vi.waitFor(() => expect(listNaming(at('forks-a-daemon.sh'))).toEqual([]), HANG_MS)
  })
})

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cleanEnvironment, fixture, launch, makeFolder } from '../support/run-program.ts'
import type { Ended, RunOptions } from '../support/run-program.ts'
import '../support/without-coverage.ts'

// The same program three times: ours sets what the others have to keep.
const LANGUAGES = [
  ['TypeScript', process.execPath, 'emitters/tools.mjs'],
  ['Python', 'python3', 'emitters/tools.py'],
  ['shell', 'sh', 'emitters/tools.sh'],
] as const

const NAMES = ['echo', 'refuse', 'wait', 'work', 'crash', 'decide', 'count_up', 'make']
const SCHEMA = {
  type: 'object',
  properties: { text: { type: 'string' }, count: { type: 'integer' }, loud: { type: 'boolean' } },
  required: ['text'],
  additionalProperties: false,
}

describe.each(LANGUAGES)('[6.emitters] a program in %s', (_language, interpreter, name) => {
  const start = (args: readonly string[], options: RunOptions = {}) =>
    launch(interpreter, [fixture(name), ...args], options)
  const run = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
    start(args, options).ended

  test('tells what it offers', async () => {
    const [discover, tools, manifest, schema, dump, simple] = await Promise.all(
      [
        ['--discover'],
        ['--tools'],
        ['echo', '--manifest'],
        ['echo', '--schema'],
        ['--fractalic-dump-multi-schema'],
        ['{"__test__": true}'],
      ].map((args) => run(args)),
    )
    expect(discover!.json).toMatchObject({
      name: 'emitted-tools',
      version: '1.2.0',
      tools: NAMES.map((tool) => ({
        name: tool,
        summary: expect.any(String),
        streaming: false,
        session_mode: false,
      })),
      resources: [],
      prompts: [],
    })
    expect(tools!.json.tools[1]).toMatchObject({ name: 'refuse', summary: 'Always fail' })
    expect(manifest!.json).toMatchObject({
      name: 'echo',
      summary: 'Give the input back',
      schema: SCHEMA,
    })
    expect(schema!.json).toMatchObject({ name: 'echo', input_schema: SCHEMA })
    expect(dump!.json).toHaveLength(NAMES.length)
    expect(dump!.json[0]).toMatchObject({ name: 'echo', parameters: SCHEMA })
    expect(simple!.json).toEqual({ success: true, _simple: true })
    for (const end of [discover, tools, manifest, schema, dump, simple])
      expect(end).toMatchObject({ status: 0, stderr: '' })
  })

  test('shows help', async () => {
    expect(await run(['--help'])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/echo\s+Give the input back/),
      stderr: '',
    })
    expect((await run(['echo', '--help'])).stdout).toContain('--text')
  })

  test('takes input in every form, and answers with one document', async () => {
    const result = { text: '-x "q" \\ \n äö🎉 $(id) \'s', count: 3, loud: true }
    const file = join(makeFolder(), 'input.json')
    writeFileSync(file, JSON.stringify(result))
    const ends = await Promise.all([
      run(['echo', JSON.stringify(result)]),
      run(['echo', '-'], { input: JSON.stringify(result) }),
      run(['echo', `@${file}`]),
      run(['echo', `--text=${result.text}`, '--count', '3', '--loud']),
    ])
    for (const end of ends) {
      expect(end.json).toMatchObject({
        ok: true,
        status: 'success',
        result,
        meta: { tool: 'emitted-tools.echo', version: '1.2.0', duration_ms: expect.any(Number) },
      })
      expect(end.status).toBe(0)
      expect(end.stderr).toContain('a print that must not reach the answer')
    }
    const escaped = await run(['echo', '{"text":"\\ud83c\\udf89 \\u00e4 \\t \\/"}'])
    expect(escaped.json.result).toEqual({ text: '🎉 ä \t /' })
    const large = { text: 'ä"'.repeat(70_000) }
    expect((await run(['echo', '-'], { input: JSON.stringify(large) })).json.result).toEqual(large)
    expect((await run(['echo', '--text', '--discover'])).json.result).toEqual({
      text: '--discover',
    })
    expect((await run(['echo', '--text', '1.10'])).json.result).toEqual({ text: '1.10' })
  })

  test.each<[readonly string[], string, number, string | undefined]>([
    [['echo'], 'MISSING_PARAM', 2, 'text'],
    [['echo', '{}'], 'MISSING_PARAM', 2, 'text'],
    [['echo', '{"text":5}'], 'INVALID_INPUT', 65, 'text'],
    [['echo', '{"text":"x","txet":1}'], 'INVALID_INPUT', 65, 'txet'],
    [['echo', '{"text"'], 'INVALID_INPUT', 65, undefined],
    [['echo', '{"text":"x"} {}'], 'INVALID_INPUT', 65, undefined],
    [['echo', '--text', 'x', '--count', 'three'], 'INVALID_INPUT', 2, 'count'],
    [['echo', '--nosuch', 'x'], 'USAGE', 2, undefined],
    [['nosuch'], 'USAGE', 2, undefined],
    [['echo', '@/nowhere/input.json'], 'INVALID_PATH', 66, undefined],
    [['refuse'], 'NOT_FOUND', 66, undefined],
    [['crash'], 'INTERNAL', 1, undefined],
  ])('says in JSON what is wrong with %j', async (args, code, status, field) => {
    const end = await run(args)
    expect(end.json).toMatchObject({
      ok: false,
      status: 'error',
      error: {
        code,
        category: expect.any(String),
        message: expect.any(String),
        recoverable: code !== 'INTERNAL',
        retryable: false,
        ...(field !== undefined && { field }),
      },
    })
    expect(end.status).toBe(status)
    expect(JSON.parse(end.stderr.trim().split('\n').at(-1)!)).toMatchObject({ error: { code } })
  })

  test('tells events on stderr, and by lines of the run protocol', async () => {
    const told = await run(['work'])
    expect(told.json).toMatchObject({ ok: true, result: 'done' })
    expect(
      told.stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { type: 'notification', kind: 'progress', message: 'half', percent: 50 },
      { type: 'notification', kind: 'log', level: 'warn', message: 'careful' },
      { type: 'notification', kind: 'artifact', name: 'report', uri: 'file:///tmp/report' },
    ])
    const protocol = { env: { RUN_ID: 'r-1', AI_PROTOCOL_VERSION: '1' } }
    expect((await run(['work'], protocol)).lines).toMatchObject([
      { v: 1, type: 'start', run_id: 'r-1', ts: expect.any(String) },
      { type: 'progress', pct: 50, msg: 'half' },
      { type: 'log', level: 'warn', msg: 'careful' },
      { type: 'artifact', name: 'report' },
      { type: 'result', status: 'ok', result: 'done', run_id: 'r-1' },
    ])
    const failed = await run(['refuse'], protocol)
    expect(failed).toMatchObject({
      status: 66,
      lines: [{ type: 'start' }, { v: 1, type: 'error', msg: 'no such thing', retryable: false }],
    })
  })

  test('ends when it is told to, and says so', async () => {
    const running = start(['wait', '--seconds', '60'], {
      env: { RUN_ID: 'r-1', AI_PROTOCOL_VERSION: '1' },
    })
    await running.said('"start"')
    running.kill('SIGTERM')
    const end = await running.ended
    // A shell shows both as 143.
    expect(end.status ?? end.signal).toBeOneOf([143, 'SIGTERM'])
    expect(end.lines.at(-1)).toMatchObject({ type: 'cancelled' })
  })

  const supervised = (env: { readonly [name: string]: string } = {}) => ({
    env: { RUN_ID: 'r-1', AI_PROTOCOL_VERSION: '1', ...env },
  })

  test('[7.emitter-answers] asks by the run protocol and waits for the answers on stdin', async () => {
    const running = start(['decide'], { ...supervised(), input: 'open' })
    await running.said('Which way?')
    running.write('not JSON\n{"value":"careful"}\n')
    await running.said('Really?')
    running.write('{"value":true}\n')
    await running.said('Anything else?')
    running.closeStdin()
    const end = await running.ended
    expect(end.lines.filter(({ type }) => type === 'action_required')).toMatchObject([
      {
        context: {
          id: expect.any(String),
          options: [{ value: 'fast' }, { value: 'careful' }],
          timeout: 30,
        },
      },
      { action: 'confirm' },
      { action: 'input', context: { default: 'nothing' } },
    ])
    expect(end.lines.at(-1)).toMatchObject({
      type: 'result',
      result: { strategy: 'careful', sure: true, note: 'nothing' },
    })
    expect(end.status).toBe(0)
  })

  test('[7.emitter-answers] fails where nobody can answer', async () => {
    const end = await run(['decide'], supervised())
    expect(end.lines.at(-1)).toMatchObject({
      type: 'error',
      code: 'E_ANSWER_REQUIRED',
      retryable: false,
    })
    expect(end.status).toBe(77)
    expect((await run(['decide'])).json).toMatchObject({
      ok: false,
      error: { code: 'ANSWER_REQUIRED' },
    })
  })

  test('[7.emitter-checkpoints] goes on at its checkpoint, and refuses a damaged one', async () => {
    const folder = makeFolder()
    const count = async () =>
      (await run(['count_up'], supervised({ WORKSPACE: folder }))).lines.at(-1)
    expect(await count()).toMatchObject({ type: 'result', result: 1 })
    expect(await count()).toMatchObject({ type: 'result', result: 2 })
    expect(JSON.parse(readFileSync(join(folder, '.checkpoints/count.json'), 'utf8'))).toEqual({
      stage: 'count',
      data: 2,
    })
    expect(readdirSync(join(folder, '.checkpoints'))).toEqual(['count.json'])
    writeFileSync(join(folder, '.checkpoints/count.json'), '{"stage":"count","da')
    expect(await count()).toMatchObject({
      type: 'error',
      code: 'E_PRECONDITION',
      msg: expect.stringContaining('damaged'),
    })
  })

  test('[7.emitter-cancel] a cancel file ends it with cancelled and 130', async () => {
    const cancel = join(makeFolder(), 'CANCEL')
    const running = start(['wait', '--seconds', '60'], supervised({ CANCEL_FILE: cancel }))
    await running.said('"start"')
    writeFileSync(cancel, '')
    running.kill('SIGTERM')
    const end = await running.ended
    expect(end.lines.at(-1)).toMatchObject({ type: 'cancelled' })
    expect(end.status).toBe(130)
  })

  test('[7.emitter-artifacts] reads a secret from its file, and names what it made with its hash', async () => {
    const folder = makeFolder()
    const secrets = join(folder, 'secrets')
    mkdirSync(secrets)
    writeFileSync(join(secrets, 'api-token'), 'swordfish\n', { mode: 0o600 })
    const end = await run(
      ['make'],
      supervised({
        WORKSPACE: folder,
        DEADLINE_TS: '2100-01-01T00:00:00.500Z',
        SECRETS_DIR: secrets,
        API_TOKEN_FILE: join(secrets, 'api-token'),
      }),
    )
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('9\n')
    expect(end.lines.at(-1)).toMatchObject({
      type: 'result',
      result: { has_deadline: true },
      artifacts: [
        {
          path: join(folder, 'made.txt'),
          ...(name.endsWith('.mjs')
            ? {}
            : { sha256: createHash('sha256').update('9\n').digest('hex') }),
        },
      ],
    })
    expect((await run(['make'], supervised({ WORKSPACE: folder }))).lines.at(-1)).toMatchObject({
      type: 'error',
      code: 'E_CONFIG',
    })
  })

  test('[7.emitter-stdout] speaks the protocol only to the runner itself', async () => {
    expect((await run(['work'], supervised({ RUN_STDOUT: '1:2' }))).json).toMatchObject({
      ok: true,
      result: 'done',
    })
    const out = join(makeFolder(), 'out')
    writeFileSync(out, '')
    const { dev, ino } = statSync(out)
    const { status } = spawnSync(
      '/bin/bash',
      ['-c', 'exec "$INTERPRETER" "$PROGRAM" work > "$OUT"'],
      {
        env: cleanEnvironment({
          OUT: out,
          PROGRAM: fixture(name),
          INTERPRETER: interpreter,
          ...supervised({ RUN_STDOUT: `${dev}:${ino}` }).env,
        }),
      },
    )
    expect(status).toBe(0)
    expect(JSON.parse(readFileSync(out, 'utf8').split('\n')[0]!)).toMatchObject({
      v: 1,
      type: 'start',
    })
  })

  test('reports a full disk, and is quiet when nobody reads', () => {
    const shell = (script: string) =>
      spawnSync('/bin/bash', ['-c', script], {
        env: cleanEnvironment({ PROGRAM: fixture(name), INTERPRETER: interpreter }),
        encoding: 'utf8',
      })
    expect(shell('"$INTERPRETER" "$PROGRAM" echo --text x > /dev/full').status).toBe(73)
    expect(
      shell('"$INTERPRETER" "$PROGRAM" --discover | head -c 1; exit ${PIPESTATUS[0]}').stderr,
    ).toBe('')
  })
})

test.each([
  ['Python', 'python3', 'emitters/tools.py'],
  ['shell', 'sh', 'emitters/tools.sh'],
])(
  '[7.emitter-heartbeats] a tool in %s gives signs of life by itself, and leaves nothing behind that does',
  async (_language, interpreter, name) => {
    const running = launch(interpreter, [fixture(name), 'wait', '--seconds', '60'], {
      env: { RUN_ID: 'r-1', AI_PROTOCOL_VERSION: '1', TOOLABLE_HEARTBEAT_S: '0.05' },
    })
    await running.said('"heartbeat"')
    running.kill('SIGTERM')
    // Whoever held stdout open would keep the end away.
    expect((await running.ended).lines.at(-1)).toMatchObject({ type: 'cancelled' })
  },
)

describe('[6.emitters] what the Python helper reads from a signature', () => {
  test('types, defaults, choices and descriptions', () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'tools'))
    writeFileSync(
      join(folder, 'typed.py'),
      `
import sys; sys.path.insert(0, ${JSON.stringify(fixture('../../emitters/python'))})
import enum, pathlib
from typing import Dict, List, Literal, Optional
from toolable import tool, run
class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"
@tool
def typed(names: List[str], mode: Literal["fast", "slow"] = "fast", size: Size = Size.SMALL, limit: Optional[int] = None, path: pathlib.Path = None, table: Dict[str, float] = None, ratio: float = 0.5):
    """Show types.

    More about it."""
    return {"names": names, "mode": mode, "size": size, "path": str(path), "is_size": isinstance(size, Size), "ratio": ratio}
run()
`,
    )
    const run = (...args: readonly string[]) =>
      spawnSync('python3', [join(folder, 'typed.py'), ...args], {
        env: cleanEnvironment(),
        encoding: 'utf8',
      })
    expect(JSON.parse(run('--schema').stdout).tools[0].input_schema.properties).toEqual({
      names: { type: 'array', items: { type: 'string' } },
      mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
      size: { enum: ['small', 'large'] },
      limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      path: { type: 'string', format: 'path' },
      table: { type: 'object', additionalProperties: { type: 'number' } },
      ratio: { type: 'number', default: 0.5 },
    })
    expect(
      JSON.parse(run('typed', '{"names":["a"],"size":"large","path":"x/y"}').stdout).result,
    ).toEqual({ names: ['a'], mode: 'fast', size: 'large', path: 'x/y', is_size: true, ratio: 0.5 })
    expect(JSON.parse(run('typed', '--names', 'a', '--names', 'b').stdout).result.names).toEqual([
      'a',
      'b',
    ])
    expect(
      JSON.parse(run('typed', '{"names":["a"],"mode":"fats"}').stdout).error.message,
    ).toContain('did you mean "fast"')
    expect(JSON.parse(run('typed', '{"names":["a",1]}').stdout).error).toMatchObject({
      field: 'names[1]',
    })
  })
})

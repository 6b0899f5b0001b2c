import { describe, expect, test, vi } from 'vitest'
import { findErrorRow, toProtocolCode } from '../../src/protocol/errors.ts'
import { readOutcome } from '../../src/protocol/dialects/read-outcome.ts'
import { toolset, tool } from '../../src/index.ts'
import { main } from '../../src/cli/main.ts'
import { createFakeIo } from '../../src/testing/run-cli.ts'
import { runProgram } from '../support/run-program.ts'
import '../support/without-coverage.ts'

const supervised = { RUN_ID: 'r-7', AI_PROTOCOL_VERSION: '1' }
const run = (args: readonly string[], env: { readonly [name: string]: string } = {}) =>
  runProgram('parity.mjs', args, { env })
const timeless = (text: string) =>
  text
    .replace(/"ts":"[^"]*"/g, '"ts":"…"')
    .replace(/"(duration_m?s)":[\d.]+/g, '"$1":0')
    .replace(/r-[0-9a-f]{10}/g, 'r-0')

describe('[4.dialect-flag] --dialect', () => {
  test.each([
    ['toolable', '{"status":"success","result":{"status":"active","color":"red"}}\n'],
    [
      'tooli',
      '{"ok":true,"result":{"status":"active","color":"red"},"meta":{"tool":"parity.choose","version":"1.0.0","duration_ms":0}}\n',
    ],
    [
      'acor',
      '{"v":1,"type":"start","ts":"…","run_id":"r-0","step":"choose","args":{"color":"red"}}\n{"v":1,"type":"result","ts":"…","run_id":"r-0","status":"ok","result":{"status":"active","color":"red"},"artifacts":[],"metrics":{"duration_s":0}}\n',
    ],
    ['simple', '{"status":"active","color":"red"}\n'],
    [
      'native',
      '{"ok":true,"status":"success","result":{"status":"active","color":"red"},"meta":{"tool":"parity.choose","version":"1.0.0","duration_ms":0}}\n',
    ],
  ])('%s writes a success', async (dialect, stdout) => {
    const ended = await run(['choose', '--color', 'red', '--dialect', dialect])
    expect({ status: ended.status, stdout: timeless(ended.stdout) }).toEqual({ status: 0, stdout })
  })

  test.each([
    [
      'toolable',
      {
        status: 'error',
        error: {
          code: 'NOT_FOUND',
          message: 'x',
          recoverable: true,
          suggestion: 'Use another code',
          context: { code: 'NOT_FOUND', field: 'code' },
        },
      },
    ],
    [
      'tooli',
      {
        ok: false,
        error: {
          code: 'E3001',
          category: 'state',
          message: 'x',
          is_retryable: true,
          field: 'code',
        },
      },
    ],
    ['acor', { type: 'error', code: 'E_INPUT_NOT_FOUND', msg: 'x', retryable: false }],
    ['simple', { error: 'x', code: 'NOT_FOUND' }],
  ])('%s writes a failure, and the status stays', async (dialect, document) => {
    const { status, lines } = await run([
      'fails',
      '--code',
      'NOT_FOUND',
      '--message',
      'x',
      '--dialect',
      dialect,
    ])
    expect(lines.at(-1)).toMatchObject(document)
    expect(status).toBe(66)
  })

  test('of another name is refused', async () => {
    expect(await run(['choose', '--color', 'red', '--dialect', 'latin'])).toMatchObject({
      status: 2,
      json: {
        error: {
          code: 'USAGE',
          message: expect.stringContaining('native, toolable, tooli, acor, simple'),
        },
      },
    })
  })
})

test('[4.dialect-simple-test] the probe and the dump flags answer in the simple form', async () => {
  expect(await run(['{"__test__": true}'])).toMatchObject({
    status: 0,
    json: { success: true, _simple: true },
  })
  const { json } = await run(['--fractalic-dump-multi-schema'])
  expect((json as { name: string }[]).map(({ name }) => name)).toContain('add')
})

describe('the environment of a runner', () => {
  test('[4.dialect-acor-environment] RUN_ID with AI_PROTOCOL_VERSION means acor', async () => {
    const { lines } = await run(['choose', '--color', 'red'], supervised)
    expect(lines).toMatchObject([
      { v: 1, type: 'start', run_id: 'r-7' },
      { v: 1, type: 'result', run_id: 'r-7', status: 'ok' },
    ])
    for (const name of Object.keys(supervised)) {
      const { [name]: _absent, ...half } = supervised as { [name: string]: string }
      expect((await run(['choose', '--color', 'red'], half)).json).toMatchObject({ ok: true })
    }
  })

  test('[4.dialect-acor-environment] unless stdout is not the runner’s', async () => {
    expect(
      (await run(['choose', '--color', 'red'], { ...supervised, RUN_STDOUT: '1:2' })).json,
    ).toMatchObject({ ok: true, status: 'success' })
  })

  test('[4.dialect-explicit-wins] an explicit --output or --dialect wins', async () => {
    expect(
      (await run(['choose', '--color', 'red', '--output', 'json'], supervised)).json,
    ).toMatchObject({ ok: true, status: 'success' })
    expect(
      (await run(['choose', '--color', 'red', '--dialect', 'simple'], supervised)).json,
    ).toEqual({ status: 'active', color: 'red' })
  })
})

test('[4.dialect-readers] what any dialect writes is read back as the same outcome', async () => {
  for (const dialect of ['native', 'toolable', 'tooli', 'acor']) {
    const read = async (args: readonly string[]) =>
      readOutcome((await run([...args, '--dialect', dialect])).lines.at(-1) as object, {
        tool: 'parity.fails',
      })
    expect(await read(['choose', '--color', 'red'])).toMatchObject({
      ok: true,
      result: { status: 'active', color: 'red' },
    })
    expect(await read(['fails', '--code', 'RATE_LIMIT', '--message', 'slow down'])).toMatchObject({
      ok: false,
      error: { code: 'RATE_LIMIT', message: 'slow down' },
    })
  }
})

test.each([
  ['TIMEOUT', 'E_TIMEOUT'],
  ['NOT_FOUND', 'E_INPUT_NOT_FOUND'],
  ['CONFLICT', 'E_CONFLICT'],
  ['INTERNAL', 'E_UNKNOWN'],
  ['E3101', 'E3101'],
  ['E_MINE', 'E_MINE'],
  ['MINE', 'E_MINE'],
])('[4.seed-codes-read] %s is %s on event lines, and read back', (code, name) => {
  expect(toProtocolCode(code)).toBe(name)
  if (findErrorRow(code)) expect(findErrorRow(name)?.code).toBe(code)
})

test('[3.heartbeats] heartbeats are sent for the author while run is working', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const { io, stdout } = createFakeIo({ env: supervised })
    const works = tool({
      name: 'works',
      summary: 'Works',
      run: () => {
        vi.advanceTimersByTime(95_000)
        return 'done'
      },
    })
    expect(
      await main(toolset(works), ['works'], io, {
        signal: new AbortController().signal,
        prepareForTools: () => undefined,
        makeToolset: toolset,
        started: { execPath: 'node', execArgv: [], script: undefined },
      }),
    ).toBe(0)
    const types = stdout.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type)
    expect(types).toEqual(['start', 'heartbeat', 'heartbeat', 'heartbeat', 'result'])
    vi.advanceTimersByTime(95_000)
    expect(stdout.text.match(/heartbeat/g)).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})

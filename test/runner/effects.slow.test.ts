import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listNaming } from '../support/processes.ts'
import { runProgram } from '../support/run-program.ts'
import { last, makeProject } from './support.ts'

const project = makeProject({
  'tells-secrets.py': 'permissions: {secrets: [token]}',
  'makes-files.py':
    'inputs: [{name: input, type: path, required: true}, {name: output, type: path, required: true}]',
  'shows-its-environment.sh': 'env: {require: [AWS_REGION]}\n# plain',
  'floods.py': '',
  'prints-without-end.py': '# plain\nresources: {output_mb: 8}',
  'is-silent.sh': '# plain',
  'goes-beyond-the-caps.sh': '# plain',
})

async function run(args: readonly string[], env: { readonly [name: string]: string } = {}) {
  const { status, stdout, stderr, lines } = await project.toolable(['run', ...args], { env })
  const id: string = lines[0]?.run_id
  return { status, stdout, stderr, id, log: id === undefined ? [] : project.log(id) }
}

test('a secret reaches the tool and nothing else [7.run-secrets]', async () => {
  const secret = 'Sekret-"42"/é+x'
  const file = project.write('token.txt', secret)
  chmodSync(file, 0o600)
  const { status, stdout, stderr, id } = await run([
    '--secret-file',
    `token=${file}`,
    'tells_secrets',
  ])
  expect(status).toBe(30)
  const folder = project.run(id)
  const everything = [
    stdout,
    stderr,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  ].join('\n')
  expect(everything).toContain('[REDACTED]')
  for (const form of [
    secret,
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
  ])
    expect(everything).not.toContain(form)
  const given = await project.toolable(['run', '--secret-file', 'token=-', 'tells_secrets'], {
    input: `${secret}\n`,
  })
  expect([
    given.status,
    given.stdout.includes('[REDACTED]'),
    given.stdout.includes(secret),
  ]).toEqual([30, true, false])
  chmodSync(file, 0o644)
  const refused = await run(['--secret-file', `token=${file}`, 'tells_secrets'])
  expect(refused.status).toBe(77)
  expect(last(refused.log, 'runner_end')).toMatchObject({ state: 'failed', code: 'E_PERMISSION' })
})

test('what the environment says of a secret is in no record, and a refusal tells none either [7.run-secrets]', async () => {
  project.write(
    'tools/envious.yaml',
    'name: envious\ndescription: Counts its token\ncommand: exec\nentry: envious.sh\ncall: flags\nenv: {TOKEN: "${HOST_TOKEN}"}\npermissions: {secrets: [key]}\nparameters: {type: object, properties: {note: {type: string}, input: {type: string, format: path}}}\n',
  )
  chmodSync(project.write('tools/envious.sh', '#!/bin/sh\necho "got ${#TOKEN}"\n'), 0o755)
  chmodSync(project.write('key.txt', 'key-canary-0815'), 0o600)
  const { log, id } = await run(['envious'], { HOST_TOKEN: 'token-canary-4711' })
  expect(last(log, 'result')).toMatchObject({ result: 'got 17' })
  expect(readFileSync(join(project.run(id), 'run.json'), 'utf8')).not.toContain('token-canary-4711')
  const refused = await run(
    [
      '--secret-file',
      'key=key.txt',
      'envious',
      '--note',
      'key-canary-0815',
      '--input',
      'key-canary-0815',
    ],
    { HOST_TOKEN: 'x' },
  )
  expect(refused.status).toBe(66)
  expect(refused.stdout + JSON.stringify(refused.log)).not.toContain('key-canary-0815')
})

describe('what a tool makes', () => {
  test('is hashed, kept and put in its place; what lies outside is refused [7.run-artifacts] [7.run-outputs]', async () => {
    project.write('in.txt', 'hello')
    const { status, id, log } = await run([
      'makes_files',
      '--input',
      './in.txt',
      '--output',
      './out.txt',
    ])
    expect(status).toBe(0)
    expect(readFileSync(join(project.folder, 'out.txt'), 'utf8')).toBe('HELLO')
    const { artifacts } = last(log, 'result')!
    expect(artifacts).toMatchObject([
      {
        path: expect.stringMatching(/extra\.txt$/),
        sha256: createHash('sha256').update('extra').digest('hex'),
      },
    ])
    expect(log.filter(({ type }) => type === 'runner_warning')).toHaveLength(3)
    expect(readdirSync(join(project.run(id), 'artifacts'))).toHaveLength(1)
  })

  test('is not placed where its input is missing: nothing was started [7.run-outputs]', async () => {
    const { status, log } = await run([
      'makes_files',
      '--input',
      './nothing.txt',
      '--output',
      './never.txt',
    ])
    expect(status).toBe(66)
    expect(log.map(({ type }) => type)).toEqual(['runner_start', 'runner_error', 'runner_end'])
    expect(log[0]).toMatchObject({ refused: true })
    const policy = project.write('policy.yaml', 'version: 1\nfilesystem: {read: [./public]}\n')
    const forbidden = await run(['makes_files', '--input', './in.txt', '--output', './never.txt'], {
      TOOLABLE_POLICY: policy,
    })
    expect(forbidden.status).toBe(77)
    expect(last(forbidden.log, 'runner_error')).toMatchObject({
      code: 'E_PERMISSION',
      msg: expect.stringContaining(`${policy}:2 does not allow it`),
    })
    expect(existsSync(join(project.folder, 'never.txt'))).toBe(false)
  })
})

test('a tool made with this house knows the deadline of its run, and the earlier one counts [7.tool-deadline]', async () => {
  const env = {
    RUN_ID: 'r-0123456789',
    DEADLINE_TS: new Date(Date.now() + 3_600_000).toISOString(),
  }
  const left = async (
    args: readonly string[],
    given: { readonly [name: string]: string },
  ): Promise<number | null> =>
    (await runProgram('runner/tells-its-deadline.mjs', [...args, '--json'], { env: given })).json
      .result.left
  const [known, shorter, none] = await Promise.all([
    left([], env),
    left(['--timeout', '100'], env),
    left([], { DEADLINE_TS: env.DEADLINE_TS }),
  ])
  expect(known).toBeGreaterThan(3000)
  expect(known).toBeLessThanOrEqual(3600)
  expect(shorter).toBeLessThanOrEqual(100)
  expect(none).toBeNull()
})

test('a tool gets its run and what it requires, and nothing else [7.run-environment]', async () => {
  const missing = await run(['shows_its_environment'])
  expect(missing.status).toBe(78)
  const { log, id } = await run(['shows_its_environment'], {
    AWS_REGION: 'eu',
    SOME_SECRET: 'canary',
    TOOL_DEBUG: 'true',
  })
  const names = Object.fromEntries(
    log.filter(({ type }) => type === 'log').map(({ msg }) => (msg as string).split('=', 2)),
  )
  expect(names).toMatchObject({
    RUN_ID: id,
    AI_PROTOCOL_VERSION: '1',
    AWS_REGION: 'eu',
    TOOL_DEBUG: 'true',
    IDEMPOTENCY_KEY: id,
    WORKSPACE: join(project.run(id), 'work'),
  })
  for (const name of [
    'TRACE_ID',
    'DEADLINE_TS',
    'CANCEL_FILE',
    'LOG_DIR',
    'RUN_STDOUT',
    'TRACEPARENT',
  ])
    expect(names).toHaveProperty(name)
  expect(Object.keys(names)).not.toContain('SOME_SECRET')
})

describe('much output', () => {
  test('is recorded whole, or ended where it is too much [7.run-flood]', async () => {
    const flood = await run(['floods', '20000'])
    expect(flood.status).toBe(0)
    expect(flood.log.filter(({ type }) => type === 'progress')).toHaveLength(20_000)
    expect(flood.log.map(({ seq }) => seq)).toEqual(flood.log.map((_, index) => index + 1))
    const endless = await run(['prints_without_end'])
    expect(endless.status).toBe(1)
    expect(last(endless.log, 'runner_end')).toMatchObject({
      state: 'failed',
      code: 'E_OUTPUT_LIMIT',
    })
    const line = await run(['prints_without_end', '--one-line'])
    expect(last(line.log, 'runner_end')).toMatchObject({ state: 'failed', code: 'E_OUTPUT_LIMIT' })
  })

  test('has caps also where nobody asked for any: 1 MiB a line, 64 MB of stderr, 256 MB in all [7.run-caps]', async () => {
    const { status, id, log } = await run(['goes_beyond_the_caps'])
    expect(status).toBe(1)
    expect(last(log, 'runner_end')).toMatchObject({ state: 'failed', code: 'E_OUTPUT_LIMIT' })
    expect(JSON.stringify(log.find(({ type }) => type === 'runner_error'))).toContain(
      String(256 * 1024 * 1024),
    )
    expect(log.filter(({ type }) => type === 'diagnostic').map(({ bytes }) => bytes)).toContain(
      1_572_864,
    )
    const kept = statSync(join(project.run(id), 'logs', 'stderr.log')).size
    expect(kept).toBeGreaterThan(63 * 1024 * 1024)
    expect(kept).toBeLessThanOrEqual(65 * 1024 * 1024)
  })
})

test('a runner that is killed takes its tool with it, and the next start finishes its record [7.run-killed]', async () => {
  const mine = join(project.folder, 'tools/is_silent')
  const running = project.start(['run', 'is_silent'])
  await running.said('"runner_start"')
  await expect.poll(() => listNaming(mine).length).toBeGreaterThan(0)
  running.kill('SIGKILL')
  await running.ended
  await expect.poll(() => listNaming(mine)).toEqual([])
  const { json } = await project.toolable(['runs', 'list', '--tool', 'tools.is_silent', '--json'])
  expect(json.result.runs[0]).toMatchObject({ state: 'failed', code: 'E_INTERRUPTED' })
})

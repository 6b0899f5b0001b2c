import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runChild } from '../../../src/process/run.ts'
import { makeFolder } from '../../support/run-program.ts'
import { createToolEnvironment } from '../../../src/runner/permissions.ts'

const HOST = {
  PATH: '/usr/bin',
  HOME: '/home/me',
  USER: 'me',
  LANG: 'C',
  LC_ALL: 'C',
  TMPDIR: '/var/tmp',
  HTTPS_PROXY: 'http://proxy',
  SSL_CERT_FILE: '/etc/ca.pem',
  XDG_RUNTIME_DIR: '/run/user/1',
  TOOL_DEBUG: '1',
  TOKEN: 'secret',
  RUN_ID: 'r-outer',
  SSH_AUTH_SOCK: '/run/agent',
}
const RUN = {
  hostEnv: HOST,
  runId: 'r-0123456789',
  traceId: 't-1',
  workspace: '/w',
  logDir: '/l',
  cancelFile: '/c',
  idempotencyKey: 'k',
  deadline: 0,
}
const SAID = {
  RUN_ID: 'r-0123456789',
  TRACE_ID: 't-1',
  WORKSPACE: '/w',
  LOG_DIR: '/l',
  CANCEL_FILE: '/c',
  AI_PROTOCOL_VERSION: '1',
  IDEMPOTENCY_KEY: 'k',
  DEADLINE_TS: '1970-01-01T00:00:00.000Z',
  PYTHONIOENCODING: 'utf-8',
  TOOL_DEBUG: '1',
}

test('a tool gets what the run says, an allow-list, and what it requires by name [7.run-environment]', () => {
  expect(createToolEnvironment({}, RUN)).toEqual({
    ...SAID,
    PATH: '/usr/bin',
    HOME: '/home/me',
    USER: 'me',
    LANG: 'C',
    LC_ALL: 'C',
    TMPDIR: '/var/tmp',
    HTTPS_PROXY: 'http://proxy',
    SSL_CERT_FILE: '/etc/ca.pem',
    XDG_RUNTIME_DIR: '/run/user/1',
  })
  expect(
    createToolEnvironment(
      { requireEnv: ['TOKEN'], env: { MODE: 'x', RUN_ID: 'r-forged' } },
      { ...RUN, traceparent: '00-a-b-01' },
    ),
  ).toMatchObject({ ...SAID, TOKEN: 'secret', MODE: 'x', TRACEPARENT: '00-a-b-01' })
})

test('in a sandbox it gets nothing that names files or sockets of the host [7.run-environment]', () => {
  const confined = {
    ...SAID,
    PATH: '/usr/bin',
    HOME: '/w',
    USER: 'me',
    LANG: 'C',
    LC_ALL: 'C',
    TMPDIR: '/tmp',
  }
  expect(createToolEnvironment({}, { ...RUN, confined: { network: false } })).toEqual(confined)
  expect(createToolEnvironment({}, { ...RUN, confined: { network: true } })).toEqual({
    ...confined,
    SSL_CERT_FILE: '/etc/ca.pem',
  })
})

test('what it requires and nobody has is told before start [7.run-environment]', () => {
  expect(() => createToolEnvironment({ requireEnv: ['AWS_REGION', 'TOKEN'] }, RUN)).toThrow(
    expect.objectContaining({
      code: 'CONFIG',
      message: 'the tool needs the variable AWS_REGION in the environment',
    }),
  )
})

test('it is told which stdout is its own, in a sandbox too [7.run-environment]', async () => {
  const workspace = join(makeFolder(), 'work')
  mkdirSync(workspace)
  const child = {
    command: [
      'python3',
      '-c',
      'import os; s = os.fstat(1); print(os.environ["RUN_STDOUT"] == f"{s.st_dev}:{s.st_ino}")',
    ] as const,
    cwd: workspace,
    env: { PATH: process.env['PATH'] ?? '' },
    stdoutVariable: 'RUN_STDOUT',
  }
  const grants = { read: [], write: [], network: 'none', limits: {}, secrets: [] } as const
  const ends = await Promise.all([
    runChild(child),
    runChild({ ...child, sandbox: { grants, workspace, readable: [] } }),
  ])
  expect(
    ends.map(({ stdout, stderr, problem }) => `${stdout}${stderr}${problem?.message ?? ''}`),
  ).toEqual(['True\n', 'True\n'])
})

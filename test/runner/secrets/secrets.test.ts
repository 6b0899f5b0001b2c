import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { deliverSecrets, loadSecrets } from '../../../src/runner/secrets.ts'

const cwd = mkdtempSync(join(tmpdir(), 'secrets-'))
const put = (name: string, value: string | Buffer, mode = 0o600): string => {
  writeFileSync(join(cwd, name), value)
  chmodSync(join(cwd, name), mode)
  return name
}

afterAll(() => rmSync(cwd, { recursive: true }))

test('[7.secrets] secrets come from files of mode 0600 or stricter, and by stdin', async () => {
  put('a', 'hunter2hunter2\n')
  put('b', ' line one\nline two\r\n', 0o400)
  expect([
    ...(await loadSecrets(
      { token: 'a', 'api-key': join(cwd, 'b'), piped: '-' },
      { cwd, given: { piped: 'from stdin\n' } },
    )),
  ]).toEqual([
    ['token', 'hunter2hunter2'],
    ['api-key', ' line one\nline two'],
    ['piped', 'from stdin'],
  ])
})

test.each<[string, { [name: string]: string }, string, string]>([
  [
    'a file that others can read',
    { token: 'open' },
    'PERMISSION',
    'can be read by others (mode 0644)',
  ],
  ['a file of a group', { token: 'group' }, 'PERMISSION', 'can be read by others (mode 0640)'],
  ['a link', { token: 'link' }, 'PERMISSION', 'is a link'],
  ['a pipe, without waiting for it', { token: 'pipe' }, 'INVALID_PATH', 'is not a file'],
  ['a folder', { token: '.' }, 'INVALID_PATH', 'is not a file'],
  ['a file that is not there', { token: 'gone' }, 'INVALID_PATH', 'does not exist'],
  ['bytes that are no text', { token: 'binary' }, 'CONFIG', 'is not text'],
  [
    'a secret that is too short',
    { token: 'short' },
    'CONFIG',
    "the secret 'token' has less than 6 characters",
  ],
  [
    'a secret that is too large',
    { token: 'large' },
    'CONFIG',
    'has 70000 bytes, and a secret has 65536 at most',
  ],
  [
    'a name that leads elsewhere',
    { '../token': 'good' },
    'CONFIG',
    "'../token' cannot be the name of a secret",
  ],
  ['an empty name', { '': 'good' }, 'CONFIG', "'' cannot be the name of a secret"],
  [
    'two names that are one variable',
    { 'a-b': 'good', A_B: 'good' },
    'CONFIG',
    "the secrets 'a-b' and 'A_B' would both be A_B_FILE",
  ],
  [
    'a name that the manifest does not ask for',
    { other: 'good' },
    'PERMISSION',
    "the manifest of the tool does not ask for the secret 'other'",
  ],
  [
    'one from stdin that nobody gave',
    { token: '-' },
    'CONFIG',
    "nobody gave the secret 'token' by stdin",
  ],
])('[7.secrets-refused] %s is refused', async (_name, files, code, message) => {
  put('open', 'hunter2hunter2', 0o644)
  put('group', 'hunter2hunter2', 0o640)
  put('good', 'hunter2hunter2')
  put('binary', Buffer.from([0xff, 0xfe, 1, 2, 3, 4, 5, 6]))
  put('short', ' 12345 \n')
  put('large', 'x'.repeat(70_000))
  if (!existsSync(join(cwd, 'pipe'))) execFileSync('mkfifo', ['-m', '600', join(cwd, 'pipe')])
  if (!lstatSync(join(cwd, 'link'), { throwIfNoEntry: false }))
    symlinkSync('good', join(cwd, 'link'))
  const allowed = 'other' in files ? ['token'] : undefined
  await expect(loadSecrets(files, { cwd, ...(allowed && { allowed }) })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message) as string,
  })
})

test('[7.secrets-laid-out] without a sandbox they lie in a private folder in memory, and nothing stays', async () => {
  const laid = await deliverSecrets(
    new Map([
      ['api-key', 'hunter2hunter2'],
      ['token', 'other-secret'],
    ]),
    'L1',
  )
  const folder = laid.env['SECRETS_DIR']!
  expect(laid.env).toEqual({
    SECRETS_DIR: folder,
    API_KEY_FILE: join(folder, 'api-key'),
    TOKEN_FILE: join(folder, 'token'),
  })
  expect([
    readFileSync(laid.env['API_KEY_FILE']!, 'utf8'),
    statSync(folder).mode & 0o777,
    statSync(laid.env['TOKEN_FILE']!).mode & 0o777,
  ]).toEqual(['hunter2hunter2', 0o700, 0o600])
  // A tool may keep another name of its file, or put a link in its place.
  const [other, precious] = [join(folder, '..', `kept-${Date.now()}`), join(cwd, 'precious')]
  linkSync(laid.env['API_KEY_FILE']!, other)
  writeFileSync(precious, 'precious')
  rmSync(laid.env['TOKEN_FILE']!)
  symlinkSync(precious, laid.env['TOKEN_FILE']!)
  await laid.release()
  const left = readFileSync(other)
  rmSync(other)
  expect([
    existsSync(folder),
    left.equals(Buffer.alloc(14)),
    readFileSync(precious, 'utf8'),
  ]).toEqual([false, true, 'precious'])
})

test('[7.secrets-laid-out] in a sandbox they are files that exist only there', async () => {
  const laid = await deliverSecrets(new Map([['token', 'hunter2hunter2']]), 'L3')
  expect([
    laid.env,
    laid.files?.map(({ path, content }) => [path, Buffer.from(content).toString()]),
  ]).toEqual([
    { SECRETS_DIR: '/run/secrets', TOKEN_FILE: '/run/secrets/token' },
    [['/run/secrets/token', 'hunter2hunter2']],
  ])
  await laid.release()
  expect(Buffer.from(laid.files![0]!.content).every((byte) => byte === 0)).toBe(true)
  expect(await deliverSecrets(new Map(), 'L1')).toMatchObject({ env: {}, files: undefined })
})

test('[7.secrets-laid-out] what a killed process left is removed by the next one, and what is in use is not', async () => {
  const used = await deliverSecrets(new Map([['token', 'hunter2hunter2']]), 'L1')
  const place = join(used.env['SECRETS_DIR']!, '..')
  const left = join(place, 'toolable-secrets-4194304-123-left')
  mkdirSync(left)
  writeFileSync(join(left, 'token'), 'hunter2hunter2')
  const next = await deliverSecrets(new Map([['token', 'hunter2hunter2']]), 'L1')
  expect([existsSync(left), existsSync(used.env['SECRETS_DIR']!)]).toEqual([false, true])
  for (const { release } of [used, next]) await release()
  expect(
    readdirSync(place).filter((name) => name.startsWith(`toolable-secrets-${process.pid}-`)),
  ).toEqual([])
})

import { createServer } from 'node:net'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPlainYaml } from '../../../src/protocol/yaml.ts'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import type { Grants } from '../../../src/process/grants.ts'
import { RESOURCE_LIMITS } from '../../../src/process/grants.ts'
import { readManifest } from '../../../src/registry/manifests/yaml.ts'
import { readGrants } from '../../../src/process/permissions.ts'

let root: string
const service = createServer()

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'grants-')))
  for (const folder of ['data', 'work', 'project']) mkdirSync(join(root, folder))
  writeFileSync(join(root, 'data/one.txt'), 'one')
  symlinkSync('/etc', join(root, 'link'))
  await new Promise<void>((resolve) => service.listen(join(root, 'socket'), resolve))
})
afterAll(() => {
  service.close()
  rmSync(root, { recursive: true })
})

// The manifest as somebody writes it; R is the folder of the test.
async function grant(yaml: string): Promise<Grants> {
  const file = join(root, 'tool.yaml')
  const text = yaml.replaceAll('R/', `${root}/`)
  writeFileSync(file, text)
  const read = await readPlainYaml(text)
  if (!('value' in read)) throw new Error(read.problem.message)
  const { permissions, resources } = read.value as { permissions?: unknown; resources?: unknown }
  return readGrants(
    { permissions, resources, file },
    { workspace: join(root, 'work'), cwd: join(root, 'project') },
  )
}

async function refusal(yaml: string): Promise<ToolError> {
  const error: unknown = await grant(yaml).then(
    (grants) => {
      throw new Error(`accepted: ${JSON.stringify(grants)}`)
    },
    (thrown: unknown) => thrown,
  )
  if (!ToolError.is(error)) throw error
  return error
}

const filesystem = (kind: string, path: string): string =>
  `name: x\npermissions:\n  filesystem:\n    ${kind}:\n      - ${JSON.stringify(path)}\n`
const egress = (...servers: string[]): string =>
  `name: x\npermissions:\n  network:\n    egress_allow: ${JSON.stringify(servers)}\n`

const NOTHING: Grants = { read: [], write: [], network: 'none', limits: {}, secrets: [] }

describe('what a manifest asks for [7.grants-shape]', () => {
  test.each<[string, string, Partial<Grants> | (() => Partial<Grants>)]>([
    ['nothing at all', 'name: x\n', {}],
    ['the workspace, which is its own anyway', filesystem('write', '${WORKSPACE}/**'), {}],
    [
      'a part of the workspace that is not there yet',
      filesystem('read', '${WORKSPACE}/source/**'),
      {},
    ],
    [
      'a folder',
      filesystem('write', 'R/data/**'),
      () => ({ write: [{ path: join(root, 'data'), tree: true }] }),
    ],
    [
      'a file',
      filesystem('read', 'R/data/one.txt'),
      () => ({ read: [{ path: join(root, 'data/one.txt'), tree: false }] }),
    ],
    [
      'a file to read that is not there',
      filesystem('read', 'R/data/two.txt'),
      () => ({ read: [{ path: join(root, 'data/two.txt'), tree: false }] }),
    ],
    [
      'a folder to write that is not there',
      filesystem('write', 'R/nowhere/**'),
      () => ({ write: [{ path: join(root, 'nowhere'), tree: true }] }),
    ],
    [
      'a server, and the same again',
      egress('API.example.com:443', 'api.example.com:443'),
      { network: [{ host: 'api.example.com', port: 443 }] },
    ],
    [
      'a server of this machine',
      egress('localhost:5432'),
      { network: [{ host: 'localhost', port: 5432, local: true }] },
    ],
    [
      'limits beside its permissions',
      'resources: {cpu_seconds: 60, memory_mb: 256}\n',
      { limits: { cpuSeconds: 60, memoryMb: 256 } },
    ],
    [
      'limits in its permissions',
      'permissions: {resources: {processes: 4, file_mb: 1, output_mb: 1, line_kb: 1, workspace_mb: 9, grace_ms: 0}}\n',
      { limits: { processes: 4, fileMb: 1, outputMb: 1, lineKb: 1, workspaceMb: 9, graceMs: 0 } },
    ],
    [
      'secrets',
      'permissions: {secrets: [token, {name: key, file: R/data/one.txt}, token]}\n',
      () => ({ secrets: ['token', 'key'], secretFiles: { key: join(root, 'data/one.txt') } }),
    ],
    ['short: none', 'permissions: {filesystem: none, network: none}\n', {}],
    [
      'short: read',
      'permissions: {filesystem: read}\n',
      () => ({ read: [{ path: join(root, 'project'), tree: true }] }),
    ],
    [
      'short: read-only',
      'permissions: {filesystem: read-only}\n',
      () => ({ read: [{ path: join(root, 'project'), tree: true }] }),
    ],
    [
      'short: read-write',
      'permissions: {filesystem: read-write}\n',
      () => ({
        read: [{ path: join(root, 'project'), tree: true }],
        write: [{ path: join(root, 'project'), tree: true }],
      }),
    ],
    [
      'short: full, which a policy has to allow',
      'permissions: {network: full}\n',
      { network: 'open' },
    ],
  ])('%s', async (_name, yaml, expected) => {
    expect(await grant(yaml)).toEqual({
      ...NOTHING,
      ...(typeof expected === 'function' ? expected() : expected),
    })
  })
})

describe('what no manifest gets [7.grants-refused]', () => {
  test.each<[string, string, string, number, RegExp]>([
    ['the whole machine', filesystem('write', '/'), 'PERMISSION', 5, /whole machine/],
    ['the whole machine as a folder', filesystem('write', '/**'), 'PERMISSION', 5, /whole machine/],
    ['to read the whole machine', filesystem('read', '///**'), 'PERMISSION', 5, /whole machine/],
    ['a way out', filesystem('write', '${WORKSPACE}/../x/**'), 'PERMISSION', 5, /'\.\.'/],
    ['a way out by a long path', filesystem('read', '/srv/../etc/**'), 'PERMISSION', 5, /'\.\.'/],
    ['a pattern', filesystem('read', '/data/*/in'), 'CONFIG', 5, /pattern/],
    ['a pattern behind', filesystem('read', '/data/*.csv'), 'CONFIG', 5, /pattern/],
    ['two folders in one', filesystem('read', '/data/**/x/**'), 'CONFIG', 5, /pattern/],
    ['a choice', filesystem('read', '/{a,b}'), 'CONFIG', 5, /pattern/],
    ['a relative path', filesystem('read', 'data/**'), 'CONFIG', 5, /not an absolute path/],
    ['a home', filesystem('read', '~/**'), 'CONFIG', 5, /begins with ~/],
    [
      'another variable',
      filesystem('read', '${HOME}/**'),
      'CONFIG',
      5,
      /variable that means nothing/,
    ],
    [
      'a variable that only looks like the workspace',
      filesystem('write', '${WORKSPACE}evil/**'),
      'CONFIG',
      5,
      /variable that means nothing/,
    ],
    ['a NUL', filesystem('read', '/data\0/x'), 'CONFIG', 5, /NUL/],
    ['a link', filesystem('read', 'R/link/**'), 'PERMISSION', 5, /leads through the link/],
    [
      'a way through a link',
      filesystem('read', 'R/link/ssl/**'),
      'PERMISSION',
      5,
      /leads through the link/,
    ],
    ['other processes', filesystem('read', '/proc/**'), 'PERMISSION', 5, /machine itself/],
    ['devices', filesystem('write', '/dev/sda'), 'PERMISSION', 5, /machine itself/],
    ['the services of the machine', filesystem('read', '/run/**'), 'PERMISSION', 5, /services/],
    [
      'a service by its socket',
      filesystem('read', 'R/socket'),
      'PERMISSION',
      5,
      /neither a file nor a folder/,
    ],
    ['a folder without saying so', filesystem('read', 'R/data'), 'CONFIG', 5, /is a folder/],
    ['a file as a folder', filesystem('read', 'R/data/one.txt/**'), 'CONFIG', 5, /is no folder/],
    ['every server', egress('*'), 'PERMISSION', 4, /more than one server/],
    ['every server of a port', egress('*:443'), 'PERMISSION', 4, /more than one server/],
    [
      'all servers of a domain',
      egress('ok.example.com:443', '*.example.com:443'),
      'PERMISSION',
      4,
      /more than one server/,
    ],
    ['every port', egress('example.com:*'), 'PERMISSION', 4, /more than one server/],
    ['a range of ports', egress('example.com:80-90'), 'PERMISSION', 4, /range of ports/],
    ['no port', egress('example.com'), 'CONFIG', 4, /no port/],
    ['a port that is none', egress('example.com:0443'), 'CONFIG', 4, /port '0443'/],
    ['a port that is too large', egress('example.com:65536'), 'CONFIG', 4, /port '65536'/],
    ['an address for people', egress('https://example.com/x'), 'CONFIG', 4, /no host:port/],
    ['metadata of a cloud', egress('169.254.169.254:80'), 'PERMISSION', 4, /tells secrets/],
    ['metadata by name', egress('metadata.google.internal:80'), 'PERMISSION', 4, /tells secrets/],
    ['an address', egress('10.0.0.5:443'), 'PERMISSION', 4, /names an address/],
    ['an address in disguise', egress('2130706433:80'), 'PERMISSION', 4, /names an address/],
    ['an address in hexadecimal', egress('0x7f.1:80'), 'PERMISSION', 4, /names an address/],
    ['an address of six', egress('[::1]:80'), 'PERMISSION', 4, /names an address/],
    ['a name that is none', egress('ex ample.com:80'), 'CONFIG', 4, /host name/],
    [
      'a list that is a text',
      'permissions:\n  network: {egress_allow: "*"}\n',
      'CONFIG',
      2,
      /must be a list/,
    ],
    ['root', 'permissions:\n  user: root\n', 'PERMISSION', 2, /never runs as root/],
    [
      'the uid of root',
      'permissions:\n  filesystem: none\n  uid: 0\n',
      'PERMISSION',
      3,
      /never runs as root/,
    ],
    [
      'a misspelt key',
      'permissions:\n  filesistem: none\n',
      'CONFIG',
      2,
      /did you mean 'filesystem'/,
    ],
    [
      'a misspelt key inside',
      'permissions:\n  network: {egress: []}\n',
      'CONFIG',
      2,
      /unknown key 'egress'/,
    ],
    [
      'a misspelt word',
      'permissions:\n  filesystem: readwrite\n',
      'CONFIG',
      2,
      /is one of none, read/,
    ],
    ['permissions that are a list', 'permissions: [network]\n', 'CONFIG', 1, /must be an object/],
    ['a negative limit', 'resources:\n  cpu_seconds: -1\n', 'CONFIG', 2, /from 1 to/],
    [
      'an absurd limit',
      'name: x\nresources:\n  memory_mb: 99999999999\n',
      'CONFIG',
      3,
      /from 16 to/,
    ],
    ['half a limit', 'resources:\n  processes: 0.5\n', 'CONFIG', 2, /whole number/],
    ['a limit in words', 'resources:\n  memory_mb: "64"\n', 'CONFIG', 2, /whole number/],
    ['an unknown limit', 'resources:\n  memory: 64\n', 'CONFIG', 2, /did you mean 'memory_mb'/],
    [
      'a secret without a name',
      'permissions:\n  secrets: [{file: /x}]\n',
      'CONFIG',
      2,
      /needs 'name'/,
    ],
    [
      'a secret of another name',
      'permissions:\n  secrets: ["../x"]\n',
      'CONFIG',
      2,
      /no name for a secret/,
    ],
  ])('%s', async (_name, yaml, code, line, message) => {
    const error = await refusal(yaml)
    expect(error.message).toMatch(message)
    expect({
      code: error.code,
      place: error.message.slice(0, error.message.indexOf(': ')),
    }).toEqual({ code, place: `${join(root, 'tool.yaml')}:${line}` })
    expect(error.suggestion?.fix).toBeTruthy()
  })

  test('a key that is there twice', async () => {
    await expect(grant('permissions: {network: none, network: full}\n')).rejects.toThrow(
      "the key 'network' twice",
    )
  })

  test('a short form in the root of the machine', async () => {
    await expect(
      readGrants({ permissions: { filesystem: 'read' } }, { workspace: root, cwd: '/' }),
    ).rejects.toThrow('the whole machine')
  })

  test('a link that the tool planted in its workspace', async () => {
    symlinkSync('/etc', join(root, 'work/migrated'))
    expect((await refusal(filesystem('write', '${WORKSPACE}/migrated/**'))).message).toMatch(
      /leads through the link/,
    )
    rmSync(join(root, 'work/migrated'))
  })
})

test.each<[string, { readonly [key: string]: unknown }, RegExp | object | undefined]>([
  [
    'an orchestration manifest without permissions asks for nothing',
    { entry: 'cli.py', inputs: [] },
    {},
  ],
  [
    'resources and secrets beside permissions belong to them',
    {
      entry: 'cli.py',
      permissions: { network: 'none' },
      resources: { memory_mb: 64 },
      secrets: ['a'],
    },
    { network: 'none', resources: { memory_mb: 64 }, secrets: ['a'] },
  ],
  ['a script that is merely described has none', { command: 'python', entry: 'a.py' }, undefined],
  ['an empty key asks for nothing', { command: 'python', entry: 'a.py', permissions: null }, {}],
  [
    'what is no mapping is refused, not left out',
    { command: 'python', entry: 'a.py', permissions: 'none' },
    /not a mapping/,
  ],
  ['nor in the other form', { entry: 'cli.py', permissions: ['network'] }, /not a mapping/],
  [
    'a server that many calls share has none',
    { command: 'mcp', entry: 'http://127.0.0.1/', permissions: {} },
    /cannot be enforced/,
  ],
])('manifests: %s [7.grants-shape]', (_name, data, expected) => {
  const reading = readManifest({ name: 'x', ...data }, !('command' in data))!
  if (expected instanceof RegExp)
    expect('problem' in reading && reading.problem.message).toMatch(expected)
  else expect('value' in reading && reading.value.facts.permissions).toEqual(expected)
})

test('the limits in the documentation are the limits', () => {
  const text = readFileSync(new URL('../../../docs/permissions.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `([a-z_]+)` \| .+ \| (\d+) \| (\d+) \|$/gm)].map(
    ([, name, least, most]) => [name, Number(least), Number(most)],
  )
  expect(rows).toEqual(
    Object.entries(RESOURCE_LIMITS).map(([name, { least, most }]) => [name, least, most]),
  )
})

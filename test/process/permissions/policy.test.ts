import {
  lchownSync,
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
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import type { Grants, IsolationLevel } from '../../../src/process/grants.ts'
import { readGrants } from '../../../src/process/permissions.ts'
import { checkPolicy, checkUnconfined, decideLevel } from '../../../src/process/policy-check.ts'
import { hasPolicies, loadPolicies } from '../../../src/process/load-policies.ts'
import type { Policy } from '../../../src/process/policy.ts'

let root: string
const at = (...names: string[]): string => join(root, ...names)

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'policy-')))
})
beforeEach(() => {
  rmSync(root, { recursive: true, force: true })
  for (const folder of ['etc', 'project/deep', 'data', 'work'])
    mkdirSync(at(folder), { recursive: true })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Given = {
  readonly system?: string
  readonly env?: string
  readonly project?: string
  readonly deep?: string
}

function load({ system, env, project, deep }: Given): Promise<Policy> {
  const files: [string, string | undefined][] = [
    ['etc/policy.yaml', system],
    ['env.yaml', env],
    ['project/toolable.policy.yaml', project],
    ['project/deep/toolable.policy.yml', deep],
  ]
  for (const [file, text] of files)
    if (text !== undefined)
      writeFileSync(at(file), `version: 1\n${text.replaceAll('R/', `${root}/`)}`)
  return loadPolicies(
    at('project/deep'),
    env === undefined ? {} : { TOOLABLE_POLICY: at('env.yaml') },
    at('etc/policy.yaml'),
  )
}

async function check(given: Given, permissions: unknown, tool = 'files.copy'): Promise<Grants> {
  writeFileSync(at('tool.yaml'), `name: x\npermissions: ${JSON.stringify(permissions, null, 1)}\n`)
  const grants = await readGrants(
    { permissions, file: at('tool.yaml') },
    { workspace: at('work'), cwd: at('project') },
  )
  return checkPolicy(grants, await load(given), { tool, file: at('tool.yaml') })
}

async function refusal(promise: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await promise.then(
    (value) => {
      throw new Error(`accepted: ${JSON.stringify(value)}`)
    },
    (thrown: unknown) => thrown,
  )
  if (!ToolError.is(error)) throw error
  return error
}

const files = (kind: string, ...paths: string[]): unknown => ({
  filesystem: { [kind]: paths.map((path) => at(path)) },
})
const egress = (...servers: string[]): unknown => ({ network: { egress_allow: servers } })

describe('a manifest that asks for no more than its policies allow [7.policy-allows]', () => {
  test.each<[string, Given, () => unknown]>([
    ['no policy, and a server', {}, () => egress('api.example.com:443')],
    ['a folder below', { system: 'filesystem: {read: [R/data]}' }, () => files('read', 'data/**')],
    [
      'everything',
      { system: 'filesystem: {read: ["/**"], write: ["/"]}' },
      () => files('write', 'data/**'),
    ],
    [
      'a folder beside the policy',
      { project: 'filesystem: {read: [./deep/**]}' },
      () => files('read', 'project/deep/**'),
    ],
    [
      'any name below a domain',
      { env: 'network: {egress_allow: ["*.example.com:443"]}' },
      () => egress('a.b.example.com:443'),
    ],
    [
      'any server of a port',
      { env: 'network: {egress_allow: ["*:443"]}' },
      () => egress('example.com:443'),
    ],
    [
      'this machine, by name',
      { system: 'network: {local_allow: ["localhost:5432"]}' },
      () => egress('localhost:5432'),
    ],
    ['every server', { system: 'network: full' }, () => ({ network: 'full' })],
    [
      'limits',
      { system: 'resources: {memory_mb: 512}' },
      () => ({ resources: { memory_mb: 512 } }),
    ],
    ['a secret', { system: 'secrets: [token]' }, () => ({ secrets: ['token'] })],
    [
      'rules for other tools',
      { system: 'tools: {"git.*": {network: none}}' },
      () => egress('example.com:443'),
    ],
  ])('%s', async (_name, given, permissions) => {
    await check(given, permissions())
  })

  test('a limit that the manifest leaves open is the smallest that a policy names', async () => {
    const grants = await check(
      {
        system: 'resources: {memory_mb: 512, processes: 9}',
        project: 'resources: {memory_mb: 256}',
      },
      { resources: { processes: 3 } },
    )
    expect(grants.limits).toEqual({ memoryMb: 256, processes: 3 })
  })
})

describe('a manifest that asks for more is refused, with both lines [7.policy-refuses]', () => {
  test.each<[string, Given, () => unknown, number, string, RegExp]>([
    [
      'a folder outside',
      { system: 'filesystem:\n  read: [R/etc]' },
      () => files('read', 'data/**'),
      4,
      'etc/policy.yaml:3',
      /to read .*\/data,/,
    ],
    [
      'a folder above',
      { system: 'filesystem:\n  write: [R/project/deep/**]' },
      () => files('write', 'project/**'),
      4,
      'etc/policy.yaml:3',
      /to write/,
    ],
    [
      'a folder that only begins alike',
      { system: 'filesystem: {read: [R/dat]}' },
      () => files('read', 'data/**'),
      4,
      'etc/policy.yaml:2',
      /to read/,
    ],
    [
      'the project, by the short form',
      { system: 'filesystem: {write: []}' },
      () => ({ filesystem: 'read-write' }),
      3,
      'etc/policy.yaml:2',
      /to write .*\/project,/,
    ],
    [
      'another server',
      { env: 'network: {egress_allow: ["api.example.com:443"]}' },
      () => egress('api.example.com:443', 'evil.example.com:443'),
      4,
      'env.yaml:2',
      /evil\.example\.com:443/,
    ],
    [
      'the domain itself',
      { env: 'network: {egress_allow: ["*.example.com:443"]}' },
      () => egress('example.com:443'),
      4,
      'env.yaml:2',
      /example\.com:443/,
    ],
    [
      'a name that only ends alike',
      { env: 'network: {egress_allow: ["*.example.com:443"]}' },
      () => egress('notexample.com:443'),
      4,
      'env.yaml:2',
      /notexample/,
    ],
    [
      'another port',
      { env: 'network: {egress_allow: ["*:443"]}' },
      () => egress('example.com:80'),
      4,
      'env.yaml:2',
      /example\.com:80/,
    ],
    [
      'any network',
      { deep: 'network: none' },
      () => egress('example.com:443'),
      4,
      'project/deep/toolable.policy.yml:2',
      /example\.com:443/,
    ],
    [
      'this machine through a wide rule',
      { env: 'network: {egress_allow: ["*:*"]}' },
      () => egress('localhost:80'),
      4,
      '',
      /on this machine, which a policy has to allow/,
    ],
    [
      'every server, where no policy speaks',
      {},
      () => ({ network: 'full' }),
      3,
      '',
      /every server .* which a policy has to allow/,
    ],
    [
      'every server, where one policy says the opposite',
      { system: 'network: {egress_allow: ["*:443"]}', project: 'network: full' },
      () => ({ network: 'full' }),
      3,
      'etc/policy.yaml:2',
      /every server/,
    ],
    [
      'what only the project widens',
      {
        system: 'network: {egress_allow: ["a.example.com:443"]}',
        project: 'network: {egress_allow: ["*:*"]}',
      },
      () => egress('b.example.com:443'),
      4,
      'etc/policy.yaml:2',
      /b\.example\.com/,
    ],
    [
      'what a nearer policy of the project widens',
      { project: 'filesystem: {read: []}', deep: 'filesystem: {read: ["/"]}' },
      () => files('read', 'data/**'),
      4,
      'project/toolable.policy.yaml:2',
      /to read/,
    ],
    [
      'what a rule for the tool widens',
      { system: 'secrets: []\ntools:\n  files.*: {secrets: [token]}' },
      () => ({ secrets: ['token'] }),
      3,
      'etc/policy.yaml:2',
      /secret 'token'/,
    ],
    [
      'what a rule for the tool narrows',
      { system: 'network: full\ntools:\n  "files.*":\n    network: none' },
      () => egress('example.com:443'),
      4,
      'etc/policy.yaml:5',
      /example\.com/,
    ],
    [
      'more memory',
      { system: 'resources:\n  memory_mb: 256' },
      () => ({ resources: { memory_mb: 257 } }),
      4,
      'etc/policy.yaml:3',
      /memory_mb: 257, more than 256/,
    ],
    [
      'a file behind a secret',
      { system: 'filesystem: {read: []}' },
      () => ({ secrets: [{ name: 'key', file: '/etc/shadow' }] }),
      3,
      'etc/policy.yaml:2',
      /the secret in \/etc\/shadow/,
    ],
  ])('%s', async (_name, given, permissions, line, rule, message) => {
    const error = await refusal(check(given, permissions()))
    expect(error).toMatchObject({ code: 'PERMISSION', message: expect.stringMatching(message) })
    expect(error.message.startsWith(`${at('tool.yaml')}:${line}: 'files.copy' wants `)).toBe(true)
    expect(error.message).toContain(
      rule === '' ? 'has to allow' : `and ${at(rule)} does not allow it`,
    )
    expect(error.suggestion?.fix).toBeTruthy()
  })

  test('a tool without permissions, where a policy demands them', async () => {
    const policy = await load({ project: 'tools:\n  "files.*":\n    require_permissions: true' })
    expect((await refusal(checkUnconfined(policy, 'files.copy'))).message).toContain(
      `${at('project/toolable.policy.yaml')}:4 demands them`,
    )
    await checkUnconfined(policy, 'git.log')
  })
})

describe('a policy that is broken allows nothing [7.policy-broken]', () => {
  test.each<[string, string, RegExp]>([
    ['no YAML', 'network: [', /yaml.*line 2/],
    ['a list', '- a', /yaml/],
    ['another key', 'netwrok: none', /:2: unknown key 'netwrok'.*did you mean 'network'/],
    ['a key that is there twice', 'network: none\nnetwork: full', /twice/],
    ['a level that is none', 'min_level: L9', /:2: 'min_level' is one of L1, L2, L3/],
    ['a word that is none', 'network: some', /:2: 'network' is none, full or an object/],
    ['a pattern', 'filesystem: {read: ["/data/*/x"]}', /:2: .* is no folder for a policy/],
    ['a relative folder', 'filesystem: {read: [data]}', /no folder for a policy/],
    ['a way out', 'filesystem: {read: [./../..]}', /no folder for a policy/],
    ['a server without a port', 'network: {egress_allow: [example.com]}', /no host:port/],
    [
      'a limit that is none',
      'resources:\n  memory_mb: lots',
      /:3: 'memory_mb' must be a whole number/,
    ],
    ['a rule for a tool', 'tools:\n  a.b:\n    netwrok: none', /:4: unknown key/],
  ])('%s', async (_name, text, message) => {
    expect(await refusal(load({ project: text }))).toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(message),
    })
  })

  test('a folder that is a link of somebody who could turn it elsewhere', async () => {
    mkdirSync(at('data/real'))
    symlinkSync(at('data/real'), at('data/link'))
    if (process.getuid?.() === 0) lchownSync(at('data/link'), 65_534, 65_534)
    expect(
      (await refusal(load({ system: 'filesystem: {read: [R/data/link/sub/**]}' }))).message,
    ).toContain(`leads through the link ${at('data/link')}`)
  })

  test('an empty file, another version, a folder, and one that is named and not there', async () => {
    const file = at('project/toolable.policy.yaml')
    const reload = () => refusal(loadPolicies(at('project'), {}, at('etc/none.yaml')))
    writeFileSync(file, '')
    expect((await reload()).message).toContain('must be an object')
    writeFileSync(file, 'version: 2\n')
    expect((await reload()).message).toContain(':1: the version of a policy is 1; got 2')
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0x41]))
    expect((await reload()).message).toContain('not UTF-8')
    rmSync(file)
    mkdirSync(file)
    expect((await reload()).message).toContain('is no file')
    rmSync(file, { recursive: true })
    symlinkSync(at('etc/none.yaml'), file)
    expect(hasPolicies(at('project'), {}, at('etc/none.yaml'))).toBe(true)
    expect((await reload()).message).toContain('cannot be read: ENOENT')
    rmSync(file)
    expect(
      (
        await refusal(
          loadPolicies(at('project'), { TOOLABLE_POLICY: 'gone.yaml' }, at('etc/none.yaml')),
        )
      ).message,
    ).toContain('gone.yaml, which TOOLABLE_POLICY names, does not exist')
  })
})

test('the policy in the documentation is one [7.policy-allows]', async () => {
  const [, text] =
    /```\n(version: 1\n[\s\S]+?)```/.exec(
      readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8'),
    ) ?? []
  const { layers } = await load({ env: text!.replace('version: 1\n', '') })
  expect(layers).toMatchObject([
    {
      rules: {
        minLevel: 'L3',
        allowLevelOverride: false,
        write: [at('out')],
        secrets: ['api_token'],
      },
    },
    { pattern: 'git.*', rules: { network: { open: false, servers: [] } } },
  ])
})

test('answers of several policies: the first that knows one decides [7.policy-answers]', async () => {
  const { answers } = await load({
    system: 'answers: {overwrite: false}',
    project: 'answers: {overwrite: true, region: eu, __proto: 1}',
  })
  expect({ ...answers }).toEqual({ overwrite: false, region: 'eu', __proto: 1 })
})

describe('the level of a run [7.level-decided]', () => {
  const L3 = 'min_level: L3'
  const no = 'allow_level_override: false'
  test.each<
    [
      string,
      string,
      IsolationLevel,
      IsolationLevel,
      IsolationLevel | undefined,
      IsolationLevel | RegExp,
    ]
  >([
    ['what it needs', '', 'L3', 'L3', undefined, 'L3'],
    ['no more than it needs', '', 'L1', 'L3', undefined, 'L1'],
    ['never less because less is accepted', '', 'L3', 'L3', 'L1', 'L3'],
    [
      'refused where the machine cannot',
      '',
      'L3',
      'L1',
      undefined,
      /needs level L3, and this machine offers L1: no bubblewrap/,
    ],
    ['less where that is accepted', '', 'L3', 'L1', 'L1', 'L1'],
    ['refused where more than that is wanted', '', 'L3', 'L1', 'L2', /needs level L3/],
    ['more where the caller wants more', '', 'L1', 'L3', 'L3', 'L3'],
    ['refused where the caller wants more than there is', '', 'L1', 'L1', 'L3', /needs level L3/],
    ['more where a policy wants more', L3, 'L1', 'L3', undefined, 'L3'],
    [
      'refused where a policy wants more than there is',
      L3,
      'L1',
      'L1',
      'L1',
      /toolable\.policy\.yaml:2 allows no less/,
    ],
    [
      'refused where a policy forbids less',
      no,
      'L3',
      'L1',
      'L1',
      /toolable\.policy\.yaml:2 allows no less/,
    ],
  ])('%s', async (_name, text, needs, offered, allow, expected) => {
    const policy = await load({ project: text })
    const decision = decideLevel({
      tool: 'a.b',
      needs,
      offered,
      ...(allow && { allow }),
      policy,
      problem: new ToolError('SANDBOX_UNAVAILABLE', 'no bubblewrap', {
        suggestion: 'apt-get install bubblewrap',
      }),
    })
    if (typeof expected === 'string') return expect(await decision).toBe(expected)
    const error = await refusal(decision)
    expect(error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(expected),
    })
    expect(error.suggestion?.fix).toContain('apt-get install bubblewrap')
    return undefined
  })
})

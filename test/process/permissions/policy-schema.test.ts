import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { toConfigSchema } from '../../../src/protocol/config-shape.ts'
import { POLICY_SHAPE, readPolicy } from '../../../src/process/policy-file.ts'

const FILE = '../../../schemas/toolable.policy.schema.json'
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'toolable.policy.yaml',
  description: 'The most that any tool of toolable gets',
  ...toConfigSchema(POLICY_SHAPE),
}

// `npx vitest run test/process/permissions/policy-schema.test.ts -u` writes the file anew.
test('the published schema of a policy is that of its reader [7.policy-schema]', async () => {
  await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(FILE)
})

describe('the published schema of a policy and its reader agree [7.policy-schema]', () => {
  const accepts = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
  const judge = async (policy: unknown): Promise<readonly boolean[]> => [
    await readPolicy('/srv/toolable.policy.yaml', stringify(policy)).then(
      () => true,
      () => false,
    ),
    accepts(policy),
  ]
  const v = { version: 1 }

  test.each([
    [v],
    [
      {
        ...v,
        min_level: 'L3',
        allow_level_override: false,
        require_permissions: true,
        secrets: ['api_token'],
      },
    ],
    [
      {
        ...v,
        filesystem: {
          read: ['/', '/**', '/srv/data/**', '.', './**', './a', '~', '~/x/**', '/a..b/c'],
          write: [],
        },
      },
    ],
    [
      {
        ...v,
        network: 'none',
        tools: { 'git.*': { network: 'full', resources: { grace_ms: 0 } } },
        answers: { overwrite: false, way: { a: 1 } },
      },
    ],
    [
      {
        ...v,
        network: {
          egress_allow: ['api.example.com:443', '*.Internal.example.com:*', '*:443'],
          local_allow: ['localhost:5432', '[::1]:80'],
        },
        resources: { memory_mb: 16, cpu_seconds: 604_800 },
      },
    ],
  ])('on good ones: %j', async (policy) => {
    expect(await judge(policy)).toEqual([true, true])
  })

  test.each([
    [{}],
    [{ version: 2 }],
    [{ ...v, verson: 1 }],
    [[]],
    [{ ...v, min_level: 'L4' }],
    [{ ...v, allow_level_override: 'no' }],
    [{ ...v, secrets: 'token' }],
    [{ ...v, secrets: [''] }],
    [{ ...v, filesystem: { read: '/x' } }],
    [{ ...v, filesystem: { read: ['data/**'] } }],
    [{ ...v, filesystem: { write: ['/a/../b'] } }],
    [{ ...v, filesystem: { write: ['../..'] } }],
    [{ ...v, filesystem: { read: ['/a/*.csv'] } }],
    [{ ...v, filesystem: { exec: [] } }],
    [{ ...v, network: 'some' }],
    [{ ...v, network: { egress_allow: ['example.com'] } }],
    [{ ...v, network: { egress_allow: ['example.com:0'] } }],
    [{ ...v, network: { egress_alow: [] } }],
    [{ ...v, network: { local_allow: ['a*.example.com:1'] } }],
    [{ ...v, resources: { memory_mb: 15 } }],
    [{ ...v, resources: { memory_mb: '64' } }],
    [{ ...v, resources: { memory: 64 } }],
    [{ ...v, tools: { '*': { version: 1 } } }],
    [{ ...v, tools: [] }],
    [{ ...v, answers: [] }],
  ])('on bad ones: %j', async (policy) => {
    expect(await judge(policy)).toEqual([false, false])
  })
})

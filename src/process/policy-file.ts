/**
 * Parses one policy file. A policy that cannot be understood is an error, because ignoring it would
 * widen what it limits.
 */

import { lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { ConfigShape } from '../protocol/config-shape.ts'
import { findConfigMismatch } from '../protocol/config-shape.ts'
import type { KeyPath, LocatedDocument } from '../protocol/documents.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readYamlDocument } from '../protocol/yaml.ts'
import { resolveRealPath } from '../util/files.ts'
import { shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { IsolationLevel, LimitName } from './grants.ts'
import { ISOLATION_LEVELS, RESOURCES_SHAPE } from './grants.ts'
import { PermissionFault } from './permission-entries.ts'
import { readLimit } from './permissions.ts'
import type { NetworkRules, Policy, PolicyLayer, PolicyRules } from './policy.ts'

type PolicyDocument = { readonly [key: string]: unknown }

/**
 * The policy of one file. Throws CONFIG with file and line for what cannot be understood: a policy
 * that is not understood allows nothing.
 */
export async function readPolicy(file: string, text: string): Promise<Policy> {
  const document = await readYamlDocument(file, text)
  try {
    const misfit = findConfigMismatch(POLICY_SHAPE, document.value)
    if (misfit)
      throw new PermissionFault(
        'CONFIG',
        misfit.path,
        misfit.message,
        misfit.fix ?? 'See docs/policy.md',
      )
    return parsePolicy(file, document.value as PolicyDocument, document)
  } catch (error) {
    if (!(error instanceof PermissionFault)) throw error
    const place = await document.locate(error.path)
    throw new ToolError('CONFIG', `${file}${place ? `:${place.line}` : ''}: ${error.message}`, {
      suggestion: error.fix,
      details: { file, ...place },
    })
  }
}

function parsePolicy(file: string, data: PolicyDocument, { locate }: LocatedDocument): Policy {
  if (data['version'] !== 1)
    throw new PermissionFault(
      'CONFIG',
      ['version'],
      `the version of a policy is 1; got ${shorten(JSON.stringify(data['version']) ?? 'nothing', 40)}`,
      'Write version: 1',
    )
  const layer = (rules: PolicyDocument, path: KeyPath, pattern?: string): PolicyLayer =>
    compact({ file, path, locate, rules: parseRules(rules, path, dirname(file)), pattern })
  const tools = Object.entries(
    (data['tools'] ?? {}) as { readonly [pattern: string]: PolicyDocument },
  )
  return {
    layers: [
      layer(data, []),
      ...tools.map(([pattern, rules]) => layer(rules, ['tools', pattern], pattern)),
    ],
    answers: (data['answers'] ?? {}) as Policy['answers'],
  }
}

function parseRules(data: PolicyDocument, path: KeyPath, folder: string): PolicyRules {
  const {
    min_level: minLevel,
    allow_level_override: allowLevelOverride,
    require_permissions: requirePermissions,
    filesystem,
    network,
    resources,
    secrets,
  } = data
  const paths = isObject(filesystem) ? parsePaths(filesystem, [...path, 'filesystem'], folder) : {}
  return {
    ...compact({
      minLevel: minLevel !== undefined ? parseLevel(minLevel, [...path, 'min_level']) : undefined,
      allowLevelOverride: typeof allowLevelOverride === 'boolean' ? allowLevelOverride : undefined,
      requirePermissions: typeof requirePermissions === 'boolean' ? requirePermissions : undefined,
    }),
    ...paths,
    ...compact({
      network: network !== undefined ? parseNetwork(network, [...path, 'network']) : undefined,
      limits: isObject(resources)
        ? Object.fromEntries(
            Object.entries(resources).map(([name, value]) => [
              name,
              readLimit(name as LimitName, value, [...path, 'resources', name]),
            ]),
          )
        : undefined,
      secrets: Array.isArray(secrets) ? (secrets as readonly string[]) : undefined,
    }),
  }
}

function parseLevel(value: unknown, path: KeyPath): IsolationLevel {
  const level = ISOLATION_LEVELS.find((one) => one === value)
  if (level === undefined)
    throw new PermissionFault(
      'CONFIG',
      path,
      `'min_level' is one of ${ISOLATION_LEVELS.join(', ')}; got '${shorten(String(value), 40)}'`,
      'Write min_level: L3',
    )
  return level
}

function parsePaths(
  filesystem: PolicyDocument,
  path: KeyPath,
  folder: string,
): { readonly read?: readonly string[]; readonly write?: readonly string[] } {
  return Object.fromEntries(
    (['read', 'write'] as const).flatMap((wanted) => {
      const places = filesystem[wanted] as readonly string[] | undefined
      return places === undefined
        ? []
        : [
            [
              wanted,
              places.map((text, index) => parsePolicyPath(text, [...path, wanted, index], folder)),
            ],
          ]
    }),
  )
}

/**
 * A prefix: `/data` and `/data/**` mean the same, `./` begins at the policy, and `~/` at the home
 * that the system knows, whatever the environment says.
 */
function parsePolicyPath(text: string, path: KeyPath, folder: string): string {
  const bare = text.endsWith('/**') ? text.slice(0, -3) || '/' : text
  const isOwn = bare === '.' || bare.startsWith('./') || bare === '~' || bare.startsWith('~/')
  if (
    /[*?[\]{}\u0000-\u001f]/.test(bare) ||
    bare.split('/').includes('..') ||
    !(isAbsolute(bare) || isOwn)
  ) {
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${shorten(text.replace(/[\u0000-\u001f]/g, '�'), 200)}' is no folder for a policy`,
      'Write /data/**, ./data/** or ~/data/**',
    )
  }
  const absolute = bare.startsWith('~')
    ? join(userInfo().homedir, bare.slice(1))
    : resolve(folder, bare)
  const link = findUserLink(absolute)
  if (link !== undefined)
    throw new PermissionFault(
      'CONFIG',
      path,
      `'${shorten(text, 200)}' leads through the link ${link}, which its owner can turn to anywhere`,
      `Write ${resolveRealPath(absolute) ?? 'the folder that it leads to'}`,
    )
  return resolveRealPath(absolute) ?? absolute
}

// Links of the system lead where they always lead.
function findUserLink(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink() && stats.uid !== 0) return path
  return dirname(path) === path ? undefined : findUserLink(dirname(path))
}

function parseNetwork(network: unknown, path: KeyPath): NetworkRules {
  if (network === 'none') return { open: false, servers: [], local: [] }
  if (network === 'full') return { open: true, servers: ['*:*'], local: [] }
  if (!isObject(network))
    throw new PermissionFault(
      'CONFIG',
      path,
      `'network' is none, full or an object; got '${shorten(String(network), 40)}'`,
      'Write network: none',
    )
  const { egress_allow: servers = [], local_allow: local = [] } = network as {
    readonly egress_allow?: readonly string[]
    readonly local_allow?: readonly string[]
  }
  const check = (key: string, list: readonly string[]): readonly string[] =>
    list.map((text, index) => {
      if (!SERVER_PATTERN.test(text))
        throw new PermissionFault(
          'CONFIG',
          [...path, key, index],
          `'${shorten(text, 200)}' is no host:port`,
          'Write api.example.com:443, *.example.com:443 or *:443',
        )
      return text.toLowerCase()
    })
  return {
    open: false,
    servers: check('egress_allow', servers),
    local: check('local_allow', local),
  }
}

/**
 * A server in a policy: `host:port`, where the host may begin with `*.` or be `*`, and the port may
 * be `*`.
 */
const SERVER_PATTERN =
  /^(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:]+\]):(\*|[1-9]\d{0,4})$/

// Absolute, or from the policy or the home; everything in it with /** at the end; no other
// patterns, and no way upwards.
const PATH_PATTERN =
  '^(?!.*(^|/)\\.\\.(/|$))(/[^*?\\[\\]{}\\u0000-\\u001f]*|[.~](/[^*?\\[\\]{}\\u0000-\\u001f]*)?)?(/\\*\\*)?$'

const textsShape: ConfigShape = { is: 'list', of: { is: 'text' } }
const serversShape: ConfigShape = {
  is: 'list',
  of: { is: 'text', schema: { pattern: SERVER_PATTERN.source } },
}
const pathsShape: ConfigShape = {
  is: 'list',
  of: { is: 'text', schema: { pattern: PATH_PATTERN } },
}
const withDescription = <Given extends ConfigShape>(shape: Given, description: string): Given => ({
  ...shape,
  schema: { ...shape.schema, description },
})

const RULE_SHAPES: { readonly [key: string]: ConfigShape } = {
  min_level: {
    is: 'text',
    schema: { enum: ISOLATION_LEVELS, description: 'The least level that any tool runs at' },
  },
  allow_level_override: withDescription(
    { is: 'switch' },
    'Whether --allow-level may be used; false refuses it',
  ),
  require_permissions: withDescription(
    { is: 'switch' },
    'Whether tools without permissions are refused',
  ),
  filesystem: withDescription(
    {
      is: 'object',
      keys: {
        read: withDescription(
          pathsShape,
          'Folders and files that tools may read, with everything in them',
        ),
        write: withDescription(
          pathsShape,
          'Folders and files that tools may write, with everything in them',
        ),
      },
    },
    'What tools may read and write at most; ./ starts at the policy, ~/ at your home',
  ),
  network: withDescription(
    {
      is: 'either',
      short: { is: 'text', schema: { enum: ['none', 'full'] } },
      long: {
        is: 'object',
        keys: {
          egress_allow: withDescription(
            serversShape,
            'Servers: host:port, *.example.com:443, *:443',
          ),
          local_allow: withDescription(serversShape, 'Servers of this machine: localhost:5432'),
        },
      },
    },
    'Which servers tools may talk to at most',
  ),
  resources: withDescription(RESOURCES_SHAPE, 'The most of each limit'),
  secrets: withDescription(textsShape, 'Names of secrets that tools may have'),
}

/** What may stand in a policy. */
export const POLICY_SHAPE: ConfigShape = {
  is: 'object',
  keys: {
    version: { is: 'anything', schema: { const: 1, description: 'The version of this form' } },
    ...RULE_SHAPES,
    tools: withDescription(
      { is: 'map', of: { is: 'object', keys: RULE_SHAPES } },
      'The same keys for tools whose id (<source>.<tool>) fits; * is any text. They narrow, they never widen',
    ),
    answers: withDescription(
      { is: 'map', of: { is: 'anything' } },
      'Answers to questions of tools, by key or action',
    ),
  },
  required: ['version'],
}

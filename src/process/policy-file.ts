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
import { compact } from '../util/values.ts'
import type { IsolationLevel, LimitName } from './grants.ts'
import { ISOLATION_LEVELS, RESOURCES_SHAPE, TEXT_LIST_SHAPE } from './grants.ts'
import { formatLocation, PermissionFault } from './permission-entries.ts'
import { readLimit } from './permissions.ts'
import type { NetworkRules, Policy, PolicyLayer, PolicyRules } from './policy.ts'

/** The rules of a policy as POLICY_SHAPE lets them pass. */
type RulesDocument = {
  readonly min_level?: string
  readonly allow_level_override?: boolean
  readonly require_permissions?: boolean
  readonly filesystem?: { readonly [wanted in 'read' | 'write']?: readonly string[] }
  readonly network?:
    string | { readonly egress_allow?: readonly string[]; readonly local_allow?: readonly string[] }
  readonly resources?: { readonly [name in LimitName]?: unknown }
  readonly secrets?: readonly string[]
}

type PolicyDocument = RulesDocument & {
  readonly version: unknown
  readonly tools?: { readonly [pattern: string]: RulesDocument }
  readonly answers?: Policy['answers']
}

/** Parses the policy of one file. Throws CONFIG with file and line. */
export async function readPolicy(file: string, text: string): Promise<Policy> {
  const document = await readYamlDocument(file, text)
  try {
    const misfit = findConfigMismatch(POLICY_SHAPE, document.value)
    if (misfit)
      throw new PermissionFault(misfit.path, misfit.message, misfit.fix ?? 'See docs/policy.md')
    return parsePolicy(file, document.value as PolicyDocument, document)
  } catch (error) {
    if (!(error instanceof PermissionFault)) throw error
    const position = await document.locate(error.path)
    throw new ToolError('CONFIG', formatLocation(file, position) + error.message, {
      suggestion: error.fix,
      details: { file, ...position },
    })
  }
}

function parsePolicy(
  file: string,
  { version, tools = {}, answers = {}, ...general }: PolicyDocument,
  { locate }: LocatedDocument,
): Policy {
  if (version !== 1)
    throw new PermissionFault(
      ['version'],
      `the version of a policy is 1; got ${shorten(JSON.stringify(version) ?? 'nothing', 40)}`,
      'Write version: 1',
    )
  const layer = (rules: RulesDocument, path: KeyPath, pattern?: string): PolicyLayer =>
    compact({ file, path, locate, rules: parseRules(rules, path, dirname(file)), pattern })
  return {
    layers: [
      layer(general, []),
      ...Object.entries(tools).map(([pattern, rules]) => layer(rules, ['tools', pattern], pattern)),
    ],
    answers,
  }
}

function parseRules(data: RulesDocument, path: KeyPath, folder: string): PolicyRules {
  const {
    min_level: minLevel,
    allow_level_override: allowLevelOverride,
    require_permissions: requirePermissions,
    filesystem = {},
    network,
    resources,
    secrets,
  } = data
  const parsePaths = (wanted: 'read' | 'write'): readonly string[] | undefined =>
    filesystem[wanted]?.map((text, index) =>
      parsePolicyPath(text, [...path, 'filesystem', wanted, index], folder),
    )
  return compact({
    minLevel: minLevel === undefined ? undefined : parseLevel(minLevel, [...path, 'min_level']),
    allowLevelOverride,
    requirePermissions,
    read: parsePaths('read'),
    write: parsePaths('write'),
    network: network === undefined ? undefined : parseNetwork(network, [...path, 'network']),
    limits: resources && parseLimits(resources, path),
    secrets,
  })
}

function parseLimits(resources: object, path: KeyPath): PolicyRules['limits'] {
  return Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [
      name,
      readLimit(name as LimitName, value, [...path, 'resources', name]),
    ]),
  )
}

function parseLevel(value: unknown, path: KeyPath): IsolationLevel {
  const level = ISOLATION_LEVELS.find((one) => one === value)
  if (level === undefined)
    throw new PermissionFault(
      path,
      `'min_level' is one of ${ISOLATION_LEVELS.join(', ')}; got '${shorten(String(value), 40)}'`,
      'Write min_level: L3',
    )
  return level
}

/**
 * Parses a prefix: `/data` and `/data/**` mean the same, `./` begins at the policy, and `~/` at the
 * home folder in the user database, which the environment cannot change.
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
      path,
      `'${shorten(text, 200)}' leads through the link ${link}, which its owner can turn to anywhere`,
      `Write ${resolveRealPath(absolute) ?? 'the folder that it leads to'}`,
    )
  return resolveRealPath(absolute) ?? absolute
}

// Links that root owns are part of the system and do not change.
function findUserLink(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink() && stats.uid !== 0) return path
  return dirname(path) === path ? undefined : findUserLink(dirname(path))
}

function parseNetwork(network: NonNullable<RulesDocument['network']>, path: KeyPath): NetworkRules {
  if (network === 'none') return { open: false, servers: [], local: [] }
  if (network === 'full') return { open: true, servers: ['*:*'], local: [] }
  if (typeof network === 'string')
    throw new PermissionFault(
      path,
      `'network' is none, full or an object; got '${shorten(network, 40)}'`,
      'Write network: none',
    )
  const parseServers = (key: 'egress_allow' | 'local_allow'): readonly string[] =>
    (network[key] ?? []).map((text, index) => {
      if (SERVER_PATTERN.test(text)) return text.toLowerCase()
      throw new PermissionFault(
        [...path, key, index],
        `'${shorten(text, 200)}' is no host:port`,
        'Write api.example.com:443, *.example.com:443 or *:443',
      )
    })
  return { open: false, servers: parseServers('egress_allow'), local: parseServers('local_allow') }
}

/** `host:port`, where the host may begin with `*.` or be `*`, and the port may be `*`. */
const SERVER_PATTERN =
  /^(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:]+\]):(\*|[1-9]\d{0,4})$/

// Absolute, or relative to the policy or the home folder; `/**` at the end is the only pattern, and
// `..` is refused.
const PATH_PATTERN =
  '^(?!.*(^|/)\\.\\.(/|$))(/[^*?\\[\\]{}\\u0000-\\u001f]*|[.~](/[^*?\\[\\]{}\\u0000-\\u001f]*)?)?(/\\*\\*)?$'

const toListShape = (pattern: string): ConfigShape => ({
  is: 'list',
  of: { is: 'text', schema: { pattern } },
})
const serversShape = toListShape(SERVER_PATTERN.source)
const pathsShape = toListShape(PATH_PATTERN)
const withDescription = (shape: ConfigShape, description: string): ConfigShape => ({
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
  secrets: withDescription(TEXT_LIST_SHAPE, 'Names of secrets that tools may have'),
}

/** The shape of a policy. */
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

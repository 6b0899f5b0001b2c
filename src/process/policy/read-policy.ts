import { lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { KeyPath, LocatedDocument } from '../../contract/documents/document.ts'
import { readYaml } from '../../contract/documents/read-yaml.ts'
import { findMisfit } from '../../contract/documents/shape.ts'
import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Fault } from '../permissions/fault.ts'
import { LEVELS } from '../permissions/grants.ts'
import type { Level } from '../permissions/grants.ts'
import { readLimit } from '../permissions/read-grants.ts'
import type { LimitName } from '../permissions/shape.ts'
import { realPath } from '../sandbox/paths.ts'
import type { NetworkRules, Policy, PolicyLayer, PolicyRules } from './policy.ts'
import { POLICY_SHAPE, SERVER } from './shape.ts'

type Data = { readonly [key: string]: unknown }

/** The policy of one file. Throws CONFIG with file and line for what cannot be understood: a policy that is not understood allows nothing. */
export async function readPolicy(file: string, text: string): Promise<Policy> {
  const document = await readYaml(file, text)
  try {
    const misfit = findMisfit(POLICY_SHAPE, document.value)
    if (misfit)
      throw new Fault('CONFIG', misfit.path, misfit.message, misfit.fix ?? 'See docs/policy.md')
    return policyOf(file, document.value as Data, document)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const place = await document.locate(error.path)
    throw new ToolError('CONFIG', `${file}${place ? `:${place.line}` : ''}: ${error.message}`, {
      suggestion: error.fix,
      details: { file, ...place },
    })
  }
}

function policyOf(file: string, data: Data, { locate }: LocatedDocument): Policy {
  if (data['version'] !== 1)
    throw new Fault(
      'CONFIG',
      ['version'],
      `the version of a policy is 1; got ${shorten(JSON.stringify(data['version']) ?? 'nothing', 40)}`,
      'Write version: 1',
    )
  const layer = (rules: Data, path: KeyPath, pattern?: string): PolicyLayer => ({
    file,
    path,
    locate,
    rules: rulesOf(rules, path, dirname(file)),
    ...(pattern !== undefined && { pattern }),
  })
  const tools = Object.entries((data['tools'] ?? {}) as { readonly [pattern: string]: Data })
  return {
    layers: [
      layer(data, []),
      ...tools.map(([pattern, rules]) => layer(rules, ['tools', pattern], pattern)),
    ],
    answers: (data['answers'] ?? {}) as Policy['answers'],
  }
}

function rulesOf(data: Data, path: KeyPath, folder: string): PolicyRules {
  const {
    min_level: minLevel,
    allow_level_override: allowLevelOverride,
    require_permissions: requirePermissions,
    filesystem,
    network,
    resources,
    secrets,
  } = data
  return {
    ...(minLevel !== undefined && { minLevel: levelOf(minLevel, [...path, 'min_level']) }),
    ...(typeof allowLevelOverride === 'boolean' && { allowLevelOverride }),
    ...(typeof requirePermissions === 'boolean' && { requirePermissions }),
    ...(isObject(filesystem) && placesOf(filesystem, [...path, 'filesystem'], folder)),
    ...(network !== undefined && { network: networkOf(network, [...path, 'network']) }),
    ...(isObject(resources) && {
      limits: Object.fromEntries(
        Object.entries(resources).map(([name, value]) => [
          name,
          readLimit(name as LimitName, value, [...path, 'resources', name]),
        ]),
      ),
    }),
    ...(Array.isArray(secrets) && { secrets: secrets as readonly string[] }),
  }
}

function levelOf(value: unknown, path: KeyPath): Level {
  const level = LEVELS.find((one) => one === value)
  if (level === undefined)
    throw new Fault(
      'CONFIG',
      path,
      `'min_level' is one of ${LEVELS.join(', ')}; got '${shorten(String(value), 40)}'`,
      'Write min_level: L3',
    )
  return level
}

function placesOf(
  filesystem: Data,
  path: KeyPath,
  folder: string,
): { readonly read?: readonly string[]; readonly write?: readonly string[] } {
  return Object.fromEntries(
    (['read', 'write'] as const).flatMap((wanted) => {
      const places = filesystem[wanted] as readonly string[] | undefined
      return places === undefined
        ? []
        : [[wanted, places.map((text, index) => placeOf(text, [...path, wanted, index], folder))]]
    }),
  )
}

/** A prefix: `/data` and `/data/**` mean the same, `./` begins at the policy, and `~/` at the home that the system knows, whatever the environment says. */
function placeOf(text: string, path: KeyPath, folder: string): string {
  const bare = text.endsWith('/**') ? text.slice(0, -3) || '/' : text
  const isOwn = bare === '.' || bare.startsWith('./') || bare === '~' || bare.startsWith('~/')
  if (
    /[*?[\]{}\u0000-\u001f]/.test(bare) ||
    bare.split('/').includes('..') ||
    !(isAbsolute(bare) || isOwn)
  ) {
    throw new Fault(
      'CONFIG',
      path,
      `'${shorten(text.replace(/[\u0000-\u001f]/g, '�'), 200)}' is no folder for a policy`,
      'Write /data/**, ./data/** or ~/data/**',
    )
  }
  const absolute = bare.startsWith('~')
    ? join(userInfo().homedir, bare.slice(1))
    : resolve(folder, bare)
  const link = findLooseLink(absolute)
  if (link !== undefined)
    throw new Fault(
      'CONFIG',
      path,
      `'${shorten(text, 200)}' leads through the link ${link}, which its owner can turn to anywhere`,
      `Write ${realPath(absolute) ?? 'the folder that it leads to'}`,
    )
  return realPath(absolute) ?? absolute
}

// Links of the system lead where they always lead.
function findLooseLink(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink() && stats.uid !== 0) return path
  return dirname(path) === path ? undefined : findLooseLink(dirname(path))
}

function networkOf(network: unknown, path: KeyPath): NetworkRules {
  if (network === 'none') return { open: false, servers: [], local: [] }
  if (network === 'full') return { open: true, servers: ['*:*'], local: [] }
  if (!isObject(network))
    throw new Fault(
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
      if (!SERVER.test(text))
        throw new Fault(
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

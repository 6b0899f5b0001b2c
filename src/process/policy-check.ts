/**
 * Compares grants, paths and isolation levels with the policies.
 */

import type { KeyPath } from '../protocol/documents.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside } from '../util/files.ts'
import { compact } from '../util/values.ts'
import type { EgressGrant, Grants, IsolationLevel, LimitName, ResourceLimits } from './grants.ts'
import { ISOLATION_LEVELS, RESOURCE_LIMITS } from './grants.ts'
import type { PreparedPaths } from './inputs.ts'
import { formatLocation, locatePermission } from './permission-entries.ts'
import type { Policy, PolicyLayer } from './policy.ts'
import { formatRuleLocation, selectLayers } from './policy.ts'

/** Whose grants are looked at: the id of the tool, and the file that its permissions stand in. */
export type PolicySubject = { readonly tool: string; readonly file?: string | undefined }

/**
 * What a tool asks for and a policy does not give: the words, where the manifest says it, and which
 * key of which layer forbids it.
 */
type PolicyExcess = {
  readonly what: string
  readonly asked: KeyPath
  readonly layer?: PolicyLayer
  readonly rule?: KeyPath
  readonly fix: string
}

/**
 * Refuses grants that go beyond a policy: PERMISSION with the lines of the manifest and of the
 * policy. Gives the grants with the limits that only the policies name.
 */
export async function checkPolicy(
  grants: Grants,
  policy: Policy,
  subject: PolicySubject,
): Promise<Grants> {
  const layers = selectLayers(policy, subject.tool)
  const excess =
    findUnallowedNetwork(grants, layers) ??
    findFirst(layers, (layer) => findPolicyExcess(grants, layer))
  if (excess) throw await toPolicyError(excess, subject)
  return { ...grants, limits: { ...pickLowestLimits(layers), ...grants.limits } }
}

/**
 * Refuses paths that a caller gives a tool and a policy does not: PERMISSION with the line of the
 * policy.
 */
export async function checkPaths(
  { sources, outputs }: Pick<PreparedPaths, 'sources' | 'outputs'>,
  policy: Policy,
  tool: string,
): Promise<void> {
  const paths = { read: sources, write: outputs.map(({ target }) => target) }
  for (const layer of selectLayers(policy, tool)) {
    for (const wanted of ['read', 'write'] as const) {
      const path = findPathOutside(layer.rules[wanted], paths[wanted])
      if (path !== undefined)
        throw new ToolError(
          'PERMISSION',
          `'${tool}' is given ${path} to ${wanted}, and ${await formatRuleLocation(layer, ['filesystem', wanted])} does not allow it`,
          {
            suggestion: `Give it a path that the policy allows, or let the policy allow ${path}`,
            details: { policy: layer.file },
          },
        )
    }
  }
}

/** Refuses a tool without permissions where a policy demands them: PERMISSION. */
export async function checkUnconfined(policy: Policy, tool: string): Promise<void> {
  const layer = selectLayers(policy, tool).find(({ rules }) => rules.requirePermissions)
  if (layer)
    throw new ToolError(
      'PERMISSION',
      `'${tool}' has no permissions in its manifest, and ${await formatRuleLocation(layer, ['require_permissions'])} demands them`,
      { suggestion: "Add 'permissions:' to its manifest; {} asks for nothing but its workspace" },
    )
}

// What is closed everywhere opens only where some policy says so, and none says the opposite.
function findUnallowedNetwork(
  { network }: Grants,
  layers: readonly PolicyLayer[],
): PolicyExcess | undefined {
  if (network === 'open' && !layers.some(({ rules }) => rules.network?.open))
    return {
      what: 'every server (network: full), which a policy has to allow',
      asked: ['network'],
      fix: 'Name the servers in network.egress_allow, or write network: full into a policy',
    }
  const local =
    network === 'none' || network === 'open'
      ? undefined
      : network.find(
          (server) =>
            server.local &&
            !layers.some(({ rules }) =>
              rules.network?.local.some((rule) => matchesServer(rule, server)),
            ),
        )
  return (
    local && {
      what: `${local.host}:${local.port} on this machine, which a policy has to allow`,
      asked: ['network', 'egress_allow'],
      fix: `Write network: {local_allow: ["${local.host}:${local.port}"]} into a policy`,
    }
  )
}

function findPolicyExcess(grants: Grants, layer: PolicyLayer): PolicyExcess | undefined {
  const { rules } = layer
  return (
    findFirst(['read', 'write'] as const, (wanted) => {
      const path = findPathOutside(
        rules[wanted],
        grants[wanted].map((place) => place.path),
      )
      return path === undefined
        ? undefined
        : {
            what: `to ${wanted} ${path}`,
            asked: ['filesystem', wanted],
            layer,
            rule: ['filesystem', wanted],
            fix: `Take ${path} out of the manifest, or let the policy allow it`,
          }
    }) ??
    findSecretFileExcess(grants, layer) ??
    findServerExcess(grants, layer) ??
    findLimitExcess(grants, layer) ??
    findSecretExcess(grants, layer)
  )
}

function findPathOutside(
  allowed: readonly string[] | undefined,
  paths: readonly string[],
): string | undefined {
  return allowed && paths.find((path) => !allowed.some((folder) => isPathInside(folder, path)))
}

// A secret that a manifest names by its file is a file that it reads.
function findSecretFileExcess(
  { secretFiles = {} }: Grants,
  layer: PolicyLayer,
): PolicyExcess | undefined {
  const file = findPathOutside(layer.rules.read, Object.values(secretFiles))
  return file === undefined
    ? undefined
    : {
        what: `the secret in ${file}`,
        asked: ['secrets'],
        layer,
        rule: ['filesystem', 'read'],
        fix: 'Name the secret only, and give its file at the call',
      }
}

function findServerExcess({ network }: Grants, layer: PolicyLayer): PolicyExcess | undefined {
  const allowed = layer.rules.network
  if (!allowed || network === 'none') return undefined
  if (network === 'open')
    return allowed.open
      ? undefined
      : {
          what: 'every server (network: full)',
          asked: ['network'],
          layer,
          rule: ['network'],
          fix: 'Name the servers in network.egress_allow',
        }
  const server = network.find(
    (one) =>
      !(one.local ? allowed.local : allowed.servers).some((rule) => matchesServer(rule, one)),
  )
  return (
    server && {
      what: `${server.host}:${server.port}`,
      asked: ['network', 'egress_allow'],
      layer,
      rule: ['network', server.local ? 'local_allow' : 'egress_allow'],
      fix: `Take ${server.host}:${server.port} out of the manifest, or let the policy allow it`,
    }
  )
}

function findLimitExcess({ limits }: Grants, layer: PolicyLayer): PolicyExcess | undefined {
  return findFirst(
    Object.entries(layer.rules.limits ?? {}) as [LimitName, number][],
    ([name, most]) => {
      const asked = limits[RESOURCE_LIMITS[name].limit]
      return asked === undefined || asked <= most
        ? undefined
        : {
            what: `${name}: ${asked}, more than ${most}`,
            asked: ['resources', name],
            layer,
            rule: ['resources', name],
            fix: `Write ${name}: ${most}, or less`,
          }
    },
  )
}

function findSecretExcess({ secrets }: Grants, layer: PolicyLayer): PolicyExcess | undefined {
  const allowed = layer.rules.secrets
  const name = allowed && secrets.find((one) => !allowed.includes(one))
  return name === undefined
    ? undefined
    : {
        what: `the secret '${name}'`,
        asked: ['secrets'],
        layer,
        rule: ['secrets'],
        fix: `Take '${name}' out of the manifest, or let the policy allow it`,
      }
}

/**
 * Whether `*.example.com:443`, `*:443` or `host:*` allows a server. A `*.` means every name below,
 * not the domain itself.
 */
function matchesServer(rule: string, { host, port }: EgressGrant): boolean {
  const at = rule.lastIndexOf(':')
  const [name, number] = [rule.slice(0, at), rule.slice(at + 1)]
  return (
    (number === '*' || number === String(port)) &&
    (name === '*' || name === host || (name.startsWith('*.') && host.endsWith(name.slice(1))))
  )
}

// A limit that the manifest leaves open is the smallest that any policy names; what it asks for
// beyond that was refused before.
function pickLowestLimits(layers: readonly PolicyLayer[]): ResourceLimits {
  const least: { [limit: string]: number } = {}
  for (const { rules } of layers) {
    for (const [name, most] of Object.entries(rules.limits ?? {}) as [LimitName, number][])
      least[RESOURCE_LIMITS[name].limit] = Math.min(
        most,
        least[RESOURCE_LIMITS[name].limit] ?? most,
      )
  }
  return least
}

async function toPolicyError(
  { what, asked, layer, rule = [], fix }: PolicyExcess,
  { tool, file }: PolicySubject,
): Promise<ToolError> {
  const place = file === undefined ? undefined : await locatePermission(file, asked)
  const forbidden = layer ? `, and ${await formatRuleLocation(layer, rule)} does not allow it` : ''
  return new ToolError(
    'PERMISSION',
    `${formatLocation(file, place)}'${tool}' wants ${what}${forbidden}`,
    {
      suggestion: fix,
      details: {
        ...compact({ file }),
        ...place,
        ...compact({ policy: layer ? layer.file : undefined }),
      },
    },
  )
}

function findFirst<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** What a level is decided by. */
export type LevelRequest = {
  readonly tool: string
  /** L3 for a tool with permissions, L1 for one that is merely described. */
  readonly needs: IsolationLevel
  /** The best that this machine can do. */
  readonly offered: IsolationLevel
  /** Why it cannot do better. */
  readonly problem?: ToolError | undefined
  /** `--allow-level`: the weakest level that the caller accepts. */
  readonly allow?: IsolationLevel | undefined
  readonly policy: Policy
}

/**
 * The level that a tool runs at: what it needs, more where a policy or the caller asks for more,
 * and less only where the caller accepts that and no policy forbids it. Throws SANDBOX_UNAVAILABLE.
 */
export async function decideLevel({
  tool,
  needs,
  offered,
  problem,
  allow,
  policy,
}: LevelRequest): Promise<IsolationLevel> {
  const layers = selectLayers(policy, tool)
  const least = layers
    .map(({ rules }) => rules.minLevel)
    .reduce<IsolationLevel>((best, level) => pickStronger(best, level ?? 'L1'), 'L1')
  const wanted = pickStronger(pickStronger(needs, least), allow ?? 'L1')
  if (isAtLeast(offered, wanted)) return wanted
  const why = problem ? `: ${problem.message}` : ''
  const refuse = (words: string, fix: string): ToolError =>
    new ToolError(
      'SANDBOX_UNAVAILABLE',
      `'${tool}' needs level ${wanted}, and this machine offers ${offered}${why}${words}`,
      compact({ suggestion: fix, details: { needs: wanted, offered }, cause: problem }),
    )
  const fix = problem?.suggestion?.fix ?? 'toolable doctor'
  const forbids = findForbiddingRule(layers, least, offered)
  if (forbids)
    throw refuse(`; ${await formatRuleLocation(forbids.layer, [forbids.key])} allows no less`, fix)
  if (allow === undefined || !isAtLeast(offered, allow))
    throw refuse('', `${fix}, or accept less: --allow-level ${offered}`)
  return offered
}

/** Whether a level is at least another. */
export function isAtLeast(level: IsolationLevel, other: IsolationLevel): boolean {
  return ISOLATION_LEVELS.indexOf(level) >= ISOLATION_LEVELS.indexOf(other)
}

function pickStronger(one: IsolationLevel, other: IsolationLevel): IsolationLevel {
  return isAtLeast(one, other) ? one : other
}

function findForbiddingRule(
  layers: readonly PolicyLayer[],
  least: IsolationLevel,
  offered: IsolationLevel,
): { readonly layer: PolicyLayer; readonly key: string } | undefined {
  const below = isAtLeast(offered, least)
    ? undefined
    : layers.find(({ rules }) => rules.minLevel === least)
  if (below) return { layer: below, key: 'min_level' }
  const layer = layers.find(({ rules }) => rules.allowLevelOverride === false)
  return layer && { layer, key: 'allow_level_override' }
}

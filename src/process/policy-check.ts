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
import type { NetworkRules, Policy, PolicyLayer, PolicyRules } from './policy.ts'
import { formatRuleLocation, selectLayers } from './policy.ts'

/** The id of the tool whose grants are checked, and the file of its permissions. */
type PolicySubject = { readonly tool: string; readonly file?: string | undefined }

/** What a tool asks for beyond a policy: the key of the manifest, and the key of the policy. */
type PolicyExcess = {
  readonly what: string
  readonly asked: KeyPath
  readonly rule?: KeyPath
  readonly fix: string
}

/**
 * Throws PERMISSION, with the lines of the manifest and of the policy, for grants beyond a policy.
 * Returns the grants with the limits that only the policies name.
 */
export async function checkPolicy(
  grants: Grants,
  policy: Policy,
  subject: PolicySubject,
): Promise<Grants> {
  const layers = selectLayers(policy, subject.tool)
  const unallowed = findUnallowedNetwork(grants, layers)
  if (unallowed) throw await toPolicyError(unallowed, subject)
  for (const layer of layers) {
    const [excess] = listExcesses(grants, layer)
    if (excess) throw await toPolicyError(excess, subject, layer)
  }
  return { ...grants, limits: { ...pickLowestLimits(layers), ...grants.limits } }
}

/** Throws PERMISSION, with the line of the policy, for paths of the caller that no policy allows. */
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

/** Throws PERMISSION for a tool without permissions when a policy requires them. */
export async function checkUnconfined(policy: Policy, tool: string): Promise<void> {
  const layer = selectLayers(policy, tool).find(({ rules }) => rules.requirePermissions)
  if (layer)
    throw new ToolError(
      'PERMISSION',
      `'${tool}' has no permissions in its manifest, and ${await formatRuleLocation(layer, ['require_permissions'])} demands them`,
      { suggestion: "Add 'permissions:' to its manifest; {} asks for nothing but its workspace" },
    )
}

// Some policy has to allow these explicitly, and none may forbid them.
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
  if (network === 'none' || network === 'open') return undefined
  const rules = layers.flatMap((layer) => layer.rules.network?.local ?? [])
  const server = network.find((one) => one.local && !rules.some((rule) => matchesServer(rule, one)))
  return (
    server && {
      what: `${server.host}:${server.port} on this machine, which a policy has to allow`,
      asked: ['network', 'egress_allow'],
      fix: `Write network: {local_allow: ["${server.host}:${server.port}"]} into a policy`,
    }
  )
}

// Lazy, because only the first excess is reported.
function* listExcesses(grants: Grants, { rules }: PolicyLayer): Generator<PolicyExcess> {
  const letPolicyAllow = (what: string): string =>
    `Take ${what} out of the manifest, or let the policy allow it`
  for (const wanted of ['read', 'write'] as const) {
    const paths = grants[wanted].map(({ path }) => path)
    const path = findPathOutside(rules[wanted], paths)
    if (path !== undefined)
      yield {
        what: `to ${wanted} ${path}`,
        asked: ['filesystem', wanted],
        rule: ['filesystem', wanted],
        fix: letPolicyAllow(path),
      }
  }
  // A secret that a manifest names by its file is a file that it reads.
  const file = findPathOutside(rules.read, Object.values(grants.secretFiles ?? {}))
  if (file !== undefined)
    yield {
      what: `the secret in ${file}`,
      asked: ['secrets'],
      rule: ['filesystem', 'read'],
      fix: 'Name the secret only, and give its file at the call',
    }
  if (grants.network === 'open' && rules.network && !rules.network.open)
    yield {
      what: 'every server (network: full)',
      asked: ['network'],
      rule: ['network'],
      fix: 'Name the servers in network.egress_allow',
    }
  const server = findServerOutside(rules.network, grants.network)
  if (server)
    yield {
      what: `${server.host}:${server.port}`,
      asked: ['network', 'egress_allow'],
      rule: ['network', server.local ? 'local_allow' : 'egress_allow'],
      fix: letPolicyAllow(`${server.host}:${server.port}`),
    }
  for (const [name, most] of listLimits(rules)) {
    const asked = grants.limits[RESOURCE_LIMITS[name].limit]
    if (asked !== undefined && asked > most)
      yield {
        what: `${name}: ${asked}, more than ${most}`,
        asked: ['resources', name],
        rule: ['resources', name],
        fix: `Write ${name}: ${most}, or less`,
      }
  }
  const secret = grants.secrets.find((name) => rules.secrets?.includes(name) === false)
  if (secret !== undefined)
    yield {
      what: `the secret '${secret}'`,
      asked: ['secrets'],
      rule: ['secrets'],
      fix: letPolicyAllow(`'${secret}'`),
    }
}

function findPathOutside(
  allowed: readonly string[] | undefined,
  paths: readonly string[],
): string | undefined {
  return allowed && paths.find((path) => !allowed.some((folder) => isPathInside(folder, path)))
}

function findServerOutside(
  allowed: NetworkRules | undefined,
  network: Grants['network'],
): EgressGrant | undefined {
  if (!allowed || network === 'none' || network === 'open') return undefined
  return network.find((server) => {
    const rules = server.local ? allowed.local : allowed.servers
    return !rules.some((rule) => matchesServer(rule, server))
  })
}

function listLimits({ limits = {} }: PolicyRules): readonly (readonly [LimitName, number])[] {
  return Object.entries(limits) as [LimitName, number][]
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

// A limit that the manifest leaves open is the smallest that any policy names.
function pickLowestLimits(layers: readonly PolicyLayer[]): ResourceLimits {
  const lowest: { [limit: string]: number } = {}
  for (const [name, most] of layers.flatMap(({ rules }) => listLimits(rules))) {
    const { limit } = RESOURCE_LIMITS[name]
    lowest[limit] = Math.min(most, lowest[limit] ?? most)
  }
  return lowest
}

async function toPolicyError(
  { what, asked, rule = [], fix }: PolicyExcess,
  { tool, file }: PolicySubject,
  layer?: PolicyLayer,
): Promise<ToolError> {
  const position = await locatePermission(file, asked)
  const forbidden = layer ? `, and ${await formatRuleLocation(layer, rule)} does not allow it` : ''
  return new ToolError(
    'PERMISSION',
    `${formatLocation(file, position)}'${tool}' wants ${what}${forbidden}`,
    { suggestion: fix, details: compact({ file, ...position, policy: layer?.file }) },
  )
}

/** What decides the isolation level of a run. */
type LevelRequest = {
  readonly tool: string
  /** L3 for a tool with permissions, L1 for one without. */
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
 * Decides the level that a tool runs at: what it needs, more when a policy or the caller asks for
 * more, less only when the caller accepts it and no policy forbids it. Throws SANDBOX_UNAVAILABLE.
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
  const refuse = (reason: string, fix: string): ToolError =>
    new ToolError(
      'SANDBOX_UNAVAILABLE',
      `'${tool}' needs level ${wanted}, and this machine offers ${offered}${why}${reason}`,
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

/** True when the first level is as strong as the other, or stronger. */
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

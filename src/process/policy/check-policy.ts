import type { KeyPath } from '../../contract/documents/document.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { PathWork } from '../inputs/prepare-paths.ts'
import { locatePermission, placeName } from '../permissions/fault.ts'
import type { EgressGrant, Grants, Limits } from '../permissions/grants.ts'
import { LIMITS } from '../permissions/shape.ts'
import type { LimitName } from '../permissions/shape.ts'
import { contains } from '../sandbox/paths.ts'
import type { Policy, PolicyLayer } from './policy.ts'
import { layersFor, nameRule } from './policy.ts'

/** Whose grants are looked at: the id of the tool, and the file that its permissions stand in. */
export type PolicySubject = { readonly tool: string; readonly file?: string | undefined }

/** What a tool asks for and a policy does not give: the words, where the manifest says it, and which key of which layer forbids it. */
type Excess = {
  readonly what: string
  readonly asked: KeyPath
  readonly layer?: PolicyLayer
  readonly rule?: KeyPath
  readonly fix: string
}

/** Refuses grants that go beyond a policy: PERMISSION with the lines of the manifest and of the policy. Gives the grants with the limits that only the policies name. */
export async function checkPolicy(
  grants: Grants,
  policy: Policy,
  subject: PolicySubject,
): Promise<Grants> {
  const layers = layersFor(policy, subject.tool)
  const excess = findBoldness(grants, layers) ?? first(layers, (layer) => findExcess(grants, layer))
  if (excess) throw await explain(excess, subject)
  return { ...grants, limits: { ...leastLimits(layers), ...grants.limits } }
}

/** Refuses paths that a caller gives a tool and a policy does not: PERMISSION with the line of the policy. */
export async function checkPaths(
  { sources, outputs }: Pick<PathWork, 'sources' | 'outputs'>,
  policy: Policy,
  tool: string,
): Promise<void> {
  const paths = { read: sources, write: outputs.map(({ target }) => target) }
  for (const layer of layersFor(policy, tool)) {
    for (const wanted of ['read', 'write'] as const) {
      const path = findOutside(layer.rules[wanted], paths[wanted])
      if (path !== undefined)
        throw new ToolError(
          'PERMISSION',
          `'${tool}' is given ${path} to ${wanted}, and ${await nameRule(layer, ['filesystem', wanted])} does not allow it`,
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
  const layer = layersFor(policy, tool).find(({ rules }) => rules.requirePermissions)
  if (layer)
    throw new ToolError(
      'PERMISSION',
      `'${tool}' has no permissions in its manifest, and ${await nameRule(layer, ['require_permissions'])} demands them`,
      { suggestion: "Add 'permissions:' to its manifest; {} asks for nothing but its workspace" },
    )
}

// What is closed everywhere opens only where some policy says so, and none says the opposite.
function findBoldness({ network }: Grants, layers: readonly PolicyLayer[]): Excess | undefined {
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
              rules.network?.local.some((rule) => fitsServer(rule, server)),
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

function findExcess(grants: Grants, layer: PolicyLayer): Excess | undefined {
  const { rules } = layer
  return (
    first(['read', 'write'] as const, (wanted) => {
      const path = findOutside(
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
    findSecretFile(grants, layer) ??
    findServer(grants, layer) ??
    findLimit(grants, layer) ??
    findSecret(grants, layer)
  )
}

function findOutside(
  allowed: readonly string[] | undefined,
  paths: readonly string[],
): string | undefined {
  return allowed && paths.find((path) => !allowed.some((folder) => contains(folder, path)))
}

// A secret that a manifest names by its file is a file that it reads.
function findSecretFile({ secretFiles = {} }: Grants, layer: PolicyLayer): Excess | undefined {
  const file = findOutside(layer.rules.read, Object.values(secretFiles))
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

function findServer({ network }: Grants, layer: PolicyLayer): Excess | undefined {
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
    (one) => !(one.local ? allowed.local : allowed.servers).some((rule) => fitsServer(rule, one)),
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

function findLimit({ limits }: Grants, layer: PolicyLayer): Excess | undefined {
  return first(
    Object.entries(layer.rules.limits ?? {}) as [LimitName, number][],
    ([name, most]) => {
      const asked = limits[LIMITS[name].limit]
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

function findSecret({ secrets }: Grants, layer: PolicyLayer): Excess | undefined {
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

/** Whether `*.example.com:443`, `*:443` or `host:*` allows a server. A `*.` means every name below, not the domain itself. */
function fitsServer(rule: string, { host, port }: EgressGrant): boolean {
  const at = rule.lastIndexOf(':')
  const [name, number] = [rule.slice(0, at), rule.slice(at + 1)]
  return (
    (number === '*' || number === String(port)) &&
    (name === '*' || name === host || (name.startsWith('*.') && host.endsWith(name.slice(1))))
  )
}

// A limit that the manifest leaves open is the smallest that any policy names; what it asks for beyond that was refused before.
function leastLimits(layers: readonly PolicyLayer[]): Limits {
  const least: { [limit: string]: number } = {}
  for (const { rules } of layers) {
    for (const [name, most] of Object.entries(rules.limits ?? {}) as [LimitName, number][])
      least[LIMITS[name].limit] = Math.min(most, least[LIMITS[name].limit] ?? most)
  }
  return least
}

async function explain(
  { what, asked, layer, rule = [], fix }: Excess,
  { tool, file }: PolicySubject,
): Promise<ToolError> {
  const place = file === undefined ? undefined : await locatePermission(file, asked)
  const forbidden = layer ? `, and ${await nameRule(layer, rule)} does not allow it` : ''
  return new ToolError(
    'PERMISSION',
    `${placeName(file, place)}'${tool}' wants ${what}${forbidden}`,
    {
      suggestion: fix,
      details: {
        ...(file !== undefined && { file }),
        ...place,
        ...(layer && { policy: layer.file }),
      },
    },
  )
}

function first<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

import { ToolError } from '../../contract/tool-error.ts'
import { LEVELS } from '../permissions/grants.ts'
import type { Level } from '../permissions/grants.ts'
import type { Policy, PolicyLayer } from './policy.ts'
import { layersFor, nameRule } from './policy.ts'

/** What a level is decided by. */
export type LevelQuestion = {
  readonly tool: string
  /** L3 for a tool with permissions, L1 for one that is merely described. */
  readonly needs: Level
  /** The best that this machine can do. */
  readonly offered: Level
  /** Why it cannot do better. */
  readonly problem?: ToolError | undefined
  /** `--allow-level`: the weakest level that the caller accepts. */
  readonly allow?: Level | undefined
  readonly policy: Policy
}

/** The level that a tool runs at: what it needs, more where a policy or the caller asks for more, and less only where the caller accepts that and no policy forbids it. Throws SANDBOX_UNAVAILABLE. */
export async function decideLevel({
  tool,
  needs,
  offered,
  problem,
  allow,
  policy,
}: LevelQuestion): Promise<Level> {
  const layers = layersFor(policy, tool)
  const least = layers
    .map(({ rules }) => rules.minLevel)
    .reduce<Level>((best, level) => stronger(best, level ?? 'L1'), 'L1')
  const wanted = stronger(stronger(needs, least), allow ?? 'L1')
  if (isAtLeast(offered, wanted)) return wanted
  const why = problem ? `: ${problem.message}` : ''
  const refuse = (words: string, fix: string): ToolError =>
    new ToolError(
      'SANDBOX_UNAVAILABLE',
      `'${tool}' needs level ${wanted}, and this machine offers ${offered}${why}${words}`,
      { suggestion: fix, details: { needs: wanted, offered }, ...(problem && { cause: problem }) },
    )
  const fix = problem?.suggestion?.fix ?? 'toolable doctor'
  const forbids = findForbidding(layers, least, offered)
  if (forbids) throw refuse(`; ${await nameRule(forbids.layer, [forbids.key])} allows no less`, fix)
  if (allow === undefined || !isAtLeast(offered, allow))
    throw refuse('', `${fix}, or accept less: --allow-level ${offered}`)
  return offered
}

/** Whether a level is at least another. */
export function isAtLeast(level: Level, other: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(other)
}

function stronger(one: Level, other: Level): Level {
  return isAtLeast(one, other) ? one : other
}

function findForbidding(
  layers: readonly PolicyLayer[],
  least: Level,
  offered: Level,
): { readonly layer: PolicyLayer; readonly key: string } | undefined {
  const below = isAtLeast(offered, least)
    ? undefined
    : layers.find(({ rules }) => rules.minLevel === least)
  if (below) return { layer: below, key: 'min_level' }
  const layer = layers.find(({ rules }) => rules.allowLevelOverride === false)
  return layer && { layer, key: 'allow_level_override' }
}

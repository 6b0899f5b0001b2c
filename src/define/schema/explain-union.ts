import type { Explainer, Found } from './found.ts'
import type { AnySchema } from './subschemas.ts'
import { joinWith, nameType, sayChoices, sayType, showValue } from './words.ts'

const WRONG_KIND = 1000
const WRONG_TAG = 100

/** What a union has against a value: what its best-fitting branch says, or one sentence over all branches when none is of the right kind. */
export function explainUnion(
  explainer: Explainer,
  branches: readonly AnySchema[],
  value: unknown,
): readonly Found[] {
  const all = branches.map((branch) => explainer.explain(branch, value))
  if (all.some((found) => found.length === 0)) return []
  const near = all.filter((found) => !found.some(isWrongKind))
  if (near.length === 0)
    return explainKinds(
      all.flatMap((found) => found.filter(isWrongKind)),
      value,
    )
  return explainTags(near, value) ?? cheapest(near)
}

/** The first branch that fits, or else the one with the least against the value. */
export function closestBranch(
  explainer: Explainer,
  branches: readonly AnySchema[],
  value: unknown,
): AnySchema | undefined {
  let best: AnySchema | undefined
  let bestCost = Infinity
  for (const branch of branches) {
    const cost = costOf(explainer.explain(branch, value))
    if (cost < bestCost) [best, bestCost] = [branch, cost]
    if (cost === 0) break
  }
  return best
}

function isWrongKind(found: Found): boolean {
  return found.path.length === 0 && (found.types !== undefined || found.allowed !== undefined)
}

function isWrongTag(found: Found): boolean {
  return found.path.length === 1 && found.allowed !== undefined
}

function costOf(issues: readonly Found[]): number {
  return issues.reduce(
    (sum, found) => sum + (isWrongKind(found) ? WRONG_KIND : isWrongTag(found) ? WRONG_TAG : 1),
    0,
  )
}

function cheapest(candidates: readonly (readonly Found[])[]): readonly Found[] {
  return candidates.reduce((best, found) => (costOf(found) < costOf(best) ? found : best))
}

function explainKinds(found: readonly Found[], value: unknown): Found[] {
  const types = [...new Set(found.flatMap((each) => each.types ?? []))]
  const allowed = [...new Set(found.flatMap((each) => each.allowed ?? []))]
  if (allowed.length === 0)
    return [{ path: [], kind: 'invalid', message: sayType(types, value), types }]
  if (types.every((type) => type === 'null')) {
    const choices = types.length > 0 && !allowed.includes(null) ? [...allowed, null] : allowed
    return [{ path: [], kind: 'invalid', ...sayChoices(choices, value), allowed: choices }]
  }
  const expected = joinWith('or', [...allowed.map(showValue), ...types.map(nameType)])
  return [
    {
      path: [],
      kind: 'invalid',
      message: `must be ${expected}, got ${showValue(value)}`,
      types,
      allowed,
    },
  ]
}

// A tag that no branch knows is named with the tags of all branches.
function explainTags(
  candidates: readonly (readonly Found[])[],
  value: unknown,
): Found[] | undefined {
  const key = candidates[0]!.find(isWrongTag)?.path[0]
  if (key === undefined || candidates.length < 2) return undefined
  const tags = candidates.map((found) =>
    found.find((each) => isWrongTag(each) && each.path[0] === key),
  )
  if (tags.some((tag) => tag === undefined)) return undefined
  const allowed = [...new Set(tags.flatMap((tag) => tag!.allowed ?? []))]
  return [
    {
      path: [key],
      kind: 'invalid',
      ...sayChoices(allowed, (value as Record<string | number, unknown>)[key]),
      allowed,
    },
  ]
}

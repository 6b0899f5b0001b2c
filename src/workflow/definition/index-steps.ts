import { shorten } from '../../contract/shorten.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import type { Draft } from './draft.ts'

/** Knows every step of a workflow, to explain why one cannot be used. */
export type StepIndex = {
  has(name: string): boolean
  /** Message and advice for a step that is not visible from another. */
  explain(
    name: string,
    from: Draft | undefined,
    visible: readonly string[],
  ): readonly [string, string]
}

type Place = { readonly draft: Draft; /** From the outermost. */ readonly around: readonly Draft[] }

/** Makes the index of a workflow's steps. */
export function indexSteps(drafts: readonly Draft[]): StepIndex {
  const places = new Map<string, Place>()
  collect(drafts, [], places)
  return {
    has: (name) => places.has(name),
    explain(name, from, visible) {
      const place = places.get(name)
      if (!place)
        return [
          unknownName('step', name, [...places.keys()]).message,
          visible.length === 0
            ? 'No step comes before this one'
            : `The steps before this one are ${shorten(visible.join(', '), 200)}`,
        ]
      if (place.draft === from)
        return [`the step '${name}' uses itself`, 'Only steps before it can be used']
      const chain = from && findWay(place.draft, from, places)
      if (chain)
        return [
          `the steps ${[from.name, ...chain].map((one) => `'${one}'`).join(' → ')} wait for each other`,
          'Take one of the references out',
        ]
      if (from && place.around.includes(from))
        return [
          `the step '${name}' is inside '${from.name}', which has not been taken yet`,
          'Only steps before it can be used',
        ]
      const outer = place.around.find((one) => visible.includes(one.name))
      if (outer)
        return [
          `the step '${name}' is inside '${outer.name}' and cannot be seen from outside`,
          `Use steps.${outer.name}.result`,
        ]
      if (from && place.around.some((one) => placeOf(from, places)?.around.includes(one)))
        return [
          `the step '${name}' is taken at the same time or later`,
          'Only steps before it can be used',
        ]
      return [
        `the step '${name}' comes later`,
        'Move it before this step, or use a step that comes before',
      ]
    },
  }
}

function collect(
  drafts: readonly Draft[],
  around: readonly Draft[],
  places: Map<string, Place>,
): void {
  for (const draft of drafts) {
    if (!places.has(draft.name)) places.set(draft.name, { draft, around })
    for (const list of [...draft.inside.map((part) => part.drafts), draft.compensate])
      collect(list, [...around, draft], places)
  }
}

function placeOf(draft: Draft, places: Map<string, Place>): Place | undefined {
  const place = places.get(draft.name)
  return place?.draft === draft ? place : undefined
}

// The names from one step to another along what each of them uses.
function findWay(
  from: Draft,
  to: Draft,
  places: Map<string, Place>,
): readonly string[] | undefined {
  const seen = new Set<Draft>()
  const search = (draft: Draft): readonly string[] | undefined => {
    if (draft === to) return [draft.name]
    if (seen.has(draft)) return undefined
    seen.add(draft)
    for (const name of namesUsed(draft)) {
      const next = places.get(name)?.draft
      const way = next && search(next)
      if (way) return [draft.name, ...way]
    }
    return undefined
  }
  return search(from)
}

function namesUsed(draft: Draft): readonly string[] {
  const own = draft.uses.flatMap(({ references }) =>
    references
      .filter(({ root, keys }) => root === 'steps' && keys[0] !== undefined)
      .map(({ keys }) => String(keys[0])),
  )
  return [...own, ...draft.inside.flatMap((part) => part.drafts.flatMap(namesUsed))]
}

import type { Stretch } from './timeline-type.ts'

const SHORTEST_MS = 5000
const SHARE = 0.15
// What happens next to an idle stretch stays readable.
const MARGIN = 0.02

/** The stretches of a range in which nothing was done and that are so long that they would leave no room for the rest. */
export function idleStretches(
  { from, to }: Stretch,
  active: readonly Stretch[],
): readonly Stretch[] {
  const gaps = gapsBetween({ from, to }, active)
  const busy = to - from - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const shortest = Math.max(SHORTEST_MS, busy * SHARE)
  const margin = Math.max(busy * MARGIN, 250)
  return gaps
    .map((gap) => ({
      from: gap.from === from ? from : gap.from + margin,
      to: gap.to === to ? to : gap.to - margin,
    }))
    .filter((gap) => gap.to - gap.from > shortest)
}

function gapsBetween({ from, to }: Stretch, active: readonly Stretch[]): readonly Stretch[] {
  const gaps: Stretch[] = []
  let reached = from
  for (const stretch of [...active].sort((left, right) => left.from - right.from)) {
    if (stretch.from > reached) gaps.push({ from: reached, to: Math.min(stretch.from, to) })
    reached = Math.max(reached, stretch.to)
  }
  if (to > reached) gaps.push({ from: reached, to })
  return gaps.filter((gap) => gap.to > gap.from)
}

import type { Mark } from '../run-model/run-model-type.ts'
import type { TimeScale } from './time-scale.ts'

/** A moment as it is drawn, and how many others it stands for. */
export type Dot = { readonly x: number; readonly mark: Mark; readonly count: number }

// What a person looks for wins over what is only there.
const WEIGHTS: { readonly [type: string]: number } = {
  error: 4,
  runner_error: 4,
  action_required: 3,
  task_error: 3,
  runner_warning: 2,
  artifact: 2,
  result: 2,
}

/** The marks of a row that are in the range, at most one for so many pixels: the weightiest of those at one place. */
export function thinMarks(
  marks: readonly Mark[],
  scale: TimeScale,
  { from, to }: { readonly from: number; readonly to: number },
  distance = 5,
): readonly Dot[] {
  const dots: { x: number; mark: Mark; count: number }[] = []
  for (const mark of marks) {
    if (mark.at < from || mark.at > to) continue
    const x = scale.toX(mark.at)
    const near = dots.at(-1)
    if (!near || x - near.x >= distance) dots.push({ x, mark, count: 1 })
    else {
      near.count += 1
      if (weigh(mark) > weigh(near.mark)) near.mark = mark
    }
  }
  return dots
}

function weigh({ type }: Mark): number {
  return Object.hasOwn(WEIGHTS, type) ? WEIGHTS[type]! : 0
}

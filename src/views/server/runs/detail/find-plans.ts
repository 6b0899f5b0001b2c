import type { Plan } from '../../../../contract/plan.ts'
import { planIn } from '../../../../contract/read-plan.ts'
import { isOver } from '../../../../contract/run-state.ts'
import { runPaths } from '../../../../runner/folder/run-paths.ts'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import { parseEvent } from '../../../../runner/log/scan-log.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import type { ShownPlan } from '../../../model/wire/others.ts'
import type { Entry, RunIndex } from '../index/run-index.ts'
import { startSlices } from '../slices.ts'

const MOST_PLANS = 50

/** The plans of runs, those that are still worked on first, then the newest. */
export async function findPlans(root: string, index: RunIndex): Promise<readonly ShownPlan[]> {
  const planned = index.all().filter((entry) => entry.planned)
  const live = planned.filter(({ row }) => !isOver(row.state))
  const chosen = [...live, ...planned.filter(({ row }) => isOver(row.state))].slice(0, MOST_PLANS)
  const found: ShownPlan[] = []
  for (const entry of chosen) {
    const plan = await readPlan(root, entry).catch(() => undefined)
    if (plan) found.push({ ...plan, run: entry.row })
  }
  return found
}

// The last one that its record tells.
async function readPlan(
  root: string,
  { row }: Entry,
): Promise<{ readonly plan: Plan; readonly changed: string } | undefined> {
  const file = await openOrdinary(runPaths(root, row.run_id).events)
  if (!file) return undefined
  const slices = startSlices()
  let last: { readonly plan: Plan; readonly changed: string } | undefined
  try {
    for await (const { bytes } of readWholeLines(file, 0)) {
      const text = bytes.toString('utf8')
      for (let at = text.lastIndexOf('"plan"'); at !== -1;) {
        const from = text.lastIndexOf('\n', at) + 1
        const event = parseEvent(text.slice(from, text.indexOf('\n', at)))
        const { plan } = event ? planIn(event) : {}
        if (plan) {
          last = { plan, changed: event!.ts }
          break
        }
        at = from === 0 ? -1 : text.lastIndexOf('"plan"', from - 1)
      }
      await slices.rest()
    }
    return last
  } finally {
    await file.close()
  }
}

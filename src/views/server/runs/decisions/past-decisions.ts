import { setTimeout as sleep } from 'node:timers/promises'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import { runPaths } from '../../../../runner/folder/run-paths.ts'
import type { Decision, DecisionList } from '../../../model/wire/others.ts'
import type { RunIndex } from '../index/run-index.ts'
import type { RunKeeper } from '../index/keep-runs.ts'
import { scanRun } from '../live/read-on.ts'
import { readFacts } from '../row/facts.ts'
import type { Asked } from '../row/standing.ts'

const MOST_SHOWN = 100
const MOST_KEPT = 400
/** Milliseconds that somebody who asks waits for records that nobody has looked through. */
const PATIENCE_MS = 1000

/** Questions of all runs: those that are open, and the last ones that were settled. */
export type Decisions = {
  settled(id: string, settled: readonly Asked[]): void
  list(index: RunIndex, keeper: Pick<RunKeeper, 'live'>): Promise<DecisionList>
}

/** Knows none yet. */
export function openDecisions(root: string): Decisions {
  let past: { readonly id: string; readonly asked: Asked; readonly at: string }[] = []
  const seen = new Set<string>()
  const scanned = new Set<string>()

  const settled: Decisions['settled'] = (id, all) => {
    for (const asked of all) {
      const key = `${id} ${asked.question.id} ${asked.asked}`
      if (seen.has(key)) continue
      seen.add(key)
      past.push({ id, asked, at: asked.answered?.at ?? asked.asked })
    }
    if (past.length <= 2 * MOST_KEPT) return
    past = past.sort((left, right) => (left.at < right.at ? 1 : -1)).slice(0, MOST_KEPT)
    seen.clear()
    for (const one of past) seen.add(`${one.id} ${one.asked.question.id} ${one.asked.asked}`)
  }
  // Of long records only both ends were read, and of some nothing. The newest first, until there are enough; whoever asks does not wait for all of it.
  let scanning: Promise<void> | undefined
  const scanAll = async (index: RunIndex): Promise<void> => {
    for (const { row, unscanned } of [...index.all()]) {
      if (!unscanned || scanned.has(row.run_id)) continue
      if (isOlderThanEnough(row.ended ?? row.created)) return
      scanned.add(row.run_id)
      settled(row.run_id, await settledIn(runPaths(root, row.run_id)))
    }
  }
  const scan = async (index: RunIndex): Promise<void> => {
    scanning ??= scanAll(index)
      .catch(() => undefined)
      .finally(() => {
        scanning = undefined
      })
    await Promise.race([scanning, sleep(PATIENCE_MS, undefined, { ref: false })])
  }
  const isOlderThanEnough = (time: string): boolean =>
    past.length >= MOST_SHOWN && past.filter(({ at }) => at > time).length >= MOST_SHOWN

  return {
    settled,
    async list(index, keeper) {
      await scan(index)
      const open = index
        .all()
        .flatMap((entry): readonly Decision[] =>
          entry.row.questions === 0
            ? []
            : (entry.left ?? keeper.live(entry.row.run_id)?.open() ?? []).map((asked) =>
                decisionOf(index, entry.row.run_id, asked)!,
              ),
        )
      const isOpen = new Set(open.map(({ run_id, question }) => `${run_id} ${question.id}`))
      const gone = past
        .filter(({ id, asked }) => index.get(id) && !isOpen.has(`${id} ${asked.question.id}`))
        .sort((left, right) => (left.at < right.at ? 1 : left.at > right.at ? -1 : 0))
      return {
        open,
        past: gone
          .slice(0, MOST_SHOWN)
          .flatMap(({ id, asked }) => decisionOf(index, id, asked) ?? []),
      }
    },
  }
}

function decisionOf(index: RunIndex, id: string, asked: Asked): Decision | undefined {
  const row = index.get(id)?.row
  return (
    row && {
      run_id: id,
      tool: row.tool,
      ...(row.workflow !== undefined && { workflow: row.workflow }),
      run_state: row.state,
      ...asked,
    }
  )
}

async function settledIn(paths: RunPaths): Promise<readonly Asked[]> {
  const facts = readFacts(paths)
  return facts ? (await scanRun(paths, facts)).takeSettled() : []
}

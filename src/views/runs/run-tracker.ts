/**
 * Keeps the rows of runs up to date: follows live runs, looks again at those that changed, and
 * collects the questions that runs asked.
 */

import { existsSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFinished } from '../../protocol/run-state.ts'
import { isRunLive } from '../../runner/lock.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { getRunPaths } from '../../runner/run-paths.ts'
import { compact } from '../../util/values.ts'
import { readWorkflowRun } from '../../workflow/run-record.ts'
import type { Decision, DecisionList } from '../model/api.ts'
import { readRowQuickly, scanRun, tailRun } from './row-reader.ts'
import type { RunIndex } from './run-index.ts'
import type { RecordedQuestion, RunMetadata, RunRowBuilder } from './run-row.ts'
import { limitQuestion, readRunMetadata } from './run-row.ts'

// A folder is there before what belongs into it.
const MIN_RETRY_MS = 5
const MAX_RETRY_MS = 10_000

/** Holds the rows of an index to what the folders of runs say. */
export type RunTracker = {
  /**
   * Reads a run that appeared, disappeared or changed. `quietly`: it existed before the index did.
   */
  look(id: string, quietly?: boolean): Promise<void>
  /** The row of a live run. */
  getLiveRow(id: string): RunRowBuilder | undefined
  /** Those that are followed. */
  readonly followed: readonly string[]
  close(): Promise<void>
}

type RowUpdateOptions = {
  readonly unscanned?: boolean
  readonly quietly?: boolean
  /** When the folder had changed last before it was read; 0: it is looked at once more. */ readonly changed?: number
}

type RunTrackerOptions = {
  readonly root: string
  readonly index: RunIndex
  /** Called with questions that were answered or withdrawn. */
  readonly onSettled: (id: string, settled: readonly RecordedQuestion[]) => void
}

/** Creates a tracker; it reads nothing before `look` is called. */
export function createRunTracker({ root, index, onSettled }: RunTrackerOptions): RunTracker {
  const over = new AbortController()
  const tails = new Map<
    string,
    {
      standing?: RunRowBuilder
      /** It was read once, so that it has a row. */ readonly first: Promise<void>
      readonly done: Promise<void>
    }
  >()
  const looks = new Map<string, { again: boolean; done: Promise<void> }>()
  const waits = new Map<
    string,
    { readonly timer: NodeJS.Timeout; readonly delay: number; isOver: boolean }
  >()

  const put = (
    facts: RunMetadata,
    standing: RunRowBuilder,
    {
      unscanned = false,
      quietly = false,
      changed = 0,
      left,
    }: RowUpdateOptions & { readonly left?: readonly RecordedQuestion[] | undefined } = {},
  ): void => {
    const settled = standing.takeSettled()
    if (settled.length > 0) onSettled(facts.run_id, settled)
    const row = standing.row()
    index.put(
      compact({
        row: left && left.length > 0 ? { ...row, questions: left.length } : row,
        changed,
        planned: standing.planned,
        unscanned,
        left: left && left.length > 0 ? left : undefined,
      }),
      quietly,
    )
  }
  const conclude = async (
    paths: RunPaths,
    facts: RunMetadata,
    standing: RunRowBuilder,
    how: RowUpdateOptions = {},
  ): Promise<void> => {
    const mayAsk =
      facts.workflow !== undefined &&
      standing.row().state !== 'completed' &&
      (standing.left.length > 0 || how.unscanned === true)
    put(facts, standing, {
      ...how,
      left: mayAsk ? await findOrphanedQuestions(paths, standing) : undefined,
    })
  }
  const follow = (paths: RunPaths, facts: RunMetadata): Promise<void> => {
    const { id } = paths
    let onRead = (): void => undefined
    const first = new Promise<void>((resolve) => {
      onRead = resolve
    })
    const work = async (): Promise<void> => {
      const standing = await tailRun(paths, facts, {
        signal: over.signal,
        onRead,
        onChange: (now) => {
          tail.standing = now
          put(facts, now)
        },
      }).catch(() => undefined)
      tails.delete(id)
      onRead()
      if (over.signal.aborted) return
      if (!standing) return look(id)
      await conclude(paths, facts, standing)
      // It was resumed in the meantime, or its record cannot be written: look again, less and less
      // often.
      if (existsSync(paths.lock) || !isFinished(standing.row().state)) later(id)
      else waits.delete(id)
    }
    const tail: { standing?: RunRowBuilder; readonly first: Promise<void>; done: Promise<void> } = {
      first,
      done: Promise.resolve(),
    }
    tails.set(id, tail)
    tail.done = work()
    return first
  }
  const later = (id: string): void => {
    const before = waits.get(id)
    clearTimeout(before?.timer)
    const delay = Math.min(MAX_RETRY_MS, before ? 2 * before.delay : MIN_RETRY_MS)
    const wait = {
      delay,
      isOver: false,
      timer: setTimeout(() => {
        wait.isOver = true
        void look(id)
      }, delay).unref(),
    }
    waits.set(id, wait)
    if (over.signal.aborted) clearTimeout(wait.timer)
  }
  const mustWait = (id: string): boolean => waits.get(id)?.isOver === false
  // One look at a time; what changes during one is looked at behind it.
  const look: RunTracker['look'] = (id, quietly = false) => {
    const now = looks.get(id)
    if (now) {
      now.again = true
      return now.done
    }
    const one = { again: false, done: Promise.resolve() }
    looks.set(id, one)
    return (one.done = lookOnce(id, quietly)
      .catch(() => undefined)
      .then(() => {
        looks.delete(id)
        return one.again ? look(id) : undefined
      }))
  }
  const lookOnce = async (id: string, quietly: boolean): Promise<void> => {
    if (over.signal.aborted || tails.has(id)) return tails.get(id)?.first
    const paths = getRunPaths(root, id)
    // Before anything is read: what changes meanwhile is looked at again.
    const stats = statSync(paths.folder, { throwIfNoEntry: false })
    if (stats?.isDirectory() !== true) {
      waits.delete(id)
      return index.get(id)?.row.light ? undefined : index.remove(id)
    }
    const facts = readRunMetadata(paths)
    if (!facts) return later(id)
    const isLocked = existsSync(paths.lock)
    const quick = readRowQuickly(paths, facts)
    if (isLocked) {
      if (quick) put(facts, quick.standing, { quietly })
      return mustWait(id) && !isRunLive(paths) ? undefined : follow(paths, facts)
    }
    const standing = quick?.standing ?? (await scanRun(paths, facts))
    await conclude(paths, facts, standing, {
      unscanned: quick?.whole === false,
      quietly,
      changed: stats.mtimeMs,
    })
    if (isFinished(standing.row().state)) return void waits.delete(id)
    // No process owns it or will: a run is claimed when it is created. Two looks, because a lock is
    // briefly absent when it changes hands.
    if (!waits.has(id)) later(id)
    else if (!mustWait(id)) await follow(paths, facts)
  }
  return {
    look,
    getLiveRow: (id) => tails.get(id)?.standing,
    get followed() {
      return [...tails.keys()]
    },
    async close() {
      over.abort()
      for (const { timer } of waits.values()) clearTimeout(timer)
      await Promise.allSettled([...tails.values(), ...looks.values()].map(({ done }) => done))
    },
  }
}

/**
 * The questions of a workflow that nobody performs and that an answer would take further. None
 * where its record cannot be read.
 */
async function findOrphanedQuestions(
  paths: RunPaths,
  standing: RunRowBuilder,
): Promise<readonly RecordedQuestion[]> {
  try {
    const { open } = await readWorkflowRun(paths)
    const { ended, created } = standing.row()
    const since = new Map(standing.left.map(({ question, asked }) => [question.id, asked]))
    return open
      .filter(({ answered }) => answered !== true)
      .map((question) => ({
        question: limitQuestion(question),
        asked: since.get(question.id) ?? ended ?? created,
      }))
  } catch {
    return []
  }
}

const MAX_SHOWN = 100
const MAX_KEPT = 400
/** How long a request waits for records that were not scanned yet. */
const MAX_SCAN_WAIT_MS = 1000

/** Questions of all runs: those that are open, and the last ones that were settled. */
type DecisionLog = {
  settled(id: string, settled: readonly RecordedQuestion[]): void
  list(index: RunIndex, keeper: Pick<RunTracker, 'getLiveRow'>): Promise<DecisionList>
}

/** Knows none yet. */
export function createDecisionLog(root: string): DecisionLog {
  let past: { readonly id: string; readonly asked: RecordedQuestion; readonly at: string }[] = []
  const seen = new Set<string>()
  const scanned = new Set<string>()

  const settled: DecisionLog['settled'] = (id, all) => {
    for (const asked of all) {
      const key = toDecisionKey(id, asked)
      if (seen.has(key)) continue
      seen.add(key)
      past.push({ id, asked, at: asked.answered?.at ?? asked.asked })
    }
    if (past.length <= 2 * MAX_KEPT) return
    past = past.sort(compareNewestFirst).slice(0, MAX_KEPT)
    seen.clear()
    for (const one of past) seen.add(toDecisionKey(one.id, one.asked))
  }
  // Only both ends of long records were read. Scans the newest first, until there are enough;
  // requests do not wait for all of it.
  let scanning: Promise<void> | undefined
  const scanAll = async (index: RunIndex): Promise<void> => {
    for (const { row, unscanned } of [...index.all()]) {
      if (!unscanned || scanned.has(row.run_id)) continue
      if (isOlderThanEnough(row.ended ?? row.created)) return
      scanned.add(row.run_id)
      settled(row.run_id, await readSettledQuestions(getRunPaths(root, row.run_id)))
    }
  }
  const scan = async (index: RunIndex): Promise<void> => {
    scanning ??= scanAll(index)
      .catch(() => undefined)
      .finally(() => {
        scanning = undefined
      })
    await Promise.race([scanning, sleep(MAX_SCAN_WAIT_MS, undefined, { ref: false })])
  }
  const isOlderThanEnough = (time: string): boolean =>
    past.length >= MAX_SHOWN && past.filter(({ at }) => at > time).length >= MAX_SHOWN

  return {
    settled,
    async list(index, keeper) {
      await scan(index)
      const open = index
        .all()
        .flatMap((entry): readonly Decision[] =>
          entry.row.questions === 0
            ? []
            : (entry.left ?? keeper.getLiveRow(entry.row.run_id)?.open() ?? []).map((asked) =>
                toDecision(index, entry.row.run_id, asked)!,
              ),
        )
      const isOpen = new Set(open.map(({ run_id, question }) => `${run_id} ${question.id}`))
      const gone = past
        .filter(({ id, asked }) => index.get(id) && !isOpen.has(`${id} ${asked.question.id}`))
        .sort(compareNewestFirst)
      return {
        open,
        past: gone
          .slice(0, MAX_SHOWN)
          .flatMap(({ id, asked }) => toDecision(index, id, asked) ?? []),
      }
    },
  }
}

function toDecisionKey(id: string, { question, asked }: RecordedQuestion): string {
  return `${id} ${question.id} ${asked}`
}

function compareNewestFirst(left: { readonly at: string }, right: { readonly at: string }): number {
  return Number(left.at < right.at) - Number(left.at > right.at)
}

function toDecision(index: RunIndex, id: string, asked: RecordedQuestion): Decision | undefined {
  const row = index.get(id)?.row
  if (!row) return undefined
  const { tool, workflow, state } = row
  return compact({ run_id: id, tool, workflow, run_state: state, ...asked })
}

async function readSettledQuestions(paths: RunPaths): Promise<readonly RecordedQuestion[]> {
  const facts = readRunMetadata(paths)
  return facts ? (await scanRun(paths, facts)).takeSettled() : []
}

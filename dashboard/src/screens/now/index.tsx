import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunRow } from '../../../../src/views/model/api.ts'
import { Empty, Problem } from '../../parts/notes.tsx'
import { OpenQuestions } from '../../parts/question/open-questions.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { announce } from '../../state/announce.ts'
import { useDecisions } from '../../state/decisions.ts'
import { useRunList } from '../../state/use-run-list.ts'
import { total } from '../../state/stream.ts'
import type { ScreenProps } from '../screen.ts'
import { FirstRun } from './first-run.tsx'
import { RunningList } from './running-list.tsx'
import { Strip } from './strip.tsx'

const LAST = 10

/** What happens at this moment: what waits for somebody, what runs, and what has just ended. */
export function NowScreen(_props: ScreenProps) {
  const decisions = useDecisions()
  const midnight = useMidnight()
  const live = useRunList('state=running,queued,waiting_ai')
  const over = useRunList('state=completed,failed,cancelled')
  const failed = useRunList(`state=failed&since=${encodeURIComponent(midnight)}`, { first: 1 })
  useAnnouncedEnds(live.rows, over.rows)
  const open = decisions.value?.open.length ?? 0
  const running = live.rows.filter(({ state }) => state !== 'waiting_ai')
  // What somebody can answer stands above as a card.
  const waiting = live.rows.filter(
    ({ state, questions }) => state === 'waiting_ai' && questions === 0,
  )
  const finished = [...over.rows]
    .sort(
      (left, right) =>
        Date.parse(right.ended ?? right.created) - Date.parse(left.ended ?? left.created),
    )
    .slice(0, LAST)
  const isEmpty =
    !live.loading && !over.loading && live.rows.length + over.rows.length === 0 && total.value === 0
  return (
    <>
      <h1 class="hidden">Now</h1>
      <Strip
        running={live.counts?.running ?? running.length}
        queued={live.counts?.queued ?? 0}
        waiting={open}
        failedToday={failed.counts?.failed ?? 0}
        midnight={midnight}
      />
      {(live.error ?? over.error) && <Problem error={live.error ?? over.error} />}
      {isEmpty && <FirstRun />}
      {(open > 0 || decisions.value !== undefined) && (
        <section aria-labelledby="waiting" hidden={isEmpty}>
          <h2 id="waiting">Waiting for you</h2>
          <OpenQuestions decisions={decisions} />
          {open === 0 && <p class="dim quietly">Nothing waits for you.</p>}
        </section>
      )}
      {!isEmpty && !live.loading && (
        <section aria-labelledby="running">
          <h2 id="running">Running</h2>
          {running.length + waiting.length > 0 ? (
            <RunningList
              rows={[...running, ...waiting]}
              more={(live.counts?.running ?? 0) + (live.counts?.queued ?? 0) - running.length}
            />
          ) : (
            <p class="dim quietly">Nothing runs at this moment.</p>
          )}
        </section>
      )}
      {finished.length > 0 && (
        <section aria-labelledby="finished">
          <div class="title-row">
            <h2 id="finished">Finished</h2>
            <a class="push" href="/runs">
              All runs
            </a>
          </div>
          <div class="card">
            <RunTable rows={finished} label="Finished" />
          </div>
        </section>
      )}
      {!isEmpty &&
        !over.loading &&
        finished.length === 0 &&
        live.rows.length === 0 &&
        over.error === undefined && <Empty title="No run is known any more" />}
    </>
  )
}

// Who does not see a run leave the list hears how it ended.
function useAnnouncedEnds(live: readonly RunRow[], over: readonly RunRow[]): void {
  const ran = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const ended = over.filter(({ run_id }) => ran.current.has(run_id))
    ran.current = new Set(live.map(({ run_id }) => run_id))
    if (ended.length > 0) announce(ended.map(({ tool, state }) => `${tool} ${state}`).join(', '))
  }, [live, over])
}

// The midnight that came last, in the zone of the reader; it moves on with the day.
function useMidnight(): string {
  const [midnight, setMidnight] = useState(lastMidnight)
  useEffect(() => {
    const timer = setInterval(() => setMidnight(lastMidnight()), 60_000)
    return () => clearInterval(timer)
  }, [])
  return midnight
}

function lastMidnight(): string {
  const date = new Date()
  date.setHours(0, 0, 0, 0)
  return date.toISOString()
}

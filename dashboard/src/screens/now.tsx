import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunRow } from '../../../src/views/model/api.ts'
import { ActionButton, CopyButton } from '../parts/buttons.tsx'
import { RunLink, runPath, Subject } from '../parts/links.tsx'
import { Empty, Problem } from '../parts/notes.tsx'
import { OpenQuestions } from '../parts/questions.tsx'
import { Bar, Heartbeat, LastWords, RunTime } from '../parts/run-cells.tsx'
import { RunTable } from '../parts/run-table.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Until } from '../parts/time.tsx'
import { announce } from '../state/announce.ts'
import { post } from '../state/api.ts'
import { useDecisions } from '../state/decisions.ts'
import { useRunList } from '../state/run-list.ts'
import { total } from '../state/stream.ts'
import type { ScreenProps } from './table.tsx'

const LAST = 10

/** The current state: what waits for an answer, what runs, and what has just ended. */
export default function NowScreen(_props: ScreenProps) {
  const decisions = useDecisions()
  const midnight = useMidnight()
  const live = useRunList('state=running,queued,waiting_ai')
  const over = useRunList('state=completed,failed,cancelled')
  const failed = useRunList(`state=failed&since=${encodeURIComponent(midnight)}`, { first: 1 })
  useAnnouncedEnds(live.rows, over.rows)
  const open = decisions.value?.open.length ?? 0
  const running = live.rows.filter(({ state }) => state !== 'waiting_ai')
  // Questions that can be answered are shown above as cards.
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

type StripProps = {
  readonly running: number
  readonly queued: number
  readonly waiting: number
  readonly failedToday: number
  readonly midnight: string
}

/** The numbers of this moment, each a way to what it counts. */
export function Strip({ running, queued, waiting, failedToday, midnight }: StripProps) {
  return (
    <ul class="strip" aria-label="Counts">
      <Count role="run" amount={running} words="running" href="/runs?state=running" />
      {queued > 0 && <Count role="dim" amount={queued} words="queued" href="/runs?state=queued" />}
      <Count role="warn" amount={waiting} words="waiting for you" href="/decisions" />
      <Count
        role="bad"
        amount={failedToday}
        words="failed today"
        href={`/runs?state=failed&since=${encodeURIComponent(midnight)}`}
      />
    </ul>
  )
}

function Count({
  role,
  amount,
  words,
  href,
}: {
  readonly role: string
  readonly amount: number
  readonly words: string
  readonly href: string
}) {
  return (
    <li>
      <a class={amount > 0 ? role : 'dim none'} href={href}>
        <strong class="number">{amount.toLocaleString('en')}</strong> {words}
      </a>
    </li>
  )
}

/** What runs: how far it is, what it said last, and whether it is alive. */
export function RunningList({
  rows,
  more,
}: {
  readonly rows: readonly RunRow[]
  readonly more: number
}) {
  return (
    <>
      <ul class="running card" aria-label="Running">
        {rows.map((row) => (
          <Running key={row.run_id} row={row} />
        ))}
      </ul>
      {more > 0 && (
        <p>
          <a href="/runs?state=running,queued,waiting_ai">{more} more</a>
        </p>
      )}
    </>
  )
}

function Running({ row }: { readonly row: RunRow }) {
  const isRunning = row.state === 'running'
  return (
    <li>
      <div class="who">
        <StateBadge state={row.state} />
        <Subject row={row} />
        <RunLink id={row.run_id} />
      </div>
      <div class="how">
        {row.percent !== undefined && (
          <Bar percent={row.percent} label={`Progress of ${row.run_id}`} />
        )}
        <LastWords row={row} />
      </div>
      <div class="when">
        <span title="Running for">
          <span class="hidden">running for </span>
          <RunTime row={row} />
        </span>
        {isRunning ? <Heartbeat heard={row.heard} grace={row.grace_s} /> : <span />}
        {row.deadline !== undefined && isRunning ? (
          <span class="dim" title="Until it is ended">
            ends in <Until at={row.deadline} over="over" />
          </span>
        ) : (
          <span />
        )}
        <ActionButton
          label="Cancel"
          danger
          confirm="Cancel it?"
          title={`Cancel ${row.run_id}`}
          run={() => post(`${runPath(row.run_id)}/cancel`)}
        />
      </div>
    </li>
  )
}

const STEPS = [
  { command: 'toolable init --language python', what: 'writes a first tool, hello' },
  { command: 'toolable run hello --who World', what: 'runs it, on record' },
  { command: 'toolable runs show latest', what: 'shows how it went; so does this page' },
] as const

/** What to do where nothing has ever run. */
export function FirstRun() {
  return (
    <Empty title="Nothing has run here yet">
      <p>Three commands in the folder of the project make a first run:</p>
      <ol class="first-run">
        {STEPS.map(({ command, what }) => (
          <li key={command}>
            <code>{command}</code>
            <CopyButton text={command} label={`Copy ${command}`} short />
            <span>{what}</span>
          </li>
        ))}
      </ol>
    </Empty>
  )
}

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RunEvent } from '../../../../src/protocol/run-state.ts'
import { isFinished } from '../../../../src/protocol/run-state.ts'
import { stripAnsi } from '../../../../src/views/model/ansi.ts'
import type { EventPage } from '../../../../src/views/model/api.ts'
import { toEventText } from '../../../../src/views/model/event-text.ts'
import { formatDuration } from '../../../../src/views/model/format.ts'
import { Quiet } from '../../parts/buttons.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { runPath } from '../../parts/links.tsx'
import { Empty, Problem } from '../../parts/notes.tsx'
import { timeText } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { get } from '../../state/api.ts'
import { useKeys } from '../../state/keys.ts'
import { replaceQuery, route } from '../../state/route.ts'
import { EventFilters } from './event-filters.tsx'
import type { EventPager } from './event-pager.ts'
import { pageAll, pageSome } from './event-pager.ts'
import type { LiveRun } from './live.ts'
import type { Selection } from './selection.ts'

const ROW_HEIGHT = 26

/** Every line of the record: filtered, followed while it grows, each one open to the last field. */
export default function EventsTab({
  run,
  selection,
}: {
  readonly run: LiveRun
  readonly selection: Selection
}) {
  const { query } = route.value
  const { model } = run
  const wanted = getFilter(query, selection)
  const [, redraw] = useState(0)
  const [follows, setFollows] = useState(!isFinished(model.state))
  const pager = useMemo(
    () => openPager(model.run_id, wanted, model.seq, () => redraw((times) => times + 1)),
    [model.run_id, wanted],
  )
  useEffect(() => run.onEvents((events) => pager.add(events)), [pager])
  useKeys([{ key: 'f', label: 'Follow or pause', run: () => setFollows((before) => !before) }])
  const chosen = useRef<RunEvent | undefined>(undefined)
  const openSeq = Number(query.get('event') ?? 0)
  const choose = (event: RunEvent): void => {
    chosen.current = event
    replaceQuery({ event: event.seq === openSeq ? undefined : String(event.seq) })
  }
  const event = useChosen(model.run_id, openSeq, chosen.current)
  return (
    <div class="events">
      <EventFilters
        types={model.counts.by_type}
        selection={selection}
        shown={pager.count}
        total={Math.max(model.seq, pager.count)}
        follows={follows}
        onFollow={setFollows}
        live={!isFinished(model.state)}
      />
      {pager.error !== undefined && <Problem error={pager.error} />}
      <div class={openSeq > 0 ? 'events-split open' : 'events-split'}>
        {pager.count === 0 ? (
          <Empty title={wanted === '' ? 'Nothing is on record yet' : 'No event fits the filter'} />
        ) : (
          <VirtualList
            label="Events"
            class="event-list"
            count={pager.count}
            rowHeight={ROW_HEIGHT}
            follow={follows}
            onFollow={(atEnd) => !isFinished(model.state) && setFollows(atEnd)}
            onRange={(first, last) => pager.need(first, last)}
            render={(index) => (
              <EventRow
                event={pager.at(index) as RunEvent | undefined}
                before={pager.at(index - 1) as RunEvent | undefined}
                selected={(pager.at(index) as RunEvent | undefined)?.seq === openSeq}
                onOpen={choose}
              />
            )}
          />
        )}
        {openSeq > 0 && (
          <aside class="event-open" aria-label={`Event ${openSeq}`}>
            <div class="line">
              <h3>Event {openSeq}</h3>
              <Quiet class="push" onClick={() => replaceQuery({ event: undefined })}>
                Close
              </Quiet>
            </div>
            {event && <JsonView value={event} open={4} />}
          </aside>
        )}
      </div>
    </div>
  )
}

// The same text for the same filter, so that it says when another list is wanted.
function getFilter(query: URLSearchParams, { step, range }: Selection): string {
  const filter = new URLSearchParams()
  for (const [name, key] of [
    ['etype', 'type'],
    ['level', 'level'],
    ['text', 'text'],
  ] as const) {
    const value = query.get(name)
    if (value !== null && value !== '') filter.set(key, value)
  }
  // A step that stands for the items of a list: everything in the list.
  if (step !== undefined) filter.set('step', step.split('/*')[0]!)
  if (range) {
    filter.set('since', new Date(Math.floor(range.from)).toISOString())
    filter.set('until', new Date(Math.ceil(range.to)).toISOString())
  }
  return filter.toString()
}

function openPager(id: string, filter: string, total: number, changed: () => void): EventPager {
  const ask = (query: { readonly [name: string]: string }): Promise<EventPage> =>
    get<EventPage>(
      `${runPath(id)}/events?${new URLSearchParams([...new URLSearchParams(filter), ...Object.entries(query)])}`,
    )
  return filter === '' ? pageAll(ask, total, changed) : pageSome(ask, changed)
}

function useChosen(id: string, seq: number, here: RunEvent | undefined): RunEvent | undefined {
  const [event, setEvent] = useState<RunEvent>()
  useEffect(() => {
    if (seq === 0) return
    if (here?.seq === seq) return setEvent(here)
    void get<EventPage>(`${runPath(id)}/events?from=${seq}&limit=1`).then(
      ({ events }) => setEvent(events[0] as unknown as RunEvent),
      () => setEvent(undefined),
    )
  }, [id, seq])
  return event?.seq === seq ? event : undefined
}

const ROLES: { readonly [type: string]: string } = {
  error: 'bad',
  runner_error: 'bad',
  task_error: 'bad',
  runner_warning: 'warn',
  diagnostic: 'warn',
  action_required: 'warn',
  result: 'ok',
  artifact: 'accent',
  progress: 'run',
}

const LEVEL_ROLES: ReadonlyMap<unknown, string> = new Map([
  ['error', 'bad'],
  ['warn', 'warn'],
  ['warning', 'warn'],
])

type Props = {
  readonly event: RunEvent | undefined
  readonly before: RunEvent | undefined
  readonly selected: boolean
  onOpen(event: RunEvent): void
}

/**
 * A line of the record: its number, when it was and how long after the one before, what it is,
 * whose it is, what it says.
 */
export function EventRow({ event, before, selected, onOpen }: Props) {
  if (!event) return <span class="event dim">…</span>
  const delta = before && (Date.parse(event.ts) - Date.parse(before.ts)) / 1000
  const step = event['step'] ?? event['task_id']
  const role = (event.type === 'log' ? LEVEL_ROLES.get(event['level']) : ROLES[event.type]) ?? ''
  return (
    <button
      type="button"
      class={`event quiet ${selected ? 'selected' : ''}`}
      aria-expanded={selected}
      onClick={() => onOpen(event)}
    >
      <span class="seq number">{event.seq}</span>
      <span class="at number" title={timeText(event.ts, 3)}>
        {timeText(event.ts, 3).slice(11, 23)}
      </span>
      <span class="delta number">
        {delta !== undefined && delta >= 0 ? `+${formatDuration(delta)}` : ''}
      </span>
      <span class={`type ${role}`}>{event.type}</span>
      <span class="step">{typeof step === 'string' ? step : ''}</span>
      <span class="text">
        {stripAnsi(toEventText({ ...event, step: undefined, task_id: undefined }))}
      </span>
    </button>
  )
}

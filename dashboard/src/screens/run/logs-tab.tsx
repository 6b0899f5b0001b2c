import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isFinished } from '../../../../src/protocol/run-state.ts'
import { parseAnsi, stripAnsi } from '../../../../src/views/model/ansi.ts'
import type { LogPage } from '../../../../src/views/model/api.ts'
import { formatBytes } from '../../../../src/views/model/format-bytes.ts'
import { CopyButton, Quiet } from '../../parts/buttons.tsx'
import { runPath } from '../../parts/links.tsx'
import { Empty, Problem } from '../../parts/notes.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { get } from '../../state/api.ts'
import { replaceQuery, route } from '../../state/route.ts'
import { SearchField } from './event-filters.tsx'
import type { LiveRun } from './live.ts'
import type { Selection } from './selection.ts'

const ROW_HEIGHT = 20
const ERROR = /\b(?:error|fatal|exception|traceback|panic(?:ked)?|failed)\b/i
/** Lines of unequal height cannot be left out of the page by counting. */
const MOST_WRAPPED = 2000

/**
 * What a tool wrote to stderr, and what the runner said: its colours, but nothing that a terminal
 * would obey.
 */
export default function LogsTab({
  run: { model },
  selection,
}: {
  readonly run: LiveRun
  readonly selection: Selection
}) {
  const { query } = route.value
  const file = query.get('log') === 'runner' ? 'runner' : 'stderr'
  const wrap = query.get('wrap') === 'yes'
  const sought = (query.get('find') ?? '').toLowerCase()
  const live = !isFinished(model.state)
  const log = useLog(model.run_id, file, live)
  const [follows, setFollows] = useState(live)
  const [jump, setJump] = useState<{ readonly index: number }>()
  const found = useMemo(
    () =>
      sought === ''
        ? undefined
        : log.lines.flatMap((line, index) =>
            stripAnsi(line).toLowerCase().includes(sought) ? [index] : [],
          ),
    [log.lines, sought],
  )
  const firstError = useMemo(
    () => log.lines.findIndex((line) => ERROR.test(stripAnsi(line))),
    [log.lines],
  )
  const logged = model.counts.by_type['log'] ?? 0
  const shown = found ?? log.lines.map((_, index) => index)
  const render = (place: number) => (
    <LogLine
      number={shown[place]! + 1}
      line={log.lines[shown[place]!]!}
      isError={shown[place] === firstError}
    />
  )
  const toError = (): void => {
    setFollows(false)
    replaceQuery({ find: undefined, wrap: undefined })
    setJump({ index: Math.max(0, firstError) })
  }
  return (
    <div class="logs">
      <div class="line filters">
        <select
          aria-label="Log"
          value={file}
          onChange={(event) =>
            replaceQuery({ log: event.currentTarget.value === 'runner' ? 'runner' : undefined })
          }
        >
          <option value="stderr">stderr of the tool</option>
          <option value="runner">runner</option>
        </select>
        <SearchField
          label="Search the log"
          value={query.get('find') ?? ''}
          onChange={(text) => replaceQuery({ find: text })}
        />
        <label>
          <input
            type="checkbox"
            checked={wrap}
            onChange={() => replaceQuery({ wrap: wrap ? undefined : 'yes' })}
          />
          Wrap
        </label>
        <Quiet disabled={firstError === -1} onClick={toError}>
          Jump to the first error
        </Quiet>
        <CopyButton label="Copy the log" text={() => log.lines.map(stripAnsi).join('\n')} />
        <span class="push dim number" role="status">
          {found ? `${found.length.toLocaleString('en')} of ` : ''}
          {log.total.toLocaleString('en')} lines
        </span>
        {live && (
          <button type="button" aria-pressed={follows} onClick={() => setFollows(!follows)}>
            {follows ? 'Pause' : 'Follow'}
          </button>
        )}
      </div>
      {(selection.range || selection.step !== undefined) && (
        <p class="dim">
          These lines carry no time.{' '}
          <Quiet onClick={() => replaceQuery({ tab: 'events', etype: 'log,diagnostic,error' })}>
            What was said {selection.range ? 'in the chosen range' : 'in the chosen step'}
          </Quiet>
        </p>
      )}
      {log.error !== undefined && <Problem error={log.error} />}
      {log.cut > 0 && <p class="dim">{formatBytes(log.cut)} of long lines are not shown.</p>}
      {shown.length === 0 && (
        <Empty title={emptyTitle(file, found !== undefined, log.isWhole)}>
          {logged > 0 && !found && log.isWhole && (
            <p>
              What it logged is on record:{' '}
              <Quiet onClick={() => replaceQuery({ tab: 'events', etype: 'log' })}>
                {logged === 1 ? '1 event' : `${logged} events`}
              </Quiet>
            </p>
          )}
        </Empty>
      )}
      {shown.length > 0 && wrap && (
        <div class="log-wrapped" role="list" aria-label="Lines" tabIndex={0}>
          {shown.slice(-MOST_WRAPPED).map((index, place) => (
            <div role="listitem" key={index}>
              {render(Math.max(0, shown.length - MOST_WRAPPED) + place)}
            </div>
          ))}
        </div>
      )}
      {shown.length > 0 && !wrap && (
        <VirtualList
          label="Lines"
          class="log-lines"
          count={shown.length}
          rowHeight={ROW_HEIGHT}
          follow={follows && live}
          onFollow={(atEnd) => live && setFollows(atEnd)}
          jump={jump}
          render={render}
        />
      )}
    </div>
  )
}

function emptyTitle(file: 'stderr' | 'runner', isSearch: boolean, isWhole: boolean): string {
  if (isSearch) return 'No line contains that'
  if (!isWhole) return 'Reading …'
  return `Nothing was written to ${file === 'stderr' ? 'stderr' : 'the log of the runner'}`
}

function LogLine({
  number,
  line,
  isError,
}: {
  readonly number: number
  readonly line: string
  readonly isError: boolean
}) {
  return (
    <span class={`log-line ${isError ? 'first-error' : ''}`}>
      <span class="at number" aria-hidden="true">
        {number}
      </span>
      <span class="said">
        {parseAnsi(line).map(({ text, look }, index) =>
          look === '' ? (
            text
          ) : (
            <span key={index} class={`ansi ${look}`}>
              {text}
            </span>
          ),
        )}
      </span>
    </span>
  )
}

const PAGE = 2000
/** Lines that the page holds: to search them, they have to be here. */
const MOST_LINES = 60_000
const PAUSE_MS = 1000
const MOST_TRIES = 5

/** The lines of a log as far as they are here. */
export type Log = {
  readonly lines: readonly string[]
  readonly total: number
  readonly cut: number
  readonly isWhole: boolean
  readonly error?: unknown
}

const NOTHING: Log = { lines: [], total: 0, cut: 0, isWhole: false }

/** Reads a log from its beginning, and follows it while the run is live. */
export function useLog(id: string, file: string, isLive: boolean): Log {
  const [log, setLog] = useState(NOTHING)
  const live = useRef(isLive)
  live.current = isLive
  useEffect(() => {
    const stop = new AbortController()
    setLog(NOTHING)
    void read(id, file, live, stop.signal, setLog)
    return () => stop.abort()
  }, [id, file])
  return log
}

async function read(
  id: string,
  file: string,
  live: { readonly current: boolean },
  signal: AbortSignal,
  tell: (log: Log) => void,
): Promise<void> {
  let lines: string[] = []
  let cut = 0
  for (let rounds = 0; !signal.aborted && lines.length < MOST_LINES;) {
    // Once more after the end of the run, so that what was written last is seen.
    const wasLive = live.current
    let atEnd = true
    try {
      const page: LogPage = await get<LogPage>(
        `${runPath(id)}/log?${new URLSearchParams({ file, from: String(lines.length + 1), limit: String(PAGE) })}`,
        signal,
      )
      const all = [...lines, ...page.lines]
      atEnd = page.lines.length === 0 || all.length >= page.total
      cut += page.cut ?? 0
      tell({ lines: all, total: page.total, cut, isWhole: atEnd })
      // The last line may still grow: it is read again.
      lines = atEnd && wasLive ? all.slice(0, -1) : all
      if (atEnd && !wasLive) return
    } catch (error) {
      if (signal.aborted) return
      tell({ lines, total: lines.length, cut, isWhole: false, error })
      if (!wasLive && (rounds += 1) > MOST_TRIES) return
    }
    if (atEnd) await new Promise((done) => setTimeout(done, PAUSE_MS))
  }
}

import { useMemo, useState } from 'preact/hooks'
import { isFinished } from '../../../../../src/protocol/run-state.ts'
import { parseAnsi, stripAnsi } from '../../../../../src/views/model/ansi.ts'
import { formatBytes } from '../../../../../src/views/model/format-bytes.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { Empty, Problem } from '../../../parts/notes.tsx'
import { VirtualList } from '../../../parts/virtual-list.tsx'
import { changeQuery, route } from '../../../state/route.ts'
import { SearchField } from '../events/event-filters.tsx'
import type { Selection } from '../live/selection.ts'
import type { LiveRun } from '../live/use-run.ts'
import { useLog } from './use-log.ts'

const ROW_HEIGHT = 20
const ERROR = /\b(?:error|fatal|exception|traceback|panic(?:ked)?|failed)\b/i
/** Lines of unequal height cannot be left out of the page by counting. */
const MOST_WRAPPED = 2000

/**
 * What a tool wrote to stderr, and what the runner said: its colours, but nothing that a terminal
 * would obey.
 */
export function LogsTab({
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
    changeQuery({ find: undefined, wrap: undefined }, { replace: true })
    setJump({ index: Math.max(0, firstError) })
  }
  return (
    <div class="logs">
      <div class="line filters">
        <select
          aria-label="Log"
          value={file}
          onChange={(event) =>
            changeQuery(
              { log: event.currentTarget.value === 'runner' ? 'runner' : undefined },
              { replace: true },
            )
          }
        >
          <option value="stderr">stderr of the tool</option>
          <option value="runner">runner</option>
        </select>
        <SearchField
          label="Search the log"
          value={query.get('find') ?? ''}
          onChange={(text) => changeQuery({ find: text }, { replace: true })}
        />
        <label>
          <input
            type="checkbox"
            checked={wrap}
            onChange={() => changeQuery({ wrap: wrap ? undefined : 'yes' }, { replace: true })}
          />
          Wrap
        </label>
        <button type="button" class="quiet" disabled={firstError === -1} onClick={toError}>
          Jump to the first error
        </button>
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
          <button
            type="button"
            class="quiet"
            onClick={() =>
              changeQuery({ tab: 'events', etype: 'log,diagnostic,error' }, { replace: true })
            }
          >
            What was said {selection.range ? 'in the chosen range' : 'in the chosen step'}
          </button>
        </p>
      )}
      {log.error !== undefined && <Problem error={log.error} />}
      {log.cut > 0 && <p class="dim">{formatBytes(log.cut)} of long lines are not shown.</p>}
      {shown.length === 0 ? (
        <Empty
          title={
            found
              ? 'No line contains that'
              : log.isWhole
                ? `Nothing was written to ${file === 'stderr' ? 'stderr' : 'the log of the runner'}`
                : 'Reading …'
          }
        >
          {logged > 0 && !found && log.isWhole && (
            <p>
              What it logged is on record:{' '}
              <button
                type="button"
                class="quiet"
                onClick={() => changeQuery({ tab: 'events', etype: 'log' }, { replace: true })}
              >
                {logged === 1 ? '1 event' : `${logged} events`}
              </button>
            </p>
          )}
        </Empty>
      ) : wrap ? (
        <div class="log-wrapped" role="list" aria-label="Lines" tabIndex={0}>
          {shown.slice(-MOST_WRAPPED).map((index, place) => (
            <div role="listitem" key={index}>
              {render(Math.max(0, shown.length - MOST_WRAPPED) + place)}
            </div>
          ))}
        </div>
      ) : (
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

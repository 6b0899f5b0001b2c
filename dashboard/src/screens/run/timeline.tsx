import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatDuration } from '../../../../src/views/model/format.ts'
import { createTimeScale, zoomRange } from '../../../../src/views/model/time-scale.ts'
import type { Timeline, TimelineRow, TimeRange } from '../../../../src/views/model/timeline.ts'
import { createTimeline } from '../../../../src/views/model/timeline.ts'
import { Quiet } from '../../parts/buttons.tsx'
import { runPath } from '../../parts/links.tsx'
import { getLook } from '../../parts/state-badge.tsx'
import { now } from '../../state/clock.ts'
import { replaceQuery, route } from '../../state/route.ts'
import type { LiveRun } from './live.ts'
import type { Selection } from './selection.ts'
import { selectStep, selectStretch } from './selection.ts'
import { Plot, ROW_HEIGHT } from './timeline-plot.tsx'

const SPARE_ROWS = 6
// A moment at the very end is drawn whole.
const MARGIN = 6

/**
 * A run over time: a row for each attempt, step and child; a stretch that is dragged over filters
 * events, a row that is clicked is selected everywhere.
 */
export function TimelineView({
  run: { model, detail },
  selection,
  isSelected,
}: {
  readonly run: LiveRun
  readonly selection: Selection
  isSelected(key: string): boolean
}) {
  const folds = route.value.query.get('fold') !== 'no'
  const timeline = createTimeline(model, Math.max(now.value, model.heard ?? 0), detail.children)
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 300, width: 600 })
  useLayoutEffect(() => {
    const element = box.current!
    const plot = element.querySelector('.plot')!
    const measure = (): void =>
      setView((before) => {
        const next = {
          top: element.scrollTop,
          height: element.clientHeight,
          width: Math.max(80, Math.floor(plot.clientWidth) - MARGIN),
        }
        return next.top === before.top &&
          next.height === before.height &&
          next.width === before.width
          ? before
          : next
      })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])
  const range = clampRange(selection.zoom, timeline)
  const scale = createTimeScale(range, folds ? timeline.idle : [], view.width)
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - SPARE_ROWS)
  const rows = timeline.rows.slice(
    first,
    first + Math.ceil(view.height / ROW_HEIGHT) + 2 * SPARE_ROWS,
  )
  const show = (stretch: TimeRange | undefined): void =>
    selectStretch(
      'zoom',
      stretch && stretch.to - stretch.from < timeline.to - timeline.from ? stretch : undefined,
      model.created,
    )
  const zoomBy = (factor: number): void =>
    show(zoomRange(range, timeline, scale.toTime(view.width / 2), factor))
  // Events name steps; of an attempt, or of another run, only the time is known.
  const select = (row: TimelineRow): void =>
    row.kind === 'step'
      ? selectStep(row.key)
      : selectStretch('range', getStretch(row.bars), model.created)
  const chosen = timeline.rows.find(({ key }) => isSelected(key))
  return (
    <section class="card timeline" aria-label="Timeline">
      <div class="line tools">
        <h2>Timeline</h2>
        <Quiet aria-label="Zoom in" title="Zoom in" onClick={() => zoomBy(0.5)}>
          +
        </Quiet>
        <Quiet
          aria-label="Zoom out"
          title="Zoom out"
          disabled={!selection.zoom}
          onClick={() => zoomBy(2)}
        >
          −
        </Quiet>
        {selection.zoom && <Quiet onClick={() => show(undefined)}>Whole run</Quiet>}
        {timeline.idle.length > 0 && (
          <label class="dim">
            <input
              type="checkbox"
              checked={folds}
              onChange={() => replaceQuery({ fold: folds ? 'no' : undefined })}
            />
            Fold idle time
          </label>
        )}
        {chosen && (
          <Quiet onClick={() => selectStretch('range', getStretch(chosen.bars), model.created)}>
            Range of {chosen.name}
          </Quiet>
        )}
        {selection.range && (
          <span class="chip">
            {formatDuration((selection.range.from - timeline.from) / 1000)} –{' '}
            {formatDuration((selection.range.to - timeline.from) / 1000)}
            <Quiet onClick={() => show(selection.range)}>Zoom to it</Quiet>
            <Quiet
              aria-label="Clear the range"
              onClick={() => selectStretch('range', undefined, model.created)}
            >
              ✕
            </Quiet>
          </span>
        )}
        {timeline.more > 0 && (
          <span class="dim push">{timeline.more} more steps and moments are not drawn</span>
        )}
      </div>
      <div class="rows" ref={box} style={{ maxHeight: `${ROW_HEIGHT * 14 + 24}px` }}>
        <div
          class="labels"
          role="list"
          aria-label="Rows of the timeline"
          style={{ height: `${timeline.rows.length * ROW_HEIGHT}px` }}
        >
          {rows.map((row, index) => (
            <RowLabel
              key={row.key}
              row={row}
              top={(first + index) * ROW_HEIGHT}
              selected={isSelected(row.key)}
              end={timeline.to}
              onSelect={() => select(row)}
            />
          ))}
        </div>
        <div class="plot">
          <Plot
            timeline={timeline}
            rows={rows}
            first={first}
            scale={scale}
            range={range}
            brushed={selection.range}
            isSelected={isSelected}
            onBrush={(stretch) => selectStretch('range', stretch, model.created)}
            onSelect={select}
            onZoom={(around, factor) => show(zoomRange(range, timeline, around, factor))}
          />
        </div>
      </div>
    </section>
  )
}

function clampRange(wanted: TimeRange | undefined, { from, to }: Timeline): TimeRange {
  const inside = wanted && { from: Math.max(from, wanted.from), to: Math.min(to, wanted.to) }
  return inside && inside.to > inside.from ? inside : { from, to }
}

function getStretch(bars: readonly TimeRange[]): TimeRange | undefined {
  return bars.length === 0
    ? undefined
    : {
        from: Math.min(...bars.map(({ from }) => from)),
        to: Math.max(...bars.map(({ from, to }) => Math.max(to, from + 1))),
      }
}

const INDENT = 12
const DEEPEST = 8

/** What a row of the timeline is about: its name, how it stands, how long it took. */
export function RowLabel({
  row,
  top,
  selected,
  end,
  onSelect,
}: {
  readonly row: TimelineRow
  readonly top: number
  readonly selected: boolean
  readonly end: number
  onSelect(): void
}) {
  const { role, symbol, word } = getLook(row.state)
  const from = row.bars[0]?.from
  const took =
    from === undefined
      ? undefined
      : formatDuration(Math.max(0, Math.min(end, row.bars.at(-1)!.to) - from) / 1000)
  return (
    <div
      role="listitem"
      class={`row-label ${row.kind} ${selected ? 'selected' : ''}`}
      style={{
        top: `${top}px`,
        height: `${ROW_HEIGHT}px`,
        paddingLeft: `${Math.min(row.depth, DEEPEST) * INDENT}px`,
      }}
    >
      <Quiet
        aria-pressed={selected}
        aria-label={[row.name, word, row.error, took].filter(Boolean).join(', ')}
        title={[row.name, word, row.error].filter(Boolean).join(' · ')}
        onClick={onSelect}
      >
        <span class={`symbol ${role}`} aria-hidden="true">
          {symbol}
        </span>
        <span class="name">{row.name}</span>
        {took !== undefined && <span class="took number">{took}</span>}
      </Quiet>
      {row.run_id !== undefined && (
        <a
          href={runPath(row.run_id)}
          aria-label={`Run of ${row.name}`}
          title={`Go to ${row.run_id}`}
        >
          ↗
        </a>
      )}
    </div>
  )
}

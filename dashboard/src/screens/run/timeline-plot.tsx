import { useEffect, useRef, useState } from 'preact/hooks'
import { formatDuration } from '../../../../src/views/model/format.ts'
import type { TimeScale } from '../../../../src/views/model/time-scale.ts'
import { getTicks, thinMarks } from '../../../../src/views/model/time-scale.ts'
import type { Timeline, TimelineRow, TimeRange } from '../../../../src/views/model/timeline.ts'
import { getLook } from '../../parts/state-badge.tsx'

const LEAST_DRAG = 4
const LABEL_WIDTH = 48
const MARK_ROLES: { readonly [type: string]: string } = {
  error: 'bad',
  runner_error: 'bad',
  task_error: 'bad',
  action_required: 'warn',
  runner_warning: 'warn',
  artifact: 'accent',
  result: 'ok',
}

type Props = {
  readonly timeline: Timeline
  /** The rows that are in sight, and the place of the first of them. */
  readonly rows: readonly TimelineRow[]
  readonly first: number
  readonly scale: TimeScale
  readonly range: TimeRange
  readonly brushed: TimeRange | undefined
  isSelected(key: string): boolean
  onBrush(stretch: TimeRange | undefined): void
  onSelect(row: TimelineRow): void
  onZoom(around: number, factor: number): void
}

/**
 * The picture of a timeline: bars by state, moments, silences, folds, and a line for now. What it
 * shows is said in the labels beside it.
 */
export function Plot({
  timeline,
  rows,
  first,
  scale,
  range,
  brushed,
  isSelected,
  onBrush,
  onSelect,
  onZoom,
}: Props) {
  const height = AXIS_HEIGHT + timeline.rows.length * ROW_HEIGHT
  const { width } = scale
  const picture = useRef<SVGSVGElement>(null)
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>()
  const getX = (event: MouseEvent): number =>
    Math.min(width, Math.max(0, event.clientX - picture.current!.getBoundingClientRect().left))
  useEffect(() => {
    const element = picture.current!
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      onZoom(scale.toTime(getX(event)), event.deltaY > 0 ? 1.25 : 0.8)
    }
    element.addEventListener('wheel', turn, { passive: false })
    return () => element.removeEventListener('wheel', turn)
  })
  const release = (): void => {
    if (drag && Math.abs(drag.to - drag.from) >= LEAST_DRAG)
      onBrush({
        from: scale.toTime(Math.min(drag.from, drag.to)),
        to: scale.toTime(Math.max(drag.from, drag.to)),
      })
    setDrag(undefined)
  }
  const band = drag
    ? { x: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }
    : brushed && getBand(brushed, scale, range)
  return (
    <svg
      ref={picture}
      width={width + 6}
      height={height}
      aria-hidden="true"
      onPointerDown={(event) => {
        if (event.button === 0) {
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag({ from: getX(event), to: getX(event) })
        }
      }}
      onPointerMove={(event) => {
        if (drag) setDrag({ ...drag, to: getX(event) })
      }}
      onPointerUp={(event) => {
        if (drag && Math.abs(drag.to - drag.from) < LEAST_DRAG) {
          const row =
            timeline.rows[
              Math.floor(
                (event.clientY - picture.current!.getBoundingClientRect().top - AXIS_HEIGHT) /
                  ROW_HEIGHT,
              )
            ]
          if (row) onSelect(row)
        }
        release()
      }}
      onPointerCancel={() => setDrag(undefined)}
    >
      <defs>
        <pattern
          id="silence"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <line x1="0" y1="0" x2="0" y2="6" />
        </pattern>
      </defs>
      {rows.map(
        (row, index) =>
          isSelected(row.key) && (
            <rect
              key={row.key}
              class="chosen"
              x={0}
              y={AXIS_HEIGHT + (first + index) * ROW_HEIGHT}
              width={width}
              height={ROW_HEIGHT}
            />
          ),
      )}
      <Axis scale={scale} origin={timeline.from} height={height} />
      {rows.map((row, index) => (
        <Row
          key={row.key}
          row={row}
          y={AXIS_HEIGHT + (first + index) * ROW_HEIGHT}
          scale={scale}
          range={range}
        />
      ))}
      {timeline.silences.map((silence) => {
        const place = getBand(silence, scale, range)
        return (
          place && (
            <rect
              key={silence.from}
              class="silence"
              y={AXIS_HEIGHT}
              height={height - AXIS_HEIGHT}
              {...place}
            >
              <title>{`Nothing was heard for ${formatDuration((silence.to - silence.from) / 1000)}`}</title>
            </rect>
          )
        )
      })}
      {band && (
        <rect class="brushed" x={band.x} width={Math.max(1, band.width)} y={0} height={height} />
      )}
      {timeline.now !== undefined && timeline.now <= range.to && (
        <line
          class="now"
          x1={scale.toX(timeline.now)}
          x2={scale.toX(timeline.now)}
          y1={AXIS_HEIGHT - 6}
          y2={height}
        >
          <title>now</title>
        </line>
      )}
    </svg>
  )
}

function Axis({
  scale,
  origin,
  height,
}: {
  readonly scale: TimeScale
  readonly origin: number
  readonly height: number
}) {
  return (
    <g class="axis">
      {getTicks(scale, origin).map((time) => {
        const x = scale.toX(time)
        // What would not fit is left out; its line is there.
        return (
          <g key={time}>
            <line x1={x} x2={x} y1={AXIS_HEIGHT} y2={height} />
            {x <= scale.width - LABEL_WIDTH && (
              <text x={x + 3} y={13}>
                {time === origin ? '0' : formatDuration((time - origin) / 1000)}
              </text>
            )}
          </g>
        )
      })}
      {scale.pieces
        .filter(({ folded }) => folded)
        .map(({ from, to, x, width }) => (
          <g key={from} class="fold">
            <rect x={x} y={AXIS_HEIGHT} width={width} height={height - AXIS_HEIGHT} />
            <text x={x + width / 2} y={13}>
              ⋯
            </text>
            <title>{`${formatDuration((to - from) / 1000)} without anything to do`}</title>
          </g>
        ))}
    </g>
  )
}

function Row({
  row,
  y,
  scale,
  range,
}: {
  readonly row: TimelineRow
  readonly y: number
  readonly scale: TimeScale
  readonly range: TimeRange
}) {
  return (
    <g class={row.kind}>
      {row.bars.map((bar, index) => {
        const place = getBand(bar, scale, range)
        const { role, word } = getLook(bar.state)
        return (
          place && (
            <rect
              key={index}
              class={`bar-of-row ${role} ${bar.open ? 'open' : ''}`}
              y={y + 5}
              height={ROW_HEIGHT - 10}
              rx={3}
              x={place.x}
              width={Math.max(2, place.width)}
            >
              <title>{`${row.name}: ${word}, ${formatDuration((bar.to - bar.from) / 1000)}`}</title>
            </rect>
          )
        )
      })}
      {thinMarks(row.marks, scale, range).map(({ x, mark, count }) => (
        <circle
          key={mark.seq}
          class={`moment ${MARK_ROLES[mark.type] ?? 'dim'}`}
          cx={x}
          cy={y + ROW_HEIGHT / 2}
          r={3.5}
        >
          <title>{`${mark.type} ${mark.text}${count > 1 ? ` (and ${count - 1} more)` : ''}`}</title>
        </circle>
      ))}
    </g>
  )
}

function getBand(
  { from, to }: TimeRange,
  scale: TimeScale,
  range: TimeRange,
): { readonly x: number; readonly width: number } | undefined {
  if (to < range.from || from > range.to) return undefined
  const x = scale.toX(Math.max(from, range.from))
  return { x, width: scale.toX(Math.min(to, range.to)) - x }
}

/** Pixels. */
export const ROW_HEIGHT = 24
export const AXIS_HEIGHT = 20

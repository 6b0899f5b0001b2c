import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { formatDuration } from '../../../src/views/model/format.ts'
import type {
  GraphBox,
  GraphCluster,
  GraphEdge,
  GraphNode,
  NodeStatus,
  WorkflowGraph,
} from '../../../src/views/model/graph.ts'
import { layoutGraph } from '../../../src/views/model/graph.ts'
import { now } from '../state/clock.ts'
import { getLook } from './state-badge.tsx'

type Props = {
  readonly graph: WorkflowGraph
  /** How its steps stand, by key; none for a definition that is only looked at. */
  readonly states?: ReadonlyMap<string, NodeStatus> | undefined
  readonly selected?: string | undefined
  readonly onSelect?: ((key: string) => void) | undefined
  readonly label?: string
}

/** A definition as boxes in layers, with how each of them stands. */
export function GraphView({
  graph,
  states,
  selected,
  onSelect,
  label = 'Graph of the steps',
}: Props) {
  const { boxes, width, height } = useMemo(() => layoutGraph(graph), [graph])
  const props = { states, selected, onSelect }
  const frame = useRef<HTMLDivElement>(null)
  // A narrow page begins with the line that everything stands on.
  useLayoutEffect(
    () =>
      void (frame.current!.scrollLeft =
        (boxes.values().next().value?.line ?? 0) - frame.current!.clientWidth / 2),
    [boxes],
  )
  return (
    <div class="graph" ref={frame} role="group" aria-label={label}>
      <div class="canvas" style={{ width: `${width}px`, height: `${height}px` }}>
        {graph.clusters.map((cluster) => (
          <Step
            key={cluster.key}
            step={cluster}
            box={boxes.get(cluster.key)!}
            kind="frame"
            {...props}
          />
        ))}
        <svg width={width} height={height} aria-hidden="true">
          {graph.edges.map((edge) =>
            edge.kind === 'need' && selected !== edge.to && selected !== edge.from ? null : (
              <Edge
                key={`${edge.kind} ${edge.from} ${edge.to}`}
                edge={edge}
                boxes={boxes}
                taken={states?.has(edge.to) === true}
              />
            ),
          )}
        </svg>
        {graph.nodes.map((node) => (
          <Step key={node.key} step={node} box={boxes.get(node.key)!} kind="node" {...props} />
        ))}
      </div>
    </div>
  )
}

function Edge({
  edge: { from, to, kind, label },
  boxes,
  taken,
}: {
  readonly edge: GraphEdge
  readonly boxes: ReadonlyMap<string, GraphBox>
  readonly taken: boolean
}) {
  const [source, target] = [boxes.get(from), boxes.get(to)]
  if (!source || !target) return null
  const [x1, y1] = [source.line, source.y + source.height]
  const [x2, y2] = [target.line, target.y - 1]
  const bend = Math.max(12, Math.abs(y2 - y1) / 2)
  return (
    <g class={`edge ${kind} ${taken ? 'taken' : ''}`}>
      <path d={`M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 5}`} />
      <path class="head" d={`M${x2 - 4} ${y2 - 7} L${x2} ${y2} L${x2 + 4} ${y2 - 7} Z`} />
      {kind === 'undo' && (
        <text x={(x1 + x2) / 2 + 6} y={(y1 + y2) / 2 + 4}>
          undo
        </text>
      )}
      {label !== undefined && (
        <text x={x2 + 8} y={y2 - 10}>
          if {label.length > 34 ? `${label.slice(0, 33)}…` : label}
        </text>
      )}
    </g>
  )
}

type StepProps = Pick<Props, 'states' | 'selected' | 'onSelect'> & {
  readonly step: GraphNode | GraphCluster
  readonly box: GraphBox
  readonly kind: 'node' | 'frame'
}

function Step({
  step: { key, name, label, planned },
  box,
  kind,
  states,
  selected,
  onSelect,
}: StepProps) {
  const standing = states?.get(key)
  const look = states && planned ? getLook(standing?.state ?? 'pending') : undefined
  const info =
    standing &&
    [
      standing.items,
      standing.percent !== undefined && `${Math.round(standing.percent)} %`,
      getDuration(standing),
      standing.tries > 1 && `try ${standing.tries}`,
    ]
      .filter(Boolean)
      .join(' · ')
  const title = [
    planned?.when !== undefined && `if ${planned.when}`,
    label,
    standing?.error ?? standing?.last,
  ]
    .filter(Boolean)
    .join('\n')
  const spoken = [name, look?.word, info, label].filter(Boolean).join(', ')
  const place = {
    left: `${box.x}px`,
    top: `${box.y}px`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  }
  const content = (
    <>
      <span class="first">
        {look && (
          <span
            class={`symbol ${standing?.state === 'running' ? 'turning' : ''}`}
            aria-hidden="true"
          >
            {look.symbol}
          </span>
        )}
        <span class="name">{name}</span>
        {info !== undefined && info !== '' && <span class="info number">{info}</span>}
      </span>
      <span class="second">{label}</span>
    </>
  )
  const role = `${kind} ${look?.role ?? ''} ${standing?.state ?? 'none'} ${planned?.role ?? ''}`
  const button = onSelect && {
    type: 'button' as const,
    title,
    'aria-label': spoken,
    'aria-pressed': selected === key,
    onClick: () => onSelect(key),
    children: content,
  }
  if (kind === 'frame')
    return (
      <div class={role} style={place}>
        {button && planned ? (
          <button class="head" {...button} />
        ) : (
          <span class="head">{content}</span>
        )}
      </div>
    )
  if (button) return <button class={role} style={place} {...button} />
  return (
    <div class={role} style={place} title={title}>
      {content}
    </div>
  )
}

function getDuration({ began, ended, state }: NodeStatus): string | undefined {
  if (began === undefined || state === 'skipped') return undefined
  return formatDuration(Math.max(0, (ended ?? Math.max(began, now.value)) - began) / 1000)
}

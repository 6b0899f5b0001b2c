import { useMemo } from 'preact/hooks'
import { createGraph } from '../../../../../src/views/model/graph.ts'
import type { NodeStatus } from '../../../../../src/views/model/graph.ts'
import {
  createKeyGeneralizer,
  getNodeStatuses,
} from '../../../../../src/views/model/graph-status.ts'
import type { RunModel } from '../../../../../src/views/model/run-model.ts'
import type { GraphSource, PlannedNode } from '../../../../../src/views/model/api.ts'
import { GraphView } from '../../../parts/graph-view.tsx'
import { JsonView } from '../../../parts/json-view.tsx'
import { RunLink } from '../../../parts/run-cells.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Since, Took } from '../../../parts/time.tsx'
import { changeQuery } from '../../../state/route.ts'
import { selectStep } from '../live/selection.ts'

const MOST_ITEMS = 100

/**
 * The workflow of a run as a graph that moves with it; the chosen step is told in full beside it.
 */
export function GraphTab({
  workflow,
  model,
  step,
}: {
  readonly workflow: GraphSource
  readonly model: RunModel
  readonly step: string | undefined
}) {
  // The document is asked for anew while the run goes on, with the same steps in it.
  const same = JSON.stringify(workflow.steps)
  const [graph, generalize] = useMemo(
    () => [createGraph(workflow.steps), createKeyGeneralizer(workflow.steps)],
    [same],
  )
  const states = getNodeStatuses(workflow.steps, model.steps)
  const chosen = step === undefined ? undefined : generalize(step)
  const planned = workflow.steps.find(({ key }) => key === chosen)
  return (
    <div class="graph-split">
      <GraphView
        graph={graph}
        states={states}
        selected={chosen}
        onSelect={(key) =>
          selectStep(
            key === chosen
              ? undefined
              : states.get(key)?.keys.length === 1
                ? states.get(key)!.keys[0]
                : key,
          )
        }
      />
      {planned && <StepPanel planned={planned} standing={states.get(planned.key)} model={model} />}
    </div>
  )
}

function StepPanel({
  planned,
  standing,
  model,
}: {
  readonly planned: PlannedNode
  readonly standing: NodeStatus | undefined
  readonly model: RunModel
}) {
  const items =
    (standing?.keys.length ?? 0) > 1
      ? model.steps.filter(({ key }) => standing!.keys.includes(key))
      : []
  return (
    <aside class="card step-panel" aria-label={`Step ${planned.key}`}>
      <div class="line">
        <h3>{planned.key}</h3>
        <StateBadge state={standing?.state ?? 'pending'} small />
        <button type="button" class="quiet push" onClick={() => selectStep(undefined)}>
          Close
        </button>
      </div>
      <dl class="run-facts">
        <div>
          <dt>Kind</dt>
          <dd>
            {planned.kind}
            {planned.role !== 'step' && ` (${planned.role})`}
          </dd>
        </div>
        {planned.tool !== undefined && (
          <div>
            <dt>Tool</dt>
            <dd>
              <a href={`/tools/${encodeURIComponent(planned.tool)}`}>{planned.tool}</a>
            </dd>
          </div>
        )}
        {standing?.began !== undefined && (
          <div>
            <dt>Took</dt>
            <dd>
              {standing.ended === undefined ? (
                <Since at={standing.began} />
              ) : (
                <Took seconds={(standing.ended - standing.began) / 1000} />
              )}
            </dd>
          </div>
        )}
        {standing && standing.tries > 1 && (
          <div>
            <dt>Tries</dt>
            <dd>{standing.tries}</dd>
          </div>
        )}
        {standing?.items !== undefined && (
          <div>
            <dt>Items done</dt>
            <dd>{standing.items}</dd>
          </div>
        )}
        {standing?.run_id !== undefined && items.length === 0 && (
          <div>
            <dt>Run</dt>
            <dd>
              <RunLink id={standing.run_id} />
            </dd>
          </div>
        )}
        {planned.when !== undefined && (
          <div>
            <dt>Only if</dt>
            <dd>
              <code>{planned.when}</code>
            </dd>
          </div>
        )}
        {planned.needs.length > 0 && (
          <div>
            <dt>Uses</dt>
            <dd>
              <code>{planned.needs.join(', ')}</code>
            </dd>
          </div>
        )}
        {planned.timeout !== undefined && (
          <div>
            <dt>At most</dt>
            <dd>
              <Took seconds={planned.timeout} />
            </dd>
          </div>
        )}
      </dl>
      {standing?.error !== undefined && <p class="bad">{standing.error}</p>}
      {standing?.error === undefined && standing?.last !== undefined && (
        <p class="dim">{standing.last}</p>
      )}
      {planned.command !== undefined && <pre>{planned.command}</pre>}
      {planned.question !== undefined && <p>{planned.question}</p>}
      {planned.input !== undefined && <JsonView value={planned.input} />}
      {items.length > 0 && (
        <ul class="items" aria-label="Items">
          {[...items]
            .sort(
              (left, right) => Number(right.state === 'failed') - Number(left.state === 'failed'),
            )
            .slice(0, MOST_ITEMS)
            .map(({ key, state, run_id }) => (
              <li key={key}>
                <StateBadge state={state} small />{' '}
                <button type="button" class="quiet mono" onClick={() => selectStep(key)}>
                  {key}
                </button>{' '}
                {run_id !== undefined && <RunLink id={run_id} />}
              </li>
            ))}
        </ul>
      )}
      {standing && (
        <button type="button" onClick={() => changeQuery({ tab: 'events' }, { replace: true })}>
          Its events
        </button>
      )}
    </aside>
  )
}

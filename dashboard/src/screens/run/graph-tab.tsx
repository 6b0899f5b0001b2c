import { useMemo } from 'preact/hooks'
import type { GraphSource, PlannedNode } from '../../../../src/views/model/api.ts'
import { createKeyGeneralizer, getNodeStatuses } from '../../../../src/views/model/graph-status.ts'
import type { NodeStatus } from '../../../../src/views/model/graph.ts'
import { createGraph } from '../../../../src/views/model/graph.ts'
import type { RunModel } from '../../../../src/views/model/run-model.ts'
import { Quiet } from '../../parts/buttons.tsx'
import { GraphView } from '../../parts/graph-view.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { RunLink, ToolLink } from '../../parts/links.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Fact } from '../../parts/table.tsx'
import { Span, Took } from '../../parts/time.tsx'
import { replaceQuery } from '../../state/route.ts'
import { selectStep } from './selection.ts'

const MOST_ITEMS = 100

/** The workflow of a run as a live graph, with the details of the selected step beside it. */
export default function GraphTab({
  workflow,
  model,
  step,
}: {
  readonly workflow: GraphSource
  readonly model: RunModel
  readonly step: string | undefined
}) {
  // The document is reloaded while the run continues, with the same steps in it.
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
          selectStep(key === chosen ? undefined : getStepKey(key, states.get(key)))
        }
      />
      {planned && <StepPanel planned={planned} standing={states.get(planned.key)} model={model} />}
    </div>
  )
}

// A box that stands for one step of the run selects that step.
function getStepKey(key: string, standing: NodeStatus | undefined): string {
  return standing?.keys.length === 1 ? standing.keys[0]! : key
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
        <Quiet class="push" onClick={() => selectStep(undefined)}>
          Close
        </Quiet>
      </div>
      <dl class="run-facts">
        <Fact name="Kind">
          {planned.kind}
          {planned.role !== 'step' && ` (${planned.role})`}
        </Fact>
        <Fact name="Tool">{planned.tool !== undefined && <ToolLink id={planned.tool} />}</Fact>
        <Fact name="Took">{standing?.began !== undefined && <Span span={standing} />}</Fact>
        <Fact name="Tries">{standing && standing.tries > 1 && standing.tries}</Fact>
        <Fact name="Items done">{standing?.items}</Fact>
        <Fact name="Run">
          {standing?.run_id !== undefined && items.length === 0 && <RunLink id={standing.run_id} />}
        </Fact>
        <Fact name="Only if">{planned.when !== undefined && <code>{planned.when}</code>}</Fact>
        <Fact name="Uses">
          {planned.needs.length > 0 && <code>{planned.needs.join(', ')}</code>}
        </Fact>
        <Fact name="At most">
          {planned.timeout !== undefined && <Took seconds={planned.timeout} />}
        </Fact>
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
                <Quiet class="mono" onClick={() => selectStep(key)}>
                  {key}
                </Quiet>{' '}
                {run_id !== undefined && <RunLink id={run_id} />}
              </li>
            ))}
        </ul>
      )}
      {standing && (
        <button type="button" onClick={() => replaceQuery({ tab: 'events' })}>
          Its events
        </button>
      )}
    </aside>
  )
}

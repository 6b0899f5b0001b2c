import { useMemo } from 'preact/hooks'
import { createGraph } from '../../../../src/views/model/graph.ts'
import type { WorkflowDetail } from '../../../../src/views/model/api.ts'
import { Code } from '../../parts/code.tsx'
import { GraphView } from '../../parts/graph-view.tsx'
import { Loading, Problem } from '../../parts/notes.tsx'
import { Path } from '../../parts/path.tsx'
import { chosenTab, TabPanel, Tabs } from '../../parts/tabs.tsx'
import { useDocument } from '../../state/resource.ts'
import { changeQuery } from '../../state/route.ts'
import { useNews } from '../../state/use-news.ts'
import type { ScreenProps } from '../screen.ts'
import { TryIt } from '../tool/try-it.tsx'
import { Grid } from './grid.tsx'
import { PlannedStep } from './planned-step.tsx'

/**
 * The screen of one workflow: its graph, how its steps went in the last runs, its plan and source,
 * and a form that runs it.
 */
export function WorkflowScreen({ parts, query }: ScreenProps) {
  const name = parts[1]!
  const { value, error, reload } = useDocument<WorkflowDetail>(
    `/workflows/${encodeURIComponent(name)}`,
  )
  useNews(reload, ({ workflow }) => workflow === name)
  const graph = useMemo(
    () => value && createGraph(value.graph.steps),
    [JSON.stringify(value?.graph)],
  )
  if (!value || !graph)
    return error ? (
      <Problem error={error}>
        <p>
          <a href="/workflows">All workflows</a>
        </p>
      </Problem>
    ) : (
      <Loading what="Asking for the workflow" />
    )
  const { row } = value
  const tabs = [
    { id: 'graph', label: 'Graph' },
    { id: 'grid', label: 'Steps × runs', count: value.grid.runs.length },
    { id: 'plan', label: 'Plan' },
    { id: 'source', label: 'Source' },
  ]
  const [chosen, selected] = [chosenTab(tabs), query.get('step') ?? undefined]
  const step = value.graph.steps.find(({ key }) => key === selected)
  return (
    <>
      <div class="title-row">
        <h1>
          <a class="dim" href="/workflows">
            Workflows
          </a>{' '}
          <span class="dim">/</span> {row.name}
        </h1>
        <span class="push dim">
          {row.steps} steps ·{' '}
          <a href={`/runs?workflow=${encodeURIComponent(name)}`}>{row.runs} runs</a>
          {row.file !== undefined && (
            <>
              {' '}
              · <Path path={row.file} />
            </>
          )}
        </span>
      </div>
      <p class="lead">{row.summary}</p>
      {row.problem !== undefined && <Problem error={row.problem} />}
      <section class="card">
        <Tabs items={tabs} />
        <TabPanel items={tabs}>
          {chosen === 'graph' && (
            <div class={step ? 'beside' : ''}>
              <GraphView
                graph={graph}
                selected={selected}
                onSelect={(key) =>
                  changeQuery({ step: key === selected ? undefined : key }, { replace: true })
                }
              />
              {step && <PlannedStep step={step} />}
            </div>
          )}
          {chosen === 'grid' && <Grid grid={value.grid} />}
          {chosen === 'plan' && <Code label="plan" text={value.plan} language="text" />}
          {chosen === 'source' && (
            <Code label="source" text={value.source} language={value.language} />
          )}
        </TabPanel>
      </section>
      {row.problem === undefined && (
        <TryIt
          title="Run it"
          id={row.id}
          schema={value.input_schema ?? { type: 'object', properties: {} }}
        />
      )}
    </>
  )
}

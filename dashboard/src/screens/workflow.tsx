import { useMemo } from 'preact/hooks'
import type { PlannedNode, WorkflowDetail } from '../../../src/views/model/api.ts'
import { createGraph } from '../../../src/views/model/graph.ts'
import { Code } from '../parts/code.tsx'
import { GraphView } from '../parts/graph-view.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Path, runPath, ToolLink, workflowPath } from '../parts/links.tsx'
import { Empty, Missing, Problem } from '../parts/notes.tsx'
import { getLook } from '../parts/state-badge.tsx'
import { Fact } from '../parts/table.tsx'
import { chosenTab, TabPanel, Tabs } from '../parts/tabs.tsx'
import { Ago } from '../parts/time.tsx'
import { useDocument, useNews } from '../state/resource.ts'
import { replaceQuery } from '../state/route.ts'
import type { ScreenProps } from './table.tsx'
import { TryIt } from './tool/try-it.tsx'

/**
 * The screen of one workflow: its graph, how its steps went in the last runs, its plan and source,
 * and a form that runs it.
 */
export default function WorkflowScreen({ parts, query }: ScreenProps) {
  const name = parts[1]!
  const { value, error, reload } = useDocument<WorkflowDetail>(workflowPath(name))
  useNews(reload, ({ workflow }) => workflow === name)
  const graph = useMemo(
    () => value && createGraph(value.graph.steps),
    [JSON.stringify(value?.graph)],
  )
  if (!value || !graph)
    return (
      <Missing error={error} what="Asking for the workflow">
        <a href="/workflows">All workflows</a>
      </Missing>
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
                onSelect={(key) => replaceQuery({ step: key === selected ? undefined : key })}
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

/** What a step of a definition is and demands. */
export function PlannedStep({ step }: { readonly step: PlannedNode }) {
  const {
    key,
    kind,
    role,
    tool,
    command,
    question,
    workflow,
    when,
    needs,
    input,
    timeout,
    concurrency,
    retry,
    on_error,
  } = step
  return (
    <section class="planned" aria-label={`Step ${key}`}>
      <h3>{key}</h3>
      <dl class="facts">
        <Fact name="Kind">{role === 'step' ? kind : `${kind}, ${role}`}</Fact>
        <Fact name="Tool">{tool !== undefined && <ToolLink id={tool} />}</Fact>
        <Fact name="Command">{command}</Fact>
        <Fact name="Question">{question}</Fact>
        <Fact name="Workflow">{workflow}</Fact>
        <Fact name="If">{when}</Fact>
        <Fact name="Needs">{needs.length > 0 && needs.join(', ')}</Fact>
        <Fact name="Timeout">{timeout !== undefined && `${timeout} s`}</Fact>
        <Fact name="At once">{concurrency}</Fact>
        <Fact name="If it fails">{on_error}</Fact>
      </dl>
      {input !== undefined && (
        <>
          <h3>Input</h3>
          <JsonView value={input} />
        </>
      )}
      {retry !== undefined && (
        <>
          <h3>Retry</h3>
          <JsonView value={retry} />
        </>
      )}
    </section>
  )
}

/** How each step went in each of the last runs. */
export function Grid({ grid: { steps, runs } }: Pick<WorkflowDetail, 'grid'>) {
  if (runs.length === 0) return <Empty title="It has not been run yet" />
  return (
    <div class="scroll-x">
      <table class="grid" aria-label="Steps and runs">
        <thead>
          <tr>
            <th scope="col">Step</th>
            {runs.map(({ row }) => (
              <th scope="col" key={row.run_id}>
                <a href={runPath(row.run_id)} title={row.run_id}>
                  <Mark state={row.state} /> <Ago at={row.started ?? row.created} />
                </a>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step}>
              <th scope="row">
                <code>{step}</code>
              </th>
              {runs.map(({ row, states }) => {
                const state = Object.hasOwn(states, step) ? states[step] : undefined
                return (
                  <td
                    key={row.run_id}
                    class={`cell ${state === undefined ? '' : getLook(state).role}`}
                  >
                    {state === undefined ? (
                      <span class="dim" title="not reached">
                        ·<span class="hidden">not reached</span>
                      </span>
                    ) : (
                      <a href={`${runPath(row.run_id)}?step=${encodeURIComponent(step)}`}>
                        <Mark state={state} />
                      </a>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Mark({ state }: { readonly state: string }) {
  const { role, symbol, word } = getLook(state)
  return (
    <span class={role} title={word}>
      <span aria-hidden="true">{symbol}</span>
      <span class="hidden">{word}</span>
    </span>
  )
}

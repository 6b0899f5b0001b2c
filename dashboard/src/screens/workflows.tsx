import type { WorkflowRow } from '../../../src/views/model/api.ts'
import { Path, runPath, workflowPath } from '../parts/links.tsx'
import { Empty, Missing } from '../parts/notes.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Dash, Table } from '../parts/table.tsx'
import { Ago } from '../parts/time.tsx'
import { useDocument, useNews } from '../state/resource.ts'
import type { ScreenProps } from './table.tsx'

/** The screen Workflows: what there is, and how each went last. */
export default function WorkflowsScreen(_: ScreenProps) {
  const { value, error, reload } = useDocument<{ readonly workflows: readonly WorkflowRow[] }>(
    '/workflows',
  )
  useNews(reload, ({ workflow }) => workflow !== undefined)
  if (!value) return <Missing error={error} what="Looking for workflows" />
  const { workflows } = value
  return (
    <>
      <div class="title-row">
        <h1>Workflows</h1>
        <span class="dim">{workflows.length}</span>
      </div>
      {workflows.length === 0 && (
        <Empty title="There are no workflows yet">
          <p>
            A file in the folder that <code>toolable.yaml</code> names under <code>workflows</code>{' '}
            makes one.
          </p>
        </Empty>
      )}
      {workflows.length > 0 && (
        <div class="card">
          <Table
            class="roomy"
            label="Workflows"
            rows={workflows}
            rowKey={({ id }) => id}
            columns={[
              { head: 'Workflow', class: 'wide wrap', cell: (row) => <Name row={row} /> },
              { head: 'Last run', cell: ({ latest }) => <LastRun run={latest} /> },
              {
                head: 'When',
                cell: ({ latest }) =>
                  latest ? <Ago at={latest.started ?? latest.created} /> : <Dash />,
              },
              { head: 'Steps', class: 'right', cell: ({ steps }) => steps },
              { head: 'Runs', class: 'right', cell: ({ runs }) => runs },
              {
                head: 'Failed',
                class: 'right',
                cell: ({ failed }) => <span class={failed > 0 ? 'bad' : 'dim'}>{failed}</span>,
              },
              { head: 'File', cell: ({ file }) => <Path path={file} /> },
            ]}
          />
        </div>
      )}
    </>
  )
}

function Name({ row: { name, summary, problem } }: { readonly row: WorkflowRow }) {
  return (
    <>
      <a class="subject" href={workflowPath(name)}>
        {name}
      </a>
      <br />
      <span class="dim">{summary}</span>
      {problem !== undefined && <p class="bad">✗ {problem}</p>}
    </>
  )
}

function LastRun({ run }: { readonly run: WorkflowRow['latest'] }) {
  if (!run) return <span class="dim">never</span>
  return (
    <a href={runPath(run.run_id)}>
      <StateBadge state={run.state} />
    </a>
  )
}

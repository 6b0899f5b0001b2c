import type { WorkflowRow } from '../../../../src/views/model/api.ts'
import { Empty, Loading, Problem } from '../../parts/notes.tsx'
import { Path } from '../../parts/path.tsx'
import { runPath } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Ago } from '../../parts/time.tsx'
import { useDocument } from '../../state/resource.ts'
import { useNews } from '../../state/use-news.ts'
import type { ScreenProps } from '../screen.ts'

/** The screen Workflows: what there is, and how each went last. */
export function WorkflowsScreen(_: ScreenProps) {
  const { value, error, reload } = useDocument<{ readonly workflows: readonly WorkflowRow[] }>(
    '/workflows',
  )
  useNews(reload, ({ workflow }) => workflow !== undefined)
  if (!value) return error ? <Problem error={error} /> : <Loading what="Looking for workflows" />
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
        <div class="card scroll-x">
          <table class="roomy" aria-label="Workflows">
            <thead>
              <tr>
                <th class="wide">Workflow</th>
                <th>Last run</th>
                <th>When</th>
                <th class="right">Steps</th>
                <th class="right">Runs</th>
                <th class="right">Failed</th>
                <th>File</th>
              </tr>
            </thead>
            <tbody>
              {workflows.map((row) => (
                <Row key={row.id} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function Row({
  row: { name, summary, latest, steps, runs, failed, file, problem },
}: {
  readonly row: WorkflowRow
}) {
  return (
    <tr>
      <td class="wide wrap">
        <a class="subject" href={`/workflows/${encodeURIComponent(name)}`}>
          {name}
        </a>
        <br />
        <span class="dim">{summary}</span>
        {problem !== undefined && <p class="bad">✗ {problem}</p>}
      </td>
      <td>
        {latest ? (
          <a href={runPath(latest.run_id)}>
            <StateBadge state={latest.state} />
          </a>
        ) : (
          <span class="dim">never</span>
        )}
      </td>
      <td>{latest ? <Ago at={latest.started ?? latest.created} /> : <span class="dim">–</span>}</td>
      <td class="right">{steps}</td>
      <td class="right">{runs}</td>
      <td class={failed > 0 ? 'right bad' : 'right dim'}>{failed}</td>
      <td>
        <Path path={file} />
      </td>
    </tr>
  )
}

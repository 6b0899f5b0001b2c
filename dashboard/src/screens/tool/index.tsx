import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../../src/util/values.ts'
import type { ToolDetail } from '../../../../src/views/model/api.ts'
import { Loading, Problem } from '../../parts/notes.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { useDocument } from '../../state/resource.ts'
import { useNews } from '../../state/use-news.ts'
import type { ScreenProps } from '../screen.ts'
import { Health, Kinds } from '../tools/tool-table.tsx'
import { Facts } from './facts.tsx'
import { Forms } from './forms.tsx'
import { TryIt } from './try-it.tsx'

/** The screen of one tool: what it is in all its forms, and a form that runs it. */
export function ToolScreen({ parts }: ScreenProps) {
  const id = parts[1]!
  const { value, error, reload } = useDocument<ToolDetail>(`/tools/${encodeURIComponent(id)}`)
  useNews(reload, ({ tool }) => tool === id)
  const [example, setExample] = useState<{ readonly input: JsonObject }>()
  if (!value)
    return error ? (
      <Problem error={error}>
        <p>
          <a href="/tools">All tools</a>
        </p>
      </Problem>
    ) : (
      <Loading what="Asking for the tool" />
    )
  const { row } = value
  return (
    <>
      <div class="title-row">
        <h1>
          <a class="dim" href="/tools">
            Tools
          </a>{' '}
          <span class="dim">/</span> {row.id}
        </h1>
        <Kinds row={row} />
        <Health health={row.health} />
        <span class="push dim">
          {[row.kind, row.source, row.version && `version ${row.version}`]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      <p class="lead">{row.summary}</p>
      {value.description !== undefined && value.description !== row.summary && (
        <p class="prose">{value.description}</p>
      )}
      {row.shadowed_by !== undefined && (
        <p class="warn">
          ! Shadowed by{' '}
          <a href={`/tools/${encodeURIComponent(row.shadowed_by)}`}>{row.shadowed_by}</a>: its short
          name means the other one.
        </p>
      )}
      <TryIt
        id={row.id}
        schema={value.input_schema}
        dryRun={value.dry_run}
        destructive={value.destructive}
        given={example}
      />
      <Facts detail={value} onExample={(input) => setExample({ input })} />
      <Forms detail={value} />
      <section class="card">
        <h2>Recent runs</h2>
        {value.recent.length === 0 ? (
          <p class="dim">It has not been run yet.</p>
        ) : (
          <RunTable rows={value.recent} label="Recent runs" />
        )}
      </section>
    </>
  )
}

import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../../src/util/values.ts'
import type { ToolDetail } from '../../../../src/views/model/api.ts'
import { Code } from '../../parts/code.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { toolPath } from '../../parts/links.tsx'
import { Missing } from '../../parts/notes.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { chosenTab, TabPanel, Tabs } from '../../parts/tabs.tsx'
import { isWide } from '../../state/media.ts'
import { useDocument, useNews } from '../../state/resource.ts'
import type { ScreenProps } from '../table.tsx'
import { Health, Kinds, Permissions } from '../tools/tool-table.tsx'
import { TryIt } from './try-it.tsx'

/** The screen of one tool: what it is in all its forms, and a form that runs it. */
export default function ToolScreen({ parts }: ScreenProps) {
  const id = parts[1]!
  const { value, error, reload } = useDocument<ToolDetail>(toolPath(id))
  useNews(reload, ({ tool }) => tool === id)
  const [example, setExample] = useState<{ readonly input: JsonObject }>()
  if (!value)
    return (
      <Missing error={error} what="Asking for the tool">
        <a href="/tools">All tools</a>
      </Missing>
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
          ! Shadowed by <a href={toolPath(row.shadowed_by)}>{row.shadowed_by}</a>: its short name
          means the other one.
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

/** Examples, permissions, error codes and notes of a tool, as far as it has them. */
export function Facts({
  detail: { examples, errors, notes, permissions, row },
  onExample,
}: {
  readonly detail: ToolDetail
  onExample(input: JsonObject): void
}) {
  return (
    <div class="cards">
      {examples.length > 0 && (
        <section class="card">
          <h2>Examples</h2>
          <ul class="examples">
            {examples.map(({ description, input, args }, index) => (
              <li>
                {input ? (
                  <button
                    type="button"
                    aria-label={`Use example ${index + 1}`}
                    onClick={() => onExample(input)}
                  >
                    Use
                  </button>
                ) : null}
                <span>
                  {description ?? `Example ${index + 1}`}
                  <br />
                  <code class="dim">{input ? JSON.stringify(input) : args?.join(' ')}</code>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="card">
        <h2>Permissions</h2>
        <Permissions of={row.permissions} />
        {permissions !== undefined && (
          <details>
            <summary class="dim">As written</summary>
            <JsonView value={permissions} />
          </details>
        )}
      </section>
      {errors.length > 0 && (
        <section class="card">
          <h2>Error codes</h2>
          <dl class="errors">
            {errors.map(({ code, description }) => (
              <div key={code}>
                <dt>
                  <code>{code}</code>
                </dt>
                <dd class="dim">{description}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {notes.length > 0 && (
        <section class="card">
          <h2>Notes</h2>
          <ul>
            {notes.map((note) => (
              <li class="wrap">{note}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

/** The four forms of a tool: side by side where there is room, one at a time where there is not. */
export function Forms({ detail }: { readonly detail: ToolDetail }) {
  const schemas =
    detail.output_schema === undefined
      ? detail.input_schema
      : { input: detail.input_schema, output: detail.output_schema }
  const forms = [
    { id: 'help', label: 'Help', text: detail.help, language: 'text' },
    {
      id: 'schema',
      label: 'JSON Schema',
      text: JSON.stringify(schemas, null, 2),
      language: 'json',
    },
    {
      id: 'mcp',
      label: 'MCP definition',
      text: JSON.stringify(detail.mcp, null, 2),
      language: 'json',
    },
    { id: 'skill', label: 'Skill', text: detail.skill, language: 'text' },
  ] as const
  if (isWide.value)
    return (
      <div class="four">
        {forms.map(({ id, label, ...code }) => (
          <section class="card" key={id}>
            <h2>{label}</h2>
            <Code label={label} {...code} />
          </section>
        ))}
      </div>
    )
  const chosen = forms.find(({ id }) => id === chosenTab(forms, 'form'))!
  return (
    <section class="card">
      <Tabs items={forms} name="form" label="Forms of the tool" />
      <TabPanel items={forms} name="form">
        <Code label={chosen.label} text={chosen.text} language={chosen.language} />
      </TabPanel>
    </section>
  )
}

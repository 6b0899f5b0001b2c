import { useMemo, useState } from 'preact/hooks'
import { isObject } from '../../../../src/util/values.ts'
import type { EventPage, ToolDetail } from '../../../../src/views/model/api.ts'
import { diffJson } from '../../../../src/views/model/json-diff.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { runPath, toolPath } from '../../parts/links.tsx'
import { Problem } from '../../parts/notes.tsx'
import { Table } from '../../parts/table.tsx'
import { useDocument } from '../../state/resource.ts'
import type { LiveRun } from './live.ts'

/** What went in, what came out, and what is different from the attempt before. */
export function InputTab({
  run: {
    model,
    detail: { request },
  },
}: {
  readonly run: LiveRun
}) {
  const properties = isObject(request.input_schema?.['properties'])
    ? request.input_schema['properties']
    : {}
  const defaults = useMemo(
    () =>
      Object.entries(request.input ?? {}).flatMap(([name, value]) => {
        const field = Object.hasOwn(properties, name) ? properties[name] : undefined
        return isObject(field) &&
          field['default'] !== undefined &&
          JSON.stringify(field['default']) === JSON.stringify(value)
          ? [name]
          : []
      }),
    [request],
  )
  return (
    <div class="columns">
      <section class="stack" aria-label="Input">
        <h2>Input</h2>
        {request.input === undefined ? (
          <pre>{request.args.join(' ') || 'nothing'}</pre>
        ) : (
          <JsonView value={request.input} open={3} />
        )}
        {defaults.length > 0 && (
          <p class="dim">
            As by default:{' '}
            {defaults.map((name, index) => (
              <>
                {index > 0 && ', '}
                <code>{name}</code>
              </>
            ))}
          </p>
        )}
        {request.input_schema && (
          <details>
            <summary>Schema of the input</summary>
            <JsonView value={request.input_schema} open={2} />
          </details>
        )}
      </section>
      <section class="stack" aria-label="Result">
        <h2>Result</h2>
        {model.result === undefined ? (
          <p class="dim">{model.state === 'completed' ? 'It gave no result.' : 'There is none.'}</p>
        ) : (
          <JsonView value={model.result} open={3} />
        )}
        <ResultSchema tool={request.tool} />
        {model.attempts.length > 1 && <LastChange id={model.run_id} seq={model.attempt} />}
      </section>
    </div>
  )
}

// What the tool promises today; the record holds no schema of results.
function ResultSchema({ tool }: { readonly tool: string }) {
  const [open, setOpen] = useState(false)
  const { value, error } = useDocument<ToolDetail>(open ? toolPath(tool) : undefined)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Schema of the result</summary>
      {error && <Problem error={error} />}
      {value &&
        (value.output_schema ? (
          <JsonView value={value.output_schema} open={2} />
        ) : (
          <p class="dim">The tool does not say what its result looks like.</p>
        ))}
    </details>
  )
}

function LastChange({ id, seq }: { readonly id: string; readonly seq: number }) {
  const { value } = useDocument<EventPage>(`${runPath(id)}/events?type=result&limit=1000#${seq}`)
  const results = new Map(value?.events.map((event) => [event['attempt'], event['result']]))
  const [before, after] = [...results.values()].slice(-2)
  if (results.size < 2) return null
  const changes = diffJson(before, after)
  return (
    <>
      <h3>Since the attempt before</h3>
      {changes.length === 0 ? (
        <p class="dim">The same result.</p>
      ) : (
        <Table
          label="Changes since the attempt before"
          rows={changes}
          rowKey={({ path }) => path}
          columns={[
            { head: 'Where', cell: ({ path }) => <code>{path}</code> },
            { head: 'Before', class: 'wrap bad', cell: ({ before: old }) => toText(old) },
            { head: 'After', class: 'wrap ok', cell: ({ after: fresh }) => toText(fresh) },
          ]}
        />
      )}
    </>
  )
}

function toText(value: unknown): string {
  return value === undefined ? '–' : JSON.stringify(value).slice(0, 500)
}

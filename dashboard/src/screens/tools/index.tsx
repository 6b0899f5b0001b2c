import type { ToolList, ToolProblem, ToolRow } from '../../../../src/views/model/api.ts'
import { ActionButton, CopyButton } from '../../parts/buttons.tsx'
import { Path, ToolLink } from '../../parts/links.tsx'
import { Empty, Missing } from '../../parts/notes.tsx'
import { Table } from '../../parts/table.tsx'
import { announce } from '../../state/announce.ts'
import { post } from '../../state/api.ts'
import { useKeys } from '../../state/keys.ts'
import { useDocument, useNews } from '../../state/resource.ts'
import { replaceQuery } from '../../state/route.ts'
import type { ScreenProps } from '../table.tsx'
import { ToolTable } from './tool-table.tsx'

/** The screen Tools: what there is, how it does, and what could not become a tool. */
export default function ToolsScreen({ query }: ScreenProps) {
  const { value, error, reload } = useDocument<ToolList>('/tools')
  useNews(reload, ({ state }) => state !== 'queued' && state !== 'running')
  useKeys([
    {
      key: '/',
      label: 'Search the tools',
      run: () => document.querySelector<HTMLElement>('#search-tools')?.focus(),
    },
  ])
  if (!value) return <Missing error={error} what="Looking for tools" />
  const [text, source] = [query.get('text') ?? '', query.get('source') ?? '']
  const callable = value.tools.filter((row) => row.shadowed_by === undefined)
  const shown = callable.filter(
    (row) => (source === '' || row.source === source) && matches(row, text),
  )
  const rescan = async (): Promise<void> => {
    const found = await post<ToolList>('/tools/rescan')
    announce(`${found.tools.length} tools found`)
    reload()
  }
  return (
    <>
      <div class="title-row">
        <h1>Tools</h1>
        <span class="dim">
          {shown.length === callable.length
            ? shown.length
            : `${shown.length} of ${callable.length}`}
        </span>
        <search class="line">
          <input
            id="search-tools"
            type="search"
            aria-label="Search tools"
            placeholder="Search ( / )"
            value={text}
            onInput={({ currentTarget }) => replaceQuery({ text: currentTarget.value })}
          />
          <select
            aria-label="Source"
            onChange={({ currentTarget }) => replaceQuery({ source: currentTarget.value })}
          >
            <option value="" selected={source === ''}>
              All sources
            </option>
            {value.sources.map(({ name }) => (
              <option value={name} selected={name === source}>
                {name}
              </option>
            ))}
          </select>
        </search>
        <span class="push">
          <ActionButton label="Rescan" title="Look at all sources anew" run={rescan} />
        </span>
      </div>
      {shown.length > 0 && <ToolTable rows={shown} />}
      {shown.length === 0 &&
        (callable.length > 0 ? (
          <Empty title="No tool fits">
            <p>
              <a href="/tools">Show all {callable.length}</a>
            </p>
          </Empty>
        ) : (
          <Empty title="There are no tools yet">
            <p>Make a first one:</p>
            <pre>toolable init --language python</pre>
          </Empty>
        ))}
      <Problems problems={value.problems} />
      <Shadowed rows={value.tools.filter((row) => row.shadowed_by !== undefined)} />
      <Sources sources={value.sources} />
    </>
  )
}

function matches(row: ToolRow, text: string): boolean {
  const whole = [row.id, row.name, row.summary, row.kind, row.source, ...row.tags]
    .join(' ')
    .toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word))
}

/**
 * What could not become a tool, and tools with something wrong about them: why, and what mends it.
 */
export function Problems({ problems }: { readonly problems: readonly ToolProblem[] }) {
  if (problems.length === 0) return null
  const sorted = [...problems].sort((left, right) => left.severity.localeCompare(right.severity))
  return (
    <section class="card">
      <h2>
        Refused, and what to mend <span class="count">{problems.length}</span>
      </h2>
      <Table
        class="roomy"
        label="Refused"
        rows={sorted}
        rowKey={({ location, reason, message }) => `${location} ${reason} ${message}`}
        columns={[
          {
            head: 'Level',
            cell: ({ severity }) =>
              severity === 'error' ? (
                <span class="bad">✗ refused</span>
              ) : (
                <span class="warn">! warning</span>
              ),
          },
          {
            head: 'Where',
            class: 'wrap',
            cell: ({ location, source }) => (
              <>
                <Path path={location} />
                <br />
                <span class="dim">{source}</span>
              </>
            ),
          },
          {
            head: 'Reason',
            class: 'wide wrap',
            cell: ({ reason, message }) => (
              <>
                <code>{reason}</code> {message}
              </>
            ),
          },
          {
            head: 'Fix',
            class: 'wide wrap',
            cell: ({ fix }) =>
              fix !== '' && (
                <>
                  {fix}
                  <br />
                  <CopyButton label="Copy fix" text={fix} />
                </>
              ),
          },
        ]}
      />
    </section>
  )
}

/** Tools that another of the same name stands before. */
export function Shadowed({ rows }: { readonly rows: readonly ToolRow[] }) {
  if (rows.length === 0) return null
  return (
    <section class="card">
      <h2>
        Shadowed <span class="count">{rows.length}</span>
      </h2>
      <p class="dim">
        Another tool of the same name comes first; these are called by their whole id.
      </p>
      <Table
        class="roomy"
        label="Shadowed"
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { head: 'Tool', cell: ({ id }) => <ToolLink id={id} class="subject" /> },
          { head: 'Shadowed by', cell: ({ shadowed_by: id }) => <ToolLink id={id!} /> },
          { head: 'Source', cell: ({ source }) => source },
          { head: 'Where', class: 'wide wrap', cell: ({ location }) => <Path path={location} /> },
        ]}
      />
    </section>
  )
}

/** Where tools come from. */
export function Sources({ sources }: Pick<ToolList, 'sources'>) {
  return (
    <details class="card">
      <summary>
        <h2>
          Sources <span class="count">{sources.length}</span>
        </h2>
      </summary>
      <Table
        class="roomy"
        label="Sources"
        rows={sources}
        rowKey={({ name }) => name}
        columns={[
          {
            head: 'Source',
            cell: ({ name }) => <a href={`/tools?source=${encodeURIComponent(name)}`}>{name}</a>,
          },
          { head: 'Kind', cell: ({ kind }) => kind },
          { head: 'Where', class: 'wide wrap', cell: ({ location }) => <Path path={location} /> },
          { head: 'Tools', class: 'right', cell: ({ tools }) => tools },
          {
            head: 'Problems',
            class: 'right',
            cell: ({ problems }) => <span class={problems > 0 ? 'warn' : 'dim'}>{problems}</span>,
          },
        ]}
      />
    </details>
  )
}

import type { ToolList, ToolRow } from '../../../../src/views/model/api.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Empty, Loading, Problem } from '../../parts/notes.tsx'
import { announce } from '../../state/announce.ts'
import { post } from '../../state/api.ts'
import { useKeys } from '../../state/keys.ts'
import { useDocument } from '../../state/resource.ts'
import { changeQuery } from '../../state/route.ts'
import { useNews } from '../../state/use-news.ts'
import type { ScreenProps } from '../screen.ts'
import { Problems, Shadowed, Sources } from './others.tsx'
import { ToolTable } from './tool-table.tsx'

/** The screen Tools: what there is, how it does, and what could not become a tool. */
export function ToolsScreen({ query }: ScreenProps) {
  const { value, error, reload } = useDocument<ToolList>('/tools')
  useNews(reload, ({ state }) => state !== 'queued' && state !== 'running')
  useKeys([
    {
      key: '/',
      label: 'Search the tools',
      run: () => document.querySelector<HTMLElement>('#search-tools')?.focus(),
    },
  ])
  if (!value) return error ? <Problem error={error} /> : <Loading what="Looking for tools" />
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
            onInput={({ currentTarget }) =>
              changeQuery({ text: currentTarget.value }, { replace: true })
            }
          />
          <select
            aria-label="Source"
            onChange={({ currentTarget }) =>
              changeQuery({ source: currentTarget.value }, { replace: true })
            }
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

import type { RunDetail, RunRow } from '../../../../src/views/model/api.ts'
import { RunLink, runPath, Subject } from '../../parts/links.tsx'
import { Empty } from '../../parts/notes.tsx'
import { LastWords, RunTime } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useDocument } from '../../state/resource.ts'

const HIGHEST = 5

/** The runs around a run: the one that started it, and those that it started. */
export function TreeTab({ detail: { row, children } }: { readonly detail: RunDetail }) {
  if (!row.parent && children.length === 0)
    return (
      <Empty title="It stands alone">
        <p>No run started it, and it has started none.</p>
      </Empty>
    )
  return (
    <ul class="run-tree" aria-label="Runs around this one">
      <Above id={row.parent?.run_id} height={0}>
        <Branch row={row} here>
          {children.length > 0 && (
            <ul>
              {children.map((child) => (
                <Branch key={child.run_id} row={child} />
              ))}
            </ul>
          )}
        </Branch>
      </Above>
    </ul>
  )
}

function Above({
  id,
  height,
  children,
}: {
  readonly id: string | undefined
  readonly height: number
  readonly children: preact.ComponentChildren
}) {
  const { value } = useDocument<RunDetail>(
    id === undefined || height >= HIGHEST ? undefined : runPath(id),
  )
  if (!value)
    return id === undefined ? (
      <>{children}</>
    ) : (
      <li>
        <RunLink id={id} />
        <ul>{children}</ul>
      </li>
    )
  return (
    <Above id={value.row.parent?.run_id} height={height + 1}>
      <Branch row={value.row}>
        <ul>{children}</ul>
      </Branch>
    </Above>
  )
}

function Branch({
  row,
  here = false,
  children,
}: {
  readonly row: RunRow
  readonly here?: boolean
  readonly children?: preact.ComponentChildren
}) {
  return (
    <li>
      <span class={here ? 'line here' : 'line'} aria-current={here ? 'true' : undefined}>
        <StateBadge state={row.state} small />
        <RunLink id={row.run_id} />
        <Subject row={row} />
        {row.parent && (
          <span class="dim">
            step <code>{row.parent.step}</code>
          </span>
        )}
        <RunTime row={row} />
        <span class="dim tail">
          <LastWords row={row} />
        </span>
      </span>
      {children}
    </li>
  )
}
